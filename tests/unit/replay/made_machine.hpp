// SPDX-License-Identifier: Apache-2.0
// Runs made programs on a made GPU and records them, so that the truth of a repair is known.
#pragma once

#include "host/replay/recorded_steps.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::host::replay {

/// What a thread does, one after the other.
struct act {
  enum class what { work, kernel, copy, wait, event, wait_for_event, meet, hold } is{};
  std::int64_t ns = 0;       // CPU work; length of a kernel or copy
  std::uint32_t stream = 0;  // kernels, copies, events; a wait is for all streams
  std::string name;
  bool is_pageable = false;
};

inline act work(std::int64_t ns) {
  return {act::what::work, ns, 0, {}, false};
}
inline act kernel(std::string name, std::int64_t ns, std::uint32_t stream = 0) {
  return {act::what::kernel, ns, stream, std::move(name), false};
}
inline act copy(std::string name, std::int64_t ns, std::uint32_t stream = 0) {
  return {act::what::copy, ns, stream, std::move(name), false};
}
inline act pageable_copy(std::string name, std::int64_t ns) {
  return {act::what::copy, ns, 0, std::move(name), true};
}
inline act wait() {
  return {act::what::wait, 0, 0, "cudaDeviceSynchronize", false};
}
/// Of this stream, which wait_for_event() of another waits for.
inline act event(std::uint32_t stream) {
  return {act::what::event, 0, stream, {}, false};
}
inline act wait_for_event(std::uint32_t stream) {
  return {act::what::wait_for_event, 0, stream, {}, false};
}

/// A collective: it ends so long after the last rank has begun it.
inline act meet(std::int64_t ns, std::uint32_t stream = 0) {
  return {act::what::meet, ns, stream, "ncclDevKernel_AllReduce", false};
}

/// The profiler holds the thread.
inline act hold(std::int64_t ns) {
  return {act::what::hold, ns, 0, {}, false};
}

struct made_machine {
  std::int64_t latency_ns = 4000, pause_ns = 1000, launch_ns = 2000, return_ns = 3000;
  std::size_t queue = 1022;
};

/// So many steps of these acts, on one thread.
recorded_steps record(std::vector<act> const& step, std::uint32_t steps,
                      made_machine const& machine = {});
/// Steps of these kinds in turn, so many together.
recorded_steps record_in_turn(std::vector<std::vector<act>> const& kinds, std::uint32_t steps,
                              made_machine const& machine = {});
/// Steps of several ranks, each with its own acts; all have equally many collectives in a step.
std::vector<recorded_steps> record_ranks(std::vector<std::vector<act>> const& ranks,
                                         std::uint32_t steps, made_machine const& machine = {});
/// What a step of these ranks takes.
double true_step_ns(std::vector<std::vector<act>> const& ranks, std::uint32_t steps,
                    made_machine const& machine = {});
/// What such a step takes.
double true_step_ns(std::vector<act> const& step, std::uint32_t steps,
                    made_machine const& machine = {});

}  // namespace gpuprof::host::replay
