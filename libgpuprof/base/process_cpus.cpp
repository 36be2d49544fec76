// SPDX-License-Identifier: Apache-2.0
#include "base/process_cpus.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sched.h>
#include <unistd.h>

namespace gpuprof {
namespace {

// 8192 CPUs. cpu_set_t has 1024, and the kernel refuses a set that is smaller than its own.
using cpu_words = std::array<unsigned long, 8192 / (8 * sizeof(unsigned long))>;

std::array<std::atomic<unsigned long>, cpu_words{}.size()> of_process;
std::atomic<bool> are_remembered{false};

/// Of the thread, 0: the calling one. Empty when it cannot be told.
cpu_words cpus_of(pid_t thread) noexcept {
  cpu_words words{};
  auto* const set = reinterpret_cast<cpu_set_t*>(words.data());
  if (sched_getaffinity(thread, sizeof words, set) != 0) return {};
  return words;
}

}  // namespace

void remember_cpus_of_process() noexcept {
  if (are_remembered.exchange(true)) return;
  auto const words = cpus_of(getpid());
  for (std::size_t i = 0; i < words.size(); ++i)
    of_process[i].store(words[i], std::memory_order_relaxed);
}

void run_on_cpus_of_process() noexcept {
  auto words = cpus_of(0);
  auto const of_main_thread = cpus_of(getpid());
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] |= of_main_thread[i] | of_process[i].load(std::memory_order_relaxed);
  sched_setaffinity(0, sizeof words, reinterpret_cast<cpu_set_t const*>(words.data()));
}

}  // namespace gpuprof
