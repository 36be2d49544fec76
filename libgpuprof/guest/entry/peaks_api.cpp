// SPDX-License-Identifier: Apache-2.0
// gpuprof_measure_peaks of include/gpuprof/peaks.h: gives the program stored or new peaks.
#define GPUPROF_BUILDING
#include <gpuprof/peaks.h>

#include "guest/entry/answered.hpp"
#include "guest/peaks/measure.hpp"
#include "guest/peaks/obtain.hpp"
#include "guest/peaks/store/store.hpp"
#include "guest/peaks/theory/test_list.hpp"
#include "guest/session/process_profiler.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace gpuprof;
using namespace gpuprof::guest;

// Programs built with an older header have a smaller struct, see c_api.cpp.
constexpr std::size_t peaks_options_size_of_first_version =
    offsetof(gpuprof_peaks_options, refresh) + sizeof(gpuprof_peaks_options::refresh);

std::mutex one_at_a_time;  // only one measurement can have the GPU to itself

/// Results and the view of them; the view points to texts in the results.
struct owned_peaks : gpuprof_peaks {
  peaks::obtained results;
  std::string all_remarks;
  listed<gpuprof_peak> listed_peaks;
};

constexpr std::string_view unit_names[] = {"", "FLOP/s", "op/s", "B/s", "s"};
constexpr std::string_view clock_names[] = {"", "SM clock per SM", "memory clock"};
static_assert(std::size(unit_names) == GPUPROF_UNIT_SECOND + 1);
static_assert(std::size(clock_names) == GPUPROF_CLOCK_MEMORY + 1);

template <class Enum>
Enum value_named(std::span<std::string_view const> names, std::string_view name) noexcept {
  auto const at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? Enum{} : static_cast<Enum>(at - names.begin());
}

// 0 is unknown, then come the tests in the order of the library.
static_assert(GPUPROF_TEST_FP64 == 1 + int(peaks::test_id::fp64));
static_assert(GPUPROF_TEST_TENSOR_BF16 == 1 + int(peaks::test_id::tensor_bf16));
static_assert(GPUPROF_TEST_L1_READ == 1 + int(peaks::test_id::l1_read));
static_assert(GPUPROF_TEST_SYNCHRONIZE == 1 + int(peaks::test_id::synchronize));

gpuprof_peak_test test_named(std::string_view name) noexcept {
  for (auto const& test : peaks::all_tests())
    if (test.name == name) return static_cast<gpuprof_peak_test>(1 + static_cast<int>(test.id));
  return GPUPROF_TEST_UNKNOWN;
}

gpuprof_outcome outcome_of(peak_outcome outcome) noexcept {
  switch (outcome) {
    case peak_outcome::measured:
      return GPUPROF_OUTCOME_MEASURED;
    case peak_outcome::failed:
      return GPUPROF_OUTCOME_FAILED;
    case peak_outcome::unavailable:
      break;
  }
  return GPUPROF_OUTCOME_UNAVAILABLE;
}

gpuprof_peak view_of(peak_result const& r, gpu_peaks const& all) {
  auto const& moment = r.measured_at.empty() ? all.measured_at : r.measured_at;
  return {.struct_size = sizeof(gpuprof_peak),
          .test = test_named(r.test),
          .title = r.title.c_str(),
          .unit = value_named<gpuprof_unit>(unit_names, r.unit),
          .outcome = outcome_of(r.outcome),
          .clock = value_named<gpuprof_clock>(clock_names, r.clock),
          .per_clock = r.per_clock.value,
          .per_clock_theory = r.per_clock_theory,
          .burst = r.burst.value,
          .burst_spread = r.burst.spread,
          .burst_sm_clock_mhz = r.burst.chip.sm_clock_mhz,
          .sustained = r.sustained.value,
          .sustained_sm_clock_mhz = r.sustained.chip.sm_clock_mhz,
          .sustained_watts = r.sustained.chip.watts,
          .theory = r.theory,
          .limiters = r.burst.chip.limiters | r.sustained.chip.limiters,
          .method = r.method.c_str(),
          .operands = r.operands.c_str(),
          .remark = r.remark.c_str(),
          .measured_at = moment.c_str()};
}

