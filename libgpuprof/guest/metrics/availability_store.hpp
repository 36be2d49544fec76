// SPDX-License-Identifier: Apache-2.0
// Keeps on disk which counters a GPU has, so that CUPTI is asked once per machine.
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

/// All that an image depends on. Any of it unknown: nothing is kept.
struct availability_key {
  counter_engine engine = counter_engine::sampling;
  std::string chip;            // "GH100"
  std::string gpu;             // its UUID, or that of its MIG or virtual part
  std::string driver_version;  // of the kernel's module: "580.159.03"
  int cuda_version = 0;        // of libcuda
  std::uint32_t cupti_version = 0;
  bool is_privileged = false;  // may read counters that the driver keeps from others

  bool is_known() const noexcept {
    return !chip.empty() && !gpu.empty() && !driver_version.empty() && cuda_version != 0 &&
           cupti_version != 0;
  }
  std::string text() const;
};

/// Asks the driver and CUPTI, not the GPU; a millisecond.
availability_key availability_key_of(cupti_api const& api, counter_engine engine, device_id device);

/// One file for each key; a thread of ours at a time, and any number of processes. Whatever goes
/// wrong with a file, it is as if there were none.
class availability_store {
 public:
  using key_of =
      std::function<availability_key(cupti_api const&, counter_engine engine, device_id device)>;
  /// `folder` empty: nothing is kept.
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

/// Makes something of the image in the store; null, or nothing there: of what CUPTI says when
/// `ask`ed, which is kept. If CUPTI refuses a stored one (and not because somebody else counts:
/// `busy`) it is forgotten, and CUPTI is asked, once.
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
