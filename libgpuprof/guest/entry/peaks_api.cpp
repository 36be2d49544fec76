// SPDX-License-Identifier: Apache-2.0
// gpuprof_measure_peaks of include/gpuprof/gpuprof.h: stored peaks or new ones, for the program.
#define GPUPROF_BUILDING
#include <gpuprof/gpuprof.h>

#include "guest/entry/guarded.hpp"
#include "guest/entry/listed.hpp"
#include "guest/peaks/measure.hpp"
#include "guest/peaks/obtain.hpp"
#include "guest/peaks/store/store.hpp"
#include "guest/session/process_profiler.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

using namespace gpuprof;

// Programs built with an older header have a smaller struct, see c_api.cpp.
constexpr std::size_t peaks_options_size_of_first_version =
    offsetof(gpuprof_peaks_options, refresh) + sizeof(gpuprof_peaks_options::refresh);

std::mutex one_at_a_time;  // only one measurement can have the GPU to itself

/// Results and the view of them; the texts of the view are the results'.
struct owned_peaks : gpuprof_peaks {
  peaks::obtained results;
  std::string all_remarks;
  listed<gpuprof_peak> listed_peaks;
};

gpuprof_peak view_of(peak_result const& r, gpu_peaks const& all) {
  auto const& moment = r.measured_at.empty() ? all.measured_at : r.measured_at;
  return {.struct_size = sizeof(gpuprof_peak),
          .name = r.test.c_str(),
          .title = r.title.c_str(),
          .unit = r.unit.c_str(),
          .measured = r.outcome == peak_outcome::measured ? 1 : 0,
          .clock = r.clock.c_str(),
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

/// cuInit may be what starts a capture, so it comes first.
result<gpu_peaks> measure_outside_captures(process_profiler const& profiler, int device,
                                           peaks::measure_options const& what) {
  if (auto const count = peaks::count_gpus(); !count) return error{count.message()};
  if (profiler.capturing())
    return error{
        "a capture runs in this process and would record the measurement: call gpuprof_stop() "
        "first, set GPUPROF_CAPTURE_RANGE=cudaProfilerApi, or run gpuprof peaks beforehand"};
  return peaks::measure(device, what);
}

gpuprof_status measure_peaks(gpuprof_peaks_options const& options, gpuprof_peaks const*& out) {
  auto& profiler = process_profiler::get();
  keep_children_inert();  // CUDA begins
  if (process_is_exiting()) return GPUPROF_INACTIVE;
  auto const tests = options.tests != nullptr
                         ? peaks::select_tests(options.tests)
                         : result<std::vector<peaks::test_id>>(peaks::every_test());
  if (!tests) {
    log_error("no peaks are measured: " + tests.message());
    return GPUPROF_INVALID_ARGUMENT;
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
    log_error("no peaks are measured: " + results.message() + ". The program is not affected.");
    return GPUPROF_INACTIVE;
  }
  if (!results->trouble.empty()) log_warning(results->trouble);
  out = owned(std::move(*results)).release();
  return GPUPROF_OK;
}

}  // namespace

extern "C" {

gpuprof_status gpuprof_measure_peaks(gpuprof_peaks_options const* options,
                                     gpuprof_peaks const** peaks) {
  if (peaks == nullptr) return GPUPROF_INVALID_ARGUMENT;
  *peaks = nullptr;
  gpuprof_peaks_options asked{};
  if (options != nullptr) {
    if (options->struct_size < peaks_options_size_of_first_version || options->device < 0)
      return GPUPROF_INVALID_ARGUMENT;
    asked = *options;
  }
  return guarded(GPUPROF_INACTIVE, [&] { return measure_peaks(asked, *peaks); });
}

void gpuprof_release_peaks(gpuprof_peaks const* peaks) {
  delete static_cast<owned_peaks const*>(peaks);
}

}  // extern "C"