std::unique_ptr<owned_peaks> owned(peaks::obtained results) {
  auto made = std::make_unique<owned_peaks>();
  made->results = std::move(results);
  auto const& all = made->results.peaks;
  auto& text = made->all_remarks;
  for (auto const& line : all.remarks) text += (text.empty() ? "" : "\n") + line;
  for (auto const& r : all.results) made->listed_peaks.add(view_of(r, all));
  static_cast<gpuprof_peaks&>(*made) = {.struct_size = sizeof(gpuprof_peaks),
                                        .gpu = all.name.c_str(),
                                        .uuid = all.key.uuid.c_str(),
                                        .stored = made->results.is_stored ? 1 : 0,
                                        .origin = made->results.origin.c_str(),
                                        .remarks = text.c_str(),
                                        .peaks = made->listed_peaks.data(),
                                        .peak_count = made->listed_peaks.size()};
  return made;
}

/// count_gpus() calls cuInit, which may start a capture, so it comes first.
result<gpu_peaks> measure_outside_captures(process_profiler const& profiler, int device,
                                           peaks::measure_options const& what) {
  if (auto const count = peaks::count_gpus(); !count) return error{count.message()};
  if (profiler.capturing())
    return error{
        "a capture runs in this process and would record the measurement: call gpuprof_stop() "
        "first, set GPUPROF_CAPTURE_RANGE=cudaProfilerApi, or run gpuprof peaks beforehand"};
  return peaks::measure(device, what);
}

gpuprof_status said(gpuprof_status status, std::string const& why) {
  log_error(why);
  keep_message(why);
  return status;
}

gpuprof_status measure_peaks(gpuprof_peaks_options const& options, gpuprof_peaks const*& out) {
  auto& profiler = process_profiler::get();
  keep_children_inert();  // CUDA starts
  if (process_is_exiting())
    return refused(GPUPROF_INACTIVE, "no peaks are measured: the process is ending");
  auto const tests = options.tests != nullptr
                         ? peaks::select_tests(options.tests)
                         : result<std::vector<peaks::test_id>>(peaks::every_test());
  if (!tests) {
    return said(GPUPROF_INVALID_ARGUMENT, "no peaks are measured: " + tests.message());
  }
  peaks::obtain_options asked;
  asked.what.tests = *tests;
  asked.what.quick = options.quick != 0;
  asked.what.force = options.force != 0;
  asked.refresh = options.refresh != 0;
  asked.folder = peaks::store_folder();
  std::lock_guard const lock(one_at_a_time);
  auto results = peaks::obtain({peaks::key_of,
                                [&profiler](int device, peaks::measure_options const& what) {
                                  return measure_outside_captures(profiler, device, what);
                                }},
                               options.device, asked);
  if (!results) {
    return said(GPUPROF_INACTIVE,
                "no peaks are measured: " + results.message() + ". The program is not affected.");
  }
  if (!results->trouble.empty()) log_warning(results->trouble);
  out = owned(std::move(*results)).release();
  return GPUPROF_OK;
}

}  // namespace

extern "C" {

gpuprof_status gpuprof_measure_peaks(gpuprof_peaks_options const* options,
                                     gpuprof_peaks const** peaks) {
  if (peaks != nullptr) *peaks = nullptr;
  return answered([&] {
    if (peaks == nullptr) return refused(GPUPROF_INVALID_ARGUMENT, "peaks is NULL");
    if (options == nullptr) return measure_peaks({}, *peaks);
    if (options->struct_size < peaks_options_size_of_first_version)
      return refused(GPUPROF_INVALID_ARGUMENT,
                     "struct_size fits no version of gpuprof_peaks_options: set it to "
                     "sizeof(gpuprof_peaks_options)");
    if (options->device < 0)
      return refused(GPUPROF_INVALID_ARGUMENT, "device is negative: GPUs are counted from 0");
    return measure_peaks(*options, *peaks);
  });
}

void gpuprof_release_peaks(gpuprof_peaks const* peaks) {
  delete static_cast<owned_peaks const*>(peaks);
}

char const* gpuprof_peak_test_name(gpuprof_peak_test test) {
  auto const tests = gpuprof::guest::peaks::all_tests();
  return test > 0 && static_cast<std::size_t>(test) <= tests.size()
             ? tests[static_cast<std::size_t>(test) - 1].name.data()
             : "";
}

char const* gpuprof_clock_name(gpuprof_clock clock) {
  return clock > 0 && clock <= GPUPROF_CLOCK_MEMORY ? clock_names[clock].data() : "";
}

char const* gpuprof_unit_name(gpuprof_unit unit) {
  return unit > 0 && unit <= GPUPROF_UNIT_SECOND ? unit_names[unit].data() : "";
}

}  // extern "C"
