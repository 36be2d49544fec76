// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/windows/sampled_device.hpp"

#include "base/time.hpp"
#include "guest/counters/counter_access.hpp"
#include "guest/cupti/chip_name.hpp"
#include "guest/metrics/planning/metric_sets.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gpuprof::guest {
namespace {

// Number of samples that are decoded at once, more than a window has: CUPTI drops the others.
constexpr std::size_t max_at_once = 512;
// Holds 2500 samples of an H200. With 128 MiB, setting up takes 50 ms longer.
constexpr std::size_t hardware_buffer_bytes = std::size_t{32} << 20;

// Metrics that are shares of the active time of an SM, such as occupancy, can be averaged over time
// only together with the active time.
constexpr std::string_view share_of_active = ".pct_of_peak_sustained_active";
constexpr char const* active_cycles = "sm__cycles_active.avg";

bool is_turing(std::string_view chip) {
  return chip.starts_with("TU");
}
/// True for Turing and GA100, which cannot sample by time.
bool lacks_time_trigger(std::string_view chip) {
  return is_turing(chip) || chip == "GA100";
}

struct sampled_metrics {
  std::vector<std::string> metrics;
  counter_configuration configuration;
};

/// True for metrics that no chip samples: the length of the sample itself, instructions for which
/// kernels are rewritten, and operations of the tensor cores. To ask CUPTI about each takes 5 ms.
bool is_never_sampled(std::string_view metric) {
  return metric.starts_with("gpu__time_") || metric.starts_with("smsp__sass_") ||
         metric.starts_with("sm__ops_path_");
}

/// Takes the metrics in order, as long as they fit in one pass.
result<sampled_metrics> choose(host_profiler const& chip, std::vector<std::string> wanted) {
  std::erase_if(wanted, is_never_sampled);
  if (wanted.empty()) return sampled_metrics{};
  auto const is_share = [](std::string const& m) {
    return m.starts_with("sm__") && m.ends_with(share_of_active);
  };
  if (std::any_of(wanted.begin(), wanted.end(), is_share) &&
      std::find(wanted.begin(), wanted.end(), active_cycles) == wanted.end())
    wanted.insert(wanted.begin(), active_cycles);
  auto whole = chip.configure(wanted);
  if (!whole) return error{whole.message()};
  if (whole->passes == 1) return sampled_metrics{std::move(wanted), std::move(*whole)};
  sampled_metrics chosen;
  for (auto const& metric : wanted) {
    auto together = chosen.metrics;
    together.push_back(metric);
    auto configuration = chip.configure(together);
    if (!configuration) return error{configuration.message()};
    if (configuration->passes != 1) continue;
    chosen = {std::move(together), std::move(*configuration)};
  }
  return chosen;
}

}  // namespace

/// Must be called before CUPTI calls that are refused while another tool counts.
result<device_turn> sampled_device::turn_at(device_turns* turns, std::string const& gpu,
                                            bool& busy) {
  if (turns == nullptr || gpu.empty()) return device_turn();
  auto turn = turns->try_take(gpu);
  busy = !turn;
  if (turn) return std::move(*turn);
  return held_by_process(counter_engine::sampling, turns->holder(gpu));
}

result<std::unique_ptr<sampled_device>> sampled_device::open(cupti_api const& api, device_id device,
                                                             sampling_options const& options,
                                                             std::uint32_t& next_metric,
                                                             bool& busy) {
  auto const opened = open_counters(api, counter_engine::sampling, static_cast<int>(raw(device)));
  if (!opened) return error{opened.message()};
  auto const gpu = options.turns != nullptr && options.uuid ? options.uuid(device) : std::string();
  auto turn = turn_at(options.turns, gpu, busy);
  if (!turn) return error{turn.message()};
  auto made = with_availability<std::unique_ptr<sampled_device>>(
      options.stored, api, counter_engine::sampling, device,
      [&] {
        pause_of_call const stops(options.pauses, device);
        return sampling_availability(api, device, busy);
      },
      [&](availability_image image) {
        return set_up(api, device, options, std::move(image), busy);
      },
      busy);
  if (!made) return made;
  (*made)->turns_ = options.turns;
  (*made)->gpu_ = gpu;
  (*made)->turn_ = std::move(*turn);
  for (std::size_t i = 0; i < (*made)->setup_.metrics.size(); ++i)
    (*made)->ids_.push_back(static_cast<metric_id>(next_metric++));
  return made;
}

