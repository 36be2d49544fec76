// SPDX-License-Identifier: Apache-2.0
// Stores on disk which counters a GPU has, so that CUPTI is asked only once per machine.
#pragma once

#include "base/result.hpp"
#include "guest/cupti/api.hpp"
#include "guest/metrics/planning/host_profiler.hpp"
#include "model/ids.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gpuprof::guest {

using availability_image = std::vector<std::uint8_t>;

/// Everything that an image depends on. Nothing is stored if any part is unknown.
struct availability_key {
  counter_engine engine = counter_engine::sampling;
  std::string chip;            // "GH100"
  std::string gpu;             // UUID of the GPU, of its MIG instance or of its virtual GPU
  std::string driver_version;  // version of the kernel module: "580.159.03"
  int cuda_version = 0;        // version of libcuda
  std::uint32_t cupti_version = 0;
  bool is_privileged = false;  // may read counters that the driver restricts

  bool is_known() const noexcept {
    return !chip.empty() && !gpu.empty() && !driver_version.empty() && cuda_version != 0 &&
           cupti_version != 0;
  }
  std::string text() const;
};

/// Asks the driver and CUPTI, but not the GPU. Takes a millisecond.
availability_key availability_key_of(cupti_api const& api, counter_engine engine, device_id device);

/// Stores one file for each key. Used by one thread of this process at a time and any number of
/// processes. If a file cannot be used, it is treated as missing.
class availability_store {
 public:
  using key_of =
      std::function<availability_key(cupti_api const&, counter_engine engine, device_id device)>;
  /// If `folder` is empty, nothing is stored.
  explicit availability_store(std::string folder, key_of key = availability_key_of)
      : folder_(std::move(folder)), key_of_(std::move(key)) {}

  std::optional<availability_image> load(availability_key const& key) const noexcept;
  void save(availability_key const& key, availability_image const& image) const noexcept;
  void forget(availability_key const& key) const noexcept;

  availability_key key(cupti_api const& api, counter_engine engine, device_id device) const {
    return folder_.empty() ? availability_key{} : key_of_(api, engine, device);
  }
  std::string path_of(availability_key const& key) const;

 private:
  std::string const folder_;
  key_of const key_of_;
};

/// Calls `make` with the stored image. If `store` is null or has no image, calls `ask`, which gets
/// it from CUPTI, and stores the result. If CUPTI rejects a stored image, and not because another
/// client is counting (`busy`), the image is removed and CUPTI is asked once.
template <class Made, class Ask, class Make>
result<Made> with_availability(availability_store const* store, cupti_api const& api,
                               counter_engine engine, device_id device, Ask ask, Make make,
                               bool const& busy) {
  auto const key = store != nullptr ? store->key(api, engine, device) : availability_key{};
  if (store != nullptr) {
    if (auto known = store->load(key)) {
      auto made = make(std::move(*known));
      if (made || busy) return made;
      store->forget(key);
    }
  }
  result<availability_image> asked = ask();
  if (!asked) return error{asked.message()};
  if (store != nullptr) store->save(key, *asked);
  return make(std::move(*asked));
}

}  // namespace gpuprof::guest
