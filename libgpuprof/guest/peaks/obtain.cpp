// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/obtain.hpp"

#include "guest/driver/cuda_driver.hpp"
#include "guest/peaks/store/store.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace gpuprof::guest::peaks {
namespace {

peak_effort effort_of(measure_options const& asked) noexcept {
  if (asked.quick) return peak_effort::quick;
  return asked.sustain_all ? peak_effort::sustained : peak_effort::standard;
}

/// Returns the stored peaks if they answer the request, else nothing.
result<std::optional<obtained>> stored_answer(gpu_access const& gpus, int device,
                                              obtain_options const& asked) {
  auto const key = gpus.key_of(device);
  if (!key) return error{key.message()};
  auto stored = load_peaks(asked.folder, *key);
  if (!stored) return error{stored.message()};
  if (!*stored || !answers(**stored, asked.what)) return std::optional<obtained>{};
  obtained found{.peaks = std::move(**stored), .is_stored = true, .origin = {}, .trouble = {}};
  keep_only(found.peaks, asked.what.tests);
  found.origin = "measured " + found.peaks.measured_at + ", stored in " +
                 store_path(asked.folder, *key) + "; gpuprof peaks --refresh measures anew";
  return std::optional(std::move(found));
}

/// The peer copy test also has one result for each other GPU: "p2p_to_1".
bool is_of(peak_result const& r, test_id test) noexcept {
  return r.test == info_of(test).name || (test == test_id::p2p && r.test.starts_with("p2p_"));
}

}  // namespace

bool answers(gpu_peaks const& stored, measure_options const& asked) {
  auto const effort = effort_of(asked);
  return std::all_of(asked.tests.begin(), asked.tests.end(), [&](test_id test) {
    auto const name = info_of(test).name;
    auto const is_there = [&](peak_result const& r) { return r.test == name; };
    auto const is_too_little = [&](peak_result const& r) {
      return r.test == name && (r.outcome == peak_outcome::failed ||
                                (r.outcome == peak_outcome::measured && r.effort < effort));
    };
    return std::any_of(stored.results.begin(), stored.results.end(), is_there) &&
           std::none_of(stored.results.begin(), stored.results.end(), is_too_little);
  });
}

void keep_only(gpu_peaks& peaks, std::vector<test_id> const& tests) {
  std::erase_if(peaks.results, [&](peak_result const& r) {
    return std::none_of(tests.begin(), tests.end(), [&](test_id test) { return is_of(r, test); });
  });
}

result<obtained> obtain(gpu_access const& gpus, int device, obtain_options const& asked) {
  if (!asked.refresh && !asked.what.zeros) {
    auto stored = stored_answer(gpus, device, asked);
    if (!stored) return error{stored.message()};
    if (*stored) return std::move(**stored);
  }
  auto measured = gpus.measure(device, asked.what);
  if (!measured) return error{measured.message()};
  obtained made{.peaks = std::move(*measured), .is_stored = false, .origin = {}, .trouble = {}};
  if (asked.what.zeros) {
    made.origin = "measured on operands that are all zero, faster than real data: not stored";
    return made;
  }
  if (asked.what.force) {
    made.origin = "measured with --force, perhaps slowed by another process: not stored";
    return made;
  }
  made.origin = "measured now";
  if (auto const saved = save_peaks(asked.folder, made.peaks); !saved)
    made.trouble = saved.message();
  else
    made.origin += ", stored in " + store_path(asked.folder, made.peaks.key);
  return made;
}

std::vector<test_id> every_test() {
  std::vector<test_id> all;
  for (auto const& test : all_tests()) all.push_back(test.id);
  return all;
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

}  // namespace gpuprof::guest::peaks