result<std::unique_ptr<sampled_device>> sampled_device::set_up(cupti_api const& api,
                                                               device_id device,
                                                               sampling_options const& options,
                                                               availability_image availability,
                                                               bool& busy) {
  auto const chip = chip_name(api, raw(device));
  auto const words = options.words.empty() ? std::vector<std::string>{"roofline"} : options.words;
  auto wanted = chosen_metrics(words, chip);
  if (!wanted) return error{is_off(counter_engine::sampling) + wanted.message()};
  auto evaluator =
      host_profiler::open(api, counter_engine::sampling, chip, std::move(availability));
  if (!evaluator) return error{is_off(counter_engine::sampling) + evaluator.message()};
  auto chosen = choose(*evaluator, std::move(*wanted));
  if (!chosen) return error{chosen.message()};
  if (chosen->metrics.empty())
    return error{is_off(counter_engine::sampling) +
                 "nothing of what was asked for can be sampled on " + chip};
  sampling_setup setup{.configuration = std::move(chosen->configuration),
                       .metrics = std::move(chosen->metrics),
                       .interval_ns = options.interval_ns,
                       .hardware_buffer_bytes = hardware_buffer_bytes,
                       .max_samples = max_at_once,
                       .by_cycles = lacks_time_trigger(chip),
                       .keeps_oldest = is_turing(chip),
                       .device = device,
                       .pauses = options.pauses};
  auto const before = monotonic_ns();
  auto sampling = pm_sampling::open(api, device, setup, busy);
  if (!sampling) return error{sampling.message()};
  return std::unique_ptr<sampled_device>(new sampled_device(
      api, device, std::move(*evaluator), std::move(setup), std::move(*sampling), before));
}

std::vector<metric_record> sampled_device::records(device_counters::intern const& names) const {
  std::vector<metric_record> records;
  for (std::size_t m = 0; m < ids_.size(); ++m)
    records.push_back({.metric = ids_[m],
                       .name = names(setup_.metrics[m]),
                       .device = device_,
                       .group = 0,
                       .patches_kernel = false,
                       .sampled = true});
  return records;
}

result<void> sampled_device::begin_window(std::uint64_t interval_ns, bool& busy) {
  if (sampling_ == nullptr) {
    setup_.interval_ns = interval_ns;
    auto turn = turn_at(turns_, gpu_, busy);
    if (!turn) return error{turn.message()};
    auto const since = monotonic_ns();
    auto again = pm_sampling::open(api_, device_, setup_, busy);
    if (!again) return error{again.message()};
    turn_ = std::move(*turn);
    sampling_ = std::move(*again);
    held_since_ = since;
  }
  auto const before = now();
  if (auto ok = sampling_->start(busy); !ok) return ok;
  window_ = {.device = device_,
             .start = before,
             .end = {},
             .interval = {static_cast<std::int64_t>(setup_.interval_ns)},
             .samples = 0,
             .overflows = 0};
  first_is_due_ = true;
  busy_samples_ = 0;
  return {};
}

/// On an H200 a sample sometimes lasts 0.2 s and has counted for only a part of that: other samples
/// are missing in its time. With a trigger by cycles the expected length is not known.
bool sampled_device::is_too_long(decoded_samples::interval const& sample) const noexcept {
  return !setup_.by_cycles && sample.end.value - sample.start.value > 2 * setup_.interval_ns;
}

void sampled_device::keep(decoded_samples const& decoded, sampling_results& to) {
  window_.overflows += decoded.overflowed;
  auto const& intervals = decoded.intervals;
  std::vector<std::size_t> good;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    if (std::exchange(first_is_due_, false)) continue;
    if (intervals[i].start < window_.start || intervals[i].end <= intervals[i].start) continue;
    if (is_too_long(intervals[i]))
      ++window_.overflows;
    else
      good.push_back(i);
  }
  window_.samples += good.size();
  note_activity(decoded, good);
  for (std::size_t m = 0; m < ids_.size(); ++m) {
    for (auto const i : good) {
      auto const value = decoded.values[i * ids_.size() + m];
      if (std::isfinite(value))
        to.samples.push_back(
            {ids_[m], intervals[i].start, intervals[i].end - intervals[i].start, value});
    }
  }
}

void sampled_device::note_activity(decoded_samples const& decoded,
                                   std::span<std::size_t const> good) {
  auto const activity = std::find(setup_.metrics.begin(), setup_.metrics.end(), active_cycles);
  if (activity == setup_.metrics.end() || good.empty()) return;
  auto const metric = static_cast<std::size_t>(activity - setup_.metrics.begin());
  busy_samples_ +=
      static_cast<std::uint64_t>(std::count_if(good.begin(), good.end(), [&](std::size_t sample) {
        return decoded.values[sample * ids_.size() + metric] > 0;
      }));
  busy_share_ = static_cast<double>(busy_samples_) / static_cast<double>(window_.samples);
}

/// Returns true if there was no room for all samples.
result<bool> sampled_device::decode_once(sampling_results& to) {
  auto const decoded = sampling_->decode(evaluator_);
  if (!decoded) return error{decoded.message()};
  keep(*decoded, to);
  return decoded->more;
}

void sampled_device::stop_window() {
  stopped_ = sampling_->stop();
  window_.end = now();
}

result<void> sampled_device::end_window(sampling_results& to, std::uint64_t deadline_ns,
                                        std::atomic<bool> const& halted) {
  auto stopped = std::move(*stopped_);
  stopped_.reset();
  // The loop is limited in time, because CUPTI in a bad state never finishes.
  bool lost = false;
  for (bool more = true; stopped && more;) {
    if (monotonic_ns() > deadline_ns || halted.load()) {
      lost = true;
      break;
    }
    auto const decoded = decode_once(to);
    if (!decoded) stopped = error{decoded.message()};
    more = decoded && *decoded;
    lost = lost || !decoded || more;  // CUPTI drops what there was no room for
  }
  window_.overflows += lost;
  to.windows.push_back(window_);
  return stopped;
}

}  // namespace gpuprof::guest
