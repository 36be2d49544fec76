// SPDX-License-Identifier: Apache-2.0
#include "guest/metrics/availability_store.hpp"

#include "base/cache_file.hpp"
#include "guest/cupti/chip_name.hpp"
#include "guest/driver/device_facts.hpp"
#include "guest/driver/nvml.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace gpuprof::guest {
namespace {

constexpr std::string_view format = "gpuprof counter availability 1";
constexpr std::size_t largest_file = std::size_t{16} << 20;  // the image of an H200 has 9 kB

std::string as_hex(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

std::string_view as_text(availability_image const& image) {
  return {reinterpret_cast<char const*>(image.data()), image.size()};
}

/// The text before the image. A file with a different head was written for another key and is not
/// used.
std::string head_of(availability_key const& key, std::string_view image) {
  return std::string(format) + "\n" + key.text() + "image: " + std::to_string(image.size()) +
         " bytes, " + as_hex(stable_hash(image)) + "\n\n";
}

/// Reads one small file, which most machines have. The fallback NVML takes tens of milliseconds.
std::string driver_version() {
  auto file = read_whole_file("/sys/module/nvidia/version", 4096);
  if (file.failure == 0 && !file.text.empty()) return file.text.substr(0, file.text.find('\n'));
  auto const library = nvml::open();
  return library ? library->driver_version() : std::string();
}

/// The driver requires CAP_SYS_ADMIN.
bool is_admin() {
  constexpr std::string_view field = "CapEff:";
  constexpr unsigned sys_admin = 21;
  auto const status = read_whole_file("/proc/self/status", 1 << 20).text;
  auto const at = status.find(field);
  if (at == std::string::npos) return ::geteuid() == 0;
  auto const set = std::strtoull(status.c_str() + at + field.size(), nullptr, 16);
  return (set >> sys_admin & 1) != 0;
}

}  // namespace

std::string availability_key::text() const {
  return std::string("engine: ") +
         (engine == counter_engine::sampling ? "sampling\nchip: " : "ranges\nchip: ") + chip +
         "\ngpu: " + gpu + "\ndriver: " + driver_version +
         "\ncuda: " + std::to_string(cuda_version) + "\ncupti: " + std::to_string(cupti_version) +
         "\nprivileged: " + (is_privileged ? "yes\n" : "no\n");
}

availability_key availability_key_of(cupti_api const& api, counter_engine engine,
                                     device_id device) {
  availability_key key;
  auto const driver = load_cuda_driver();
  if (!driver) return key;
  key.engine = engine;
  key.chip = chip_name(api, raw(device));
  key.gpu = device_uuid(*driver, static_cast<int>(raw(device)));
  if (driver->cuDriverGetVersion != nullptr) driver->cuDriverGetVersion(&key.cuda_version);
  if (api.cuptiGetVersion != nullptr) api.cuptiGetVersion(&key.cupti_version);
  key.is_privileged = is_admin();
  if (!key.chip.empty() && !key.gpu.empty()) key.driver_version = driver_version();
  return key;
}

std::string availability_store::path_of(availability_key const& key) const {
  return folder_ + "/" + as_file_name(key.gpu) + "-" + as_hex(stable_hash(key.text())) +
         ".availability";
}

std::optional<availability_image> availability_store::load(
    availability_key const& key) const noexcept {
  if (folder_.empty() || !key.is_known()) return std::nullopt;
  try {
    // CUPTI will read this image, so the file must belong to this user.
    auto const file = read_own_file(path_of(key), largest_file);
    auto const gap = file.text.find("\n\n");
    if (file.failure != 0 || gap == std::string::npos) return std::nullopt;
    auto const whole = std::string_view(file.text);
    auto const image = whole.substr(gap + 2);
    if (image.empty() || whole.substr(0, gap + 2) != head_of(key, image)) return std::nullopt;
    return availability_image(image.begin(), image.end());
  } catch (...) {  // out of memory
    return std::nullopt;
  }
}

void availability_store::save(availability_key const& key,
                              availability_image const& image) const noexcept {
  if (folder_.empty() || !key.is_known() || image.empty()) return;
  try {
    auto const text = as_text(image);
    (void)replace_file(folder_, path_of(key), head_of(key, text).append(text));
  } catch (...) {  // CUPTI is asked again the next time
  }
}

void availability_store::forget(availability_key const& key) const noexcept {
  if (folder_.empty()) return;
  try {
    (void)::unlink(path_of(key).c_str());
  } catch (...) {
  }
}

}  // namespace gpuprof::guest
