// SPDX-License-Identifier: Apache-2.0
// Calls that the driver refuses, with parameters at which nobody may look.
#pragma once

#include <cupti.h>

#include <array>
#include <cstdint>
#include <span>

namespace gpuprof::replay {

/// REPLAY_REFUSED=n: before every n-th launch of a kernel the program makes one of these calls.
/// Each is the launch with one thing ruined: no memory at its arguments, at one of them, at their
/// sizes, at the name that CUPTI says, at the configuration or its attributes; a function or a
/// stream that does not exist. The same things are then ruined in the next turn.
class refused_calls {
 public:
  struct call {
    std::uint32_t cbid = 0;
    void const* parameters = nullptr;
    char const* symbol = nullptr;
    bool symbol_is_there = true;
  };

  static bool are_wanted() noexcept;
  /// The next one, ruined from a launch of cuLaunchKernel; valid until next() is called again. None
  /// (cbid 0) when it is not the turn of one yet.
  call next(std::uint32_t cbid, void const* parameters, char const* symbol);

 private:
  call ruined(cuLaunchKernel_params const& launch, char const* symbol);
  call refuse_extended(CUlaunchConfig const* config, char const* symbol);

  std::uint64_t launches_ = 0, made_ = 0;
  cuLaunchKernel_params plain_{};
  cuLaunchKernelEx_params extended_{};
  cuMemcpyHtoDAsync_v2_params copy_{};
  CUlaunchConfig config_{};
  std::array<void*, 2> values_{};
  std::array<void*, 5> sizes_{};
};

}  // namespace gpuprof::replay
