// SPDX-License-Identifier: Apache-2.0
// Reads Python stacks as a launch does, inside of a real Python, which calls these functions with
// ctypes: see python_stack_benchmark.py.
#include "guest/nvtx/log_decoder.hpp"
#include "guest/stacks/python_stack.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>
#include <x86intrin.h>

namespace {

using namespace gpuprof;
using namespace gpuprof::guest;

memory_budget budget(256u << 20);

struct nothing {
  void launch(launch_note const&) {}
  void call(driver_call_note const&) {}
  void stack(stack_note const&) {}
  void sample(thread_sample_note const&) {}
  void graph_node(graph_node_note const&) {}
  void begin(range_begin const&) {}
  void end(range_end const&) {}
  void mark(mark_record const&) {}
};

std::vector<std::uint64_t> taken;
std::uint64_t volatile sum = 0;

/// Nothing before it is still running, and nothing after it has begun.
std::uint64_t exact_ticks() noexcept {
  _mm_lfence();
  auto const ticks = __rdtsc();
  _mm_lfence();
  return ticks;
}

/// Takes the place of what the program does between two launches: caches hold something else then.
void use_memory(std::size_t bytes) noexcept {
  static std::vector<std::byte> const memory(16u << 20, std::byte{1});
  std::uint64_t read = 0;
  for (std::size_t i = 0; i < bytes; i += 64) read += static_cast<std::uint64_t>(memory[i]);
  sum = sum + read;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

/// Returns 0 if stacks of this Python cannot be read.
EXPORTED int begin_stacks() {
  configure_thread_logs(&budget, 1u << 16);
  std::string reason;
  auto const* const python = find_python(reason);
  if (python == nullptr) std::fprintf(stderr, "%s\n", reason.c_str());
  read_python_stacks(python);
  log_is_recording = true;
  taken.reserve(1u << 20);
  return python != nullptr;
}

/// Reads the caller's stack and keeps how long that took. Returns its number.
EXPORTED unsigned read_stack(std::size_t bytes_between) {
  auto& log = *this_thread_log();
  use_memory(bytes_between);
  auto const begin = exact_ticks();
  auto const number = python_stack_number(log);
  taken.push_back(exact_ticks() - begin);
  if (taken.size() % 1024 == 0) {
    nothing sink;
    drain_log(log, sink);
  }
  return number;
}

/// The median of what read_stack() took since the last call, in ticks, without the clock itself.
EXPORTED double median_ticks() {
  if (taken.empty()) return 0;
  std::array<std::uint64_t, 1001> empty;
  for (auto& one : empty) {
    auto const begin = exact_ticks();
    one = exact_ticks() - begin;
  }
  auto const median = [](auto& all) {
    auto const middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    return static_cast<double>(*middle);
  };
  auto const result = median(taken) - median(empty);
  taken.clear();
  return result;
}

EXPORTED unsigned long long ticks_now() {
  return __rdtsc();
}
