// SPDX-License-Identifier: Apache-2.0
// Whoever follows CUDA's events, without interest in any.
#pragma once

#include "guest/collect/launch_callbacks.hpp"

namespace gpuprof::test {
using namespace guest;

struct deaf_observer final : cuda_event_observer {
  void profiler_start() noexcept override {}
  void profiler_stop() noexcept override {}
  void context_ending() noexcept override {}
  void cupti_failed(CUptiResult, char const*) noexcept override {}
  void leave_cupti() noexcept override {}
  bool is_selected(char const*) noexcept override { return true; }
};

}  // namespace gpuprof::test
