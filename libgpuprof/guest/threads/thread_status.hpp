// SPDX-License-Identifier: Apache-2.0
// Asks the kernel about a thread of this process, or the main thread of a child process: its time
// on cores and what it waits for. Threads of this process need no rights; the waits of a child need
// those of ptrace.
#pragma once

#include "model/records.hpp"

#include <cstdint>
#include <span>

namespace gpuprof::guest {

/// The files of one thread in /proc, open. They stay those of this thread if its number is given to
/// another.
class thread_status {
 public:
  /// `is_child`: the main thread of the process of this number.
  explicit thread_status(std::uint32_t os_thread, bool is_child = false) noexcept;
  ~thread_status();
  thread_status(thread_status const&) = delete;
  thread_status& operator=(thread_status const&) = delete;

  struct times {
    std::uint64_t on_core_ns = 0, wanted_core_ns = 0;
    std::uint64_t turns = 0;  // on a core
    friend bool operator==(times const&, times const&) = default;
  };
  /// Takes 0.4 us. Returns false if the thread has ended or the kernel does not tell.
  bool read_times(times& into) const noexcept;

  struct waiting {
    cpu_state state = cpu_state::running;
    std::uint64_t futex = 0;  // state lock: the address that it waits for
  };
  /// Takes 0.3 to 1.2 us. The state is `other` if the kernel does not tell.
  waiting read_state() const noexcept;

 private:
  std::uint32_t child_;  // 0: a thread of this process
  int schedstat_ = -1, syscall_ = -1;
};

/// The processes that a thread has started and that have not ended, as far as `into` has room.
/// `is_child`: as in thread_status. Empty if the kernel does not tell (CONFIG_PROC_CHILDREN).
std::span<std::uint32_t const> children_of_thread(std::uint32_t os_thread, bool is_child,
                                                  std::span<std::uint32_t> into) noexcept;

}  // namespace gpuprof::guest
