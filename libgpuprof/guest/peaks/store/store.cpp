// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/store/store.hpp"

#include "base/cache_file.hpp"
#include "base/process.hpp"
#include "guest/peaks/store/peaks_json.hpp"
#include "guest/peaks/theory/test_list.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <system_error>

namespace gpuprof::guest::peaks {
namespace {

std::string system_text(int number) {
  return std::generic_category().message(number);
}

// The peaks of a GPU take about 40 kB. A much larger file is something else.
constexpr std::size_t too_large = std::size_t{64} << 20;

std::string state_of(peaks_key const& key) {
  auto text = key.driver_version + '\n' + key.kernels;
  for (std::uint64_t const number :
       {std::uint64_t{key.power_limit_w}, std::uint64_t{key.max_sm_clock_mhz},
        std::uint64_t{key.max_memory_clock_mhz}, std::uint64_t{key.application_sm_clock_mhz},
        std::uint64_t{key.ecc}, std::uint64_t{key.sm_count}, key.memory_bytes})
    text += '\n' + std::to_string(number);
  return text;
}

std::size_t place_in_reports(std::string_view test) noexcept {
  auto const all = all_tests();
  auto const found = std::find_if(all.begin(), all.end(),
                                  [&](test_info const& info) { return info.name == test; });
  return static_cast<std::size_t>(found - all.begin());
}

/// Returns `newer` plus those tests of `earlier` that it does not have.
gpu_peaks merged(gpu_peaks newer, gpu_peaks const& earlier) {
  auto const measured_now = newer.results;
  auto const is_new = [&](peak_result const& old) {
    return std::any_of(measured_now.begin(), measured_now.end(),
                       [&](peak_result const& r) { return r.test == old.test; });
  };
  bool any_kept = false;
  for (auto const& old : earlier.results) {
    if (is_new(old)) continue;
    any_kept = true;
    auto& kept = newer.results.emplace_back(old);
    if (kept.measured_at.empty()) kept.measured_at = earlier.measured_at;
  }
  if (!any_kept) return newer;
  for (auto const& remark : earlier.remarks)
    if (std::find(newer.remarks.begin(), newer.remarks.end(), remark) == newer.remarks.end())
      newer.remarks.push_back(remark);
  std::stable_sort(newer.results.begin(), newer.results.end(),
                   [](peak_result const& a, peak_result const& b) {
                     return place_in_reports(a.test) < place_in_reports(b.test);
                   });
  return newer;
}

}  // namespace

std::string store_folder() {
  if (auto own = environment("GPUPROF_PEAKS_DIR"); !own.empty()) return own;
  return cache_folder("peaks");
}

std::string store_path(std::string const& folder, peaks_key const& key) {
  auto const name = as_file_name(key.uuid.empty() ? "unknown" : key.uuid);
  char state[24];
  std::snprintf(state, sizeof state, "-%016llx",
                static_cast<unsigned long long>(stable_hash(state_of(key))));
  return folder + "/" + name + state + ".json";
}

result<std::optional<gpu_peaks>> load_peaks(std::string const& folder, peaks_key const& key) {
  if (folder.empty()) return std::optional<gpu_peaks>{};
  auto const path = store_path(folder, key);
  auto const file = read_whole_file(path, too_large);
  if (file.failure == ENOENT || file.failure == ENOTDIR) return std::optional<gpu_peaks>{};
  auto const refusal = [&](std::string const& why) {
    return error{"the stored peaks cannot be read: " + path + " " + why +
                 "; gpuprof peaks --refresh measures anew"};
  };
  if (file.failure != 0) return refusal("cannot be opened (" + system_text(file.failure) + ")");
  auto gpus = from_json(file.text);
  if (!gpus) return refusal(gpus.message());
  for (auto& gpu : *gpus)
    if (gpu.key == key) return std::optional(std::move(gpu));
  return std::optional<gpu_peaks>{};  // the file was renamed, or two keys have the same hash
}

std::vector<gpu_peaks> peaks_of_gpu(std::string const& folder, std::string const& uuid) {
  std::vector<gpu_peaks> all;
  if (folder.empty() || uuid.empty()) return all;
  auto const begin = as_file_name(uuid) + "-";
  std::error_code none;
  std::filesystem::directory_iterator entry(folder, none);
  for (; entry != std::filesystem::directory_iterator(); entry.increment(none)) {
    auto const name = entry->path().filename().string();
    if (!name.starts_with(begin) || !name.ends_with(".json")) continue;
    auto read = read_peaks_file(entry->path().string());
    if (!read) continue;
    std::erase_if(*read, [&](gpu_peaks const& one) { return one.key.uuid != uuid; });
    std::move(read->begin(), read->end(), std::back_inserter(all));
  }
  return all;
}

result<void> save_peaks(std::string const& folder, gpu_peaks const& peaks) {
  if (folder.empty())
    return error{
        "the peaks are not stored: neither XDG_CACHE_HOME nor HOME is set; set "
        "GPUPROF_PEAKS_DIR"};
  auto const path = store_path(folder, peaks.key);
  auto const refusal = [&](int failure) {
    return error{"the peaks are not stored: cannot write " + path + ": " + system_text(failure) +
                 "; set GPUPROF_PEAKS_DIR to a writable folder"};
  };
  auto const earlier = load_peaks(folder, peaks.key);  // a file that cannot be read is replaced
  auto const all = earlier && *earlier ? merged(peaks, **earlier) : peaks;
  if (auto const number = replace_file(folder, path, to_json({&all, 1})); number != 0)
    return refusal(number);
  return {};
}

result<std::vector<gpu_peaks>> read_peaks_file(std::string const& path) {
  auto const file = read_whole_file(path, too_large);
  if (file.failure != 0) return error{"cannot read " + path + ": " + system_text(file.failure)};
  auto gpus = from_json(file.text);
  if (!gpus) return error{path + " " + gpus.message()};
  return gpus;
}

}  // namespace gpuprof::guest::peaks
