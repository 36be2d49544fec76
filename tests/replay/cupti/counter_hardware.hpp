// SPDX-License-Identifier: Apache-2.0
// Who counts on a device: ranges and samples exclude each other.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace gpuprof::replay {

/// Sessions are recorded on one GPU, so all their contexts are of the first.
inline constexpr std::size_t device_of_contexts = 0;

/// At least 1, also of a device that is not there.
unsigned sms_of(std::size_t device) noexcept;

/// Any thread.
class counter_hardware {
 public:
  static counter_hardware& get() noexcept;

  /// False: someone else counts there. Who has it may take it again.
  bool take(std::size_t device, void const* who);
  void release(void const* who);
  bool is_taken(std::size_t device);

 private:
  std::mutex lock_;  // protects the next
  std::map<std::size_t, void const*> taken_;
};

}  // namespace gpuprof::replay
