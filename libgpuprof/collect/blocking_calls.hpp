// SPDX-License-Identifier: Apache-2.0
// The calls of CUDA that keep their thread waiting or are rare and long: those that explain why a
// GPU was idle. They alone are recorded where not all calls are.
#pragma once

#include "base/result.hpp"
#include "cupti/api.hpp"
#include "cupti/guard.hpp"

#include <string_view>
#include <vector>

namespace gpuprof {

/// By CUPTI's name: "cuMemcpyHtoD_v2_ptds", "cudaStreamSynchronize_v3020". Waits for a stream, an
/// event or a context; copies and fills that are not asynchronous; allocation of memory, pinning
/// included; code that is loaded; graphs that are instantiated.
bool is_blocking_call(std::string_view name) noexcept;

/// Records of these calls, of the runtime and of the driver: where CUPTI records both, a driver
/// call inside a runtime call has no record (CUPTI 13.0), so the driver's alone would not show what
/// frameworks call.
class blocking_calls {
 public:
  blocking_calls(cupti_api const& api, cupti_guard const& guard) noexcept
      : api_(api), guard_(guard) {}

  /// Whether this CUPTI can record single calls: 12.5 is the first that can.
  bool are_possible() const noexcept;
  /// False: they are not possible. After an error none is on.
  result<bool> switch_on();
  void switch_off() noexcept;

 private:
  struct recorded_call {
    CUpti_ActivityKind kind;
    CUpti_CallbackId id;
  };
  void learn();
  result<void> switch_one(recorded_call const& call, bool on) const;

  cupti_api const& api_;
  cupti_guard const& guard_;
  std::vector<recorded_call> calls_;  // known from the first switch_on()
};

}  // namespace gpuprof
