#include "peaks_source.hpp"

#include "driver/cuda_driver.hpp"
#include "peaks/store.hpp"

#include <algorithm>

namespace gpuprof {
namespace {

peak_effort effort_of(peaks::measure_options const& asked) noexcept {
  if (asked.quick) return peak_effort::quick;
  return asked.sustain_all ? peak_effort::sustained : peak_effort::standard;
}

/// Either what answers the question, or nothing.
result<std::optional<obtained_peaks>> stored_answer(gpu_access const& gpus, int device,
                                                    peaks_request const& request) {
  auto const key = gpus.key_of(device);
  if (!key) return error{key.message()};
  auto stored = peaks::load_peaks(request.folder, *key);
  if (!stored) return error{stored.message()};
  if (!*stored || !answers(**stored, request.what)) return std::optional<obtained_peaks>{};
  obtained_peaks found{std::move(**stored), {}, {}};
  keep_only(found.peaks, request.what.tests);
  found.origin = "measured " + found.peaks.measured_at + ", stored in " +
                 peaks::store_path(request.folder, *key) +
                 "; gpuprof peaks --refresh measures anew";
  return std::optional(std::move(found));
}

}  // namespace

bool answers(gpu_peaks const& stored, peaks::measure_options const& asked) {
  auto const effort = effort_of(asked);
  return std::all_of(asked.tests.begin(), asked.tests.end(), [&](peaks::test_id test) {
    auto const name = peaks::info_of(test).name;
    auto const is_there = [&](peak_result const& r) { return r.test == name; };
    auto const is_too_little = [&](peak_result const& r) {
      return r.test == name && (r.outcome == peak_outcome::failed ||
                                (r.outcome == peak_outcome::measured && r.effort < effort));
    };
    return std::any_of(stored.results.begin(), stored.results.end(), is_there) &&
           std::none_of(stored.results.begin(), stored.results.end(), is_too_little);
  });
}

void keep_only(gpu_peaks& peaks, std::vector<peaks::test_id> const& tests) {
  std::erase_if(peaks.results, [&](peak_result const& r) {
    return std::none_of(tests.begin(), tests.end(),
                        [&](peaks::test_id test) { return peaks::info_of(test).name == r.test; });
  });
}

result<obtained_peaks> obtain_peaks(gpu_access const& gpus, int device,
                                    peaks_request const& request) {
  if (!request.refresh && !request.what.zeros) {
    auto stored = stored_answer(gpus, device, request);
    if (!stored) return error{stored.message()};
    if (*stored) return std::move(**stored);
  }
  auto measured = gpus.measure(device, request.what);
  if (!measured) return error{measured.message()};
  obtained_peaks made{std::move(*measured), {}, {}};
  if (request.what.zeros) {
    made.origin = "measured on operands that are all zero, faster than real data: not stored";
    return made;
  }
  if (request.what.force) {
    made.origin = "measured with --force, perhaps slowed by another process: not stored";
    return made;
  }
  made.origin = "measured now";
  if (auto const saved = peaks::save_peaks(request.folder, made.peaks); !saved)
    made.trouble = saved.message();
  else
    made.origin += ", stored in " + peaks::store_path(request.folder, made.peaks.key);
  return made;
}

result<int> count_gpus() {
  auto const driver = load_cuda_driver();
  if (!driver) return error{driver.message() + "; gpuprof status says what works here"};
  if (driver->cuInit == nullptr || driver->cuDeviceGetCount == nullptr)
    return error{"the CUDA driver lacks cuInit; gpuprof status says what works here"};
  if (int const failure = driver->cuInit(0); failure != CUDA_SUCCESS)
    return error{"there is no GPU to measure: cuInit returned " + std::to_string(failure) +
                 "; gpuprof status says what works here"};
  int count = 0;
  if (driver->cuDeviceGetCount(&count) != CUDA_SUCCESS || count == 0)
    return error{"there is no GPU to measure; CUDA_VISIBLE_DEVICES may hide it"};
  return count;
}

}  // namespace gpuprof
