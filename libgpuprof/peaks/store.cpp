#include "peaks/store.hpp"

#include "base/process.hpp"
#include "peaks/peaks_json.hpp"
#include "peaks/test_list.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace gpuprof::peaks {
namespace {

std::string system_text(int number) {
  return std::generic_category().message(number);
}

class descriptor {
 public:
  explicit descriptor(int number) noexcept : number_(number) {}
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  descriptor(descriptor const&) = delete;
  descriptor& operator=(descriptor const&) = delete;
  int get() const noexcept { return number_; }

 private:
  int const number_;
};

/// Whole text of a file, or the errno.
struct text_or_errno {
  std::string text;
  int failure = 0;
};

text_or_errno read_text(std::string const& path) {
  constexpr std::size_t too_large = 64u
                                    << 20;  // a GPU takes some 40 kB: this is another kind of file
  descriptor const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return {{}, errno};
  text_or_errno whole;
  char piece[65536];
  for (;;) {
    auto const count = ::read(file.get(), piece, sizeof piece);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return {{}, errno};
    if (count == 0) return whole;
    whole.text.append(piece, static_cast<std::size_t>(count));
    if (whole.text.size() > too_large) return {{}, EFBIG};
  }
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    auto const count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return ::fsync(file) == 0;
}

/// 0, or the errno; nothing is left behind then.
int write_atomically(std::string const& path, std::string_view text) {
  auto beside = path + ".XXXXXX";
  descriptor const file(::mkstemp(beside.data()));
  if (file.get() < 0) return errno;
  if (write_all(file.get(), text) && std::rename(beside.c_str(), path.c_str()) == 0) return 0;
  auto const failure = errno;
  ::unlink(beside.c_str());
  return failure;
}

/// FNV-1a, 64 bits: has to be the same in every build, which std::hash does not promise.
std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char const c : text) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

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

/// `newer`, and those tests of `earlier` that are not in it.
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
  if (auto const own = environment("GPUPROF_PEAKS_DIR"); !own.empty()) return own;
  // The XDG specification has a relative path ignored.
  if (auto const cache = environment("XDG_CACHE_HOME"); cache.starts_with('/'))
    return cache + "/gpuprof/peaks";
  if (auto const home = environment("HOME"); !home.empty()) return home + "/.cache/gpuprof/peaks";
  return {};
}

std::string store_path(std::string const& folder, peaks_key const& key) {
  auto name = key.uuid.empty() ? std::string("unknown") : key.uuid;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == '\0' || c == '.'; }, '_');
  char state[24];
  std::snprintf(state, sizeof state, "-%016llx",
                static_cast<unsigned long long>(hash_of(state_of(key))));
  return folder + "/" + name + state + ".json";
}

result<std::optional<gpu_peaks>> load_peaks(std::string const& folder, peaks_key const& key) {
  if (folder.empty()) return std::optional<gpu_peaks>{};
  auto const path = store_path(folder, key);
  auto const file = read_text(path);
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
  return std::optional<gpu_peaks>{};  // renamed by hand, or two keys with one hash
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
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return refusal(failure.value());
  auto const earlier = load_peaks(folder, peaks.key);  // what cannot be read is replaced
  auto const all = earlier && *earlier ? merged(peaks, **earlier) : peaks;
  if (auto const number = write_atomically(path, to_json({&all, 1})); number != 0)
    return refusal(number);
  return {};
}

result<std::vector<gpu_peaks>> read_peaks_file(std::string const& path) {
  auto const file = read_text(path);
  if (file.failure != 0) return error{"cannot read " + path + ": " + system_text(file.failure)};
  auto gpus = from_json(file.text);
  if (!gpus) return error{path + " " + gpus.message()};
  return gpus;
}

}  // namespace gpuprof::peaks
