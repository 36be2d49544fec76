// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/measure.hpp"

#include "guest/driver/device_facts.hpp"
#include "guest/driver/nvml.hpp"
#include "guest/peaks/experiments/experiment.hpp"
#include "guest/peaks/experiments/throughput.hpp"
#include "guest/peaks/kernels/kernel_images.hpp"
#include "guest/peaks/neighbors.hpp"
#include "guest/peaks/store/gpu_key.hpp"
#include "model/peaks.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <optional>

namespace gpuprof::guest::peaks {
namespace {

/// The GPU to be measured, and its facts before anything runs on it.
struct subject {
  driver_facts driver;
  device_facts facts;
  std::optional<nvml> library;  // empty if there is no NVML
  std::optional<nvml_device> device;
  nvml_facts more;

  peaks_key key() const;
};

peaks_key subject::key() const {
  return make_key(driver, facts, more, kernels_hash());
}

/// Initializes the driver without opening a context. `ordinal` is CUDA's, as seen with
/// CUDA_VISIBLE_DEVICES.
result<subject> find_subject(int ordinal) {
  auto const driver = load_cuda_driver();
  if (!driver) return error{driver.message()};
  if (driver->cuInit == nullptr) return error{"the CUDA driver has no cuInit"};
  if (auto const code = driver->cuInit(0); code != CUDA_SUCCESS) {
    return error{"there is no GPU to measure: cuInit failed with error " +
                 std::to_string(static_cast<int>(code)) + ". See gpuprof status"};
  }
  subject found;
  found.driver = read_driver_facts(*driver);
  auto const count = static_cast<int>(found.driver.devices.size());
  if (count == 0) return error{"there is no GPU to measure: the driver sees none"};
  if (ordinal < 0 || ordinal >= count) {
    return error{"there is no GPU " + std::to_string(ordinal) + ": the driver sees " +
                 std::to_string(count) + ", numbered from 0"};
  }
  found.facts = found.driver.devices[static_cast<std::size_t>(ordinal)];
  if (auto library = nvml::open()) {
    found.library.emplace(std::move(*library));
    found.device = found.library->device(found.facts.uuid);
    if (found.device) found.more = found.device->facts();
  }
  return found;
}

constexpr std::uint64_t spans_bytes = 16u << 20;
constexpr double sustained_seconds = 0.15;

/// True for tests whose sustained speed is limited by heat and power.
bool is_sustained_by_default(test_id test) noexcept {
  switch (test) {
    case test_id::fp64:
    case test_id::fp32:
    case test_id::dram_read:
    case test_id::dram_copy:
      return true;
    default:
      return info_of(test).group == "tensor_cores";
  }
}

std::string utc_now() {
  auto const now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

chip_state state_of(chip_reading const& reading) {
  return {static_cast<double>(reading.sm_clock_mhz), static_cast<double>(reading.memory_clock_mhz),
          reading.watts, static_cast<double>(reading.temperature_c), reading.limiters};
}

std::unique_ptr<experiment> make_experiment(test_id test, lab& in) {
  auto const group = info_of(test).group;
  if (group == "links") return make_link_experiment(test, in);
  if (group == "latency") return make_latency_experiment(test, in);
  if (group != "memory") return make_compute_experiment(test, in);
  return info_of(test).name.starts_with("dram") ? make_dram_experiment(test, in)
                                                : make_cache_experiment(test, in);
}

/// Runs until the clock has risen from idle and is stable. Otherwise the first tests would be too
/// slow.
void warm_up(lab& in) {
  auto const spinner = make_compute_experiment(test_id::fp32, in);
  if (spinner == nullptr) return;
  double before = 0;
  unsigned steady = 0;
  auto const begin = std::chrono::steady_clock::now();
  peak_result ignored;
  try {
    spinner->measure(ignored);
    while (steady < 3 &&
           std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(300)) {
      auto const now = spinner->sustain(0.01).chip.sm_clock_mhz;
      steady = std::abs(now - before) < 0.005 * now ? steady + 1 : 0;
      before = now;
    }
  } catch (no_figure const&) {  // the test of this kernel will report it
  }
}

struct measured_test {
  test_id test;
  peak_result result;
  std::unique_ptr<experiment> made;  // null if nothing more can be measured with it
};

/// Runs the tests of one GPU, one after the other.
class measuring {
 public:
  explicit measuring(lab& in) : in_(in) {}

  std::vector<peak_result> run(std::vector<test_id> const& tests) {
    std::vector<measured_test> done;
    for (std::size_t i = 0; i < tests.size(); ++i) {
      if (in_.options.on_progress) in_.options.on_progress(info_of(tests[i]).name, i, tests.size());
      for (auto& one : measure(tests[i])) done.push_back(std::move(one));
    }
    // Sustained figures come last, because their heat would lower the short figures.
    std::vector<peak_result> results;
    for (std::size_t i = 0; i < done.size(); ++i) {
      auto& [test, its_result, its_experiment] = done[i];
      auto& result = its_result;  // a lambda cannot capture structured bindings
      auto& made = its_experiment;
      if (is_to_be_sustained(test, result, made.get())) {
        if (in_.options.on_progress)
          in_.options.on_progress("sustained " + result.test, i, done.size());
        guarded(result, [&] {
          result.sustained = made->sustain(sustained_seconds);
          reject_above(result.sustained.value, result.theory, result.unit);
          result.burst = best_burst(result.burst, result.sustained);
        });
      }
      results.push_back(std::move(result));
    }
    return results;
  }

 private:
  /// Runs `act`. A failure is stored in the result of this test only.
  template <class Act>
  void guarded(peak_result& result, Act const& act) {
    try {
      act();
    } catch (no_figure const& none) {
      drop(result, none.outcome(), none.what());
    } catch (cuda_failure const& failure) {
      if (!in_.bench.answers()) lost_in_ = result.test + ": " + failure.what();
      drop(result, peak_outcome::failed,
           failure.what() +
               std::string(failure.is_out_of_memory() ? ": too little free memory" : ""));
    }
  }

  static void drop(peak_result& result, peak_outcome outcome, std::string const& why) {
    result.outcome = outcome;
    result.remark = why;
    result.per_clock = result.burst = result.sustained = {};
  }

  peak_effort effort() const noexcept {
    if (in_.options.quick) return peak_effort::quick;
    return in_.options.sustain_all ? peak_effort::sustained : peak_effort::standard;
  }

  std::vector<measured_test> measure(test_id test) {
    std::vector<measured_test> done;
    auto const& info = info_of(test);
    peak_result result;
    result.test = info.name;
    result.group = info.group;
    result.title = info.title;
    result.unit = info.unit;
    std::unique_ptr<experiment> made;
    guarded(result, [&] {
      if (!lost_in_.empty()) {
        throw no_figure(peak_outcome::failed,
                        "not measured: the GPU does not answer any more since " + lost_in_);
      }
      if (test == test_id::p2p) {
        for (auto& peer : measure_peers(in_)) done.push_back({test, std::move(peer), nullptr});
      } else {
        made = measure_with_experiment(test, result);
      }
    });
    if (done.empty()) done.push_back({test, std::move(result), std::move(made)});
    for (auto& one : done) one.result.effort = effort();
    return done;
  }

  std::unique_ptr<experiment> measure_with_experiment(test_id test, peak_result& result) {
    if (!chip_has(test, in_.chip.compute_major, in_.chip.compute_minor))
      throw no_figure(peak_outcome::unavailable, "this chip has no such units");
    auto made = make_experiment(test, in_);
    if (made == nullptr) {
      throw no_figure(peak_outcome::unavailable,
                      "no kernel was built for this chip (compute capability " +
                          std::to_string(in_.chip.compute_major) + "." +
                          std::to_string(in_.chip.compute_minor) + ")");
    }
    result.outcome = peak_outcome::measured;
    made->measure(result);
    compare_with_theory(test, result);
    return made;
  }

  void compare_with_theory(test_id test, peak_result& result) {
    auto const expected =
        fitted_to(theory_of(test, in_.chip), test, in_.chip, result.per_clock.value);
    result.per_clock_theory = expected.per_clock;
    result.theory = expected.rate;
    result.theory_formula = expected.formula;
    if (result.per_clock.is_there())
      result.clock = info_of(test).name.starts_with("dram") ? "memory clock" : "SM clock per SM";
    reject_above(result.per_clock.value, expected.per_clock, "per clock");
    reject_above(result.burst.value, expected.rate, result.unit);
  }

  static void reject_above(double measured, double theory, std::string const& unit) {
    if (!is_above(measured, theory)) return;
    throw no_figure(peak_outcome::failed, "it claims " + std::to_string(measured) + " " + unit +
                                              ", and the chip can do " + std::to_string(theory) +
                                              " at most: the test is wrong here");
  }

  bool is_to_be_sustained(test_id test, peak_result const& result, experiment const* made) const {
    return !in_.options.quick && lost_in_.empty() && result.outcome == peak_outcome::measured &&
           made != nullptr && made->can_be_sustained() &&
           (in_.options.sustain_all || is_sustained_by_default(test));
  }

  lab& in_;
  std::string lost_in_;  // the test after which the GPU stopped responding, and the error
};

std::vector<test_id> tests_of(measure_options const& options) {
  if (!options.tests.empty()) return options.tests;
  std::vector<test_id> all;
  for (auto const& info : all_tests()) all.push_back(info.id);
  return all;
}

std::optional<error> refusal(subject const& on, measure_options const& options,
                             std::vector<std::string>& remarks) {
  if (!on.library || !on.device) {
    remarks.push_back(
        std::string(on.library ? "NVML does not know this GPU" : "There is no NVML") +
        ": power, temperature, limiters and other processes on the GPU are not known");
    return {};
  }
  auto const load = who_loads(*on.library, on.facts.uuid);
  if (!load) {
    remarks.push_back(load.message());
  } else if (*load) {
    auto const line = text_of(**load, on.facts.name);
    if (!options.force) return error{line};
    remarks.push_back(line);
  }
  return {};
}

result<std::vector<peak_result>> run_tests(subject const& on, int ordinal,
                                           measure_options const& options) {
  auto const cuda = load_cuda_compute();
  if (!cuda) return error{cuda.message()};
  auto const chip = chip_facts_of(on.facts, on.more);
  try {
    workbench bench(*cuda, ordinal);
    lab in{bench,
           chip,
           options,
           [&on] { return on.device ? state_of(on.device->read()) : chip_state{}; },
           bench.allocate(spans_bytes),
           {},
           {}};
    warm_up(in);
    return measuring(in).run(tests_of(options));
  } catch (std::exception const& failure) {
    return error{std::string("nothing could be measured on ") + on.facts.name + ": " +
                 failure.what()};
  }
}

}  // namespace

result<peaks_key> key_of(int ordinal) {
  auto const on = find_subject(ordinal);
  if (!on) return error{on.message()};
  return on->key();
}

result<gpu_peaks> measure(int ordinal, measure_options const& options) {
  auto const begin = std::chrono::steady_clock::now();
  auto const on = find_subject(ordinal);
  if (!on) return error{on.message()};
  gpu_peaks peaks;
  peaks.key = on->key();
  peaks.name = on->facts.name;
  peaks.compute_major = on->facts.compute_major;
  peaks.compute_minor = on->facts.compute_minor;
  peaks.pci_bus = on->facts.pci_bus;
  peaks.measured_at = utc_now();
  for (auto& line : sharing_remarks(on->facts)) peaks.remarks.push_back(std::move(line));
  if (auto const no = refusal(*on, options, peaks.remarks)) return *no;
  auto results = run_tests(*on, ordinal, options);
  if (!results) return error{results.message()};
  peaks.results = std::move(*results);
  peaks.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return peaks;
}

}  // namespace gpuprof::guest::peaks
