// SPDX-License-Identifier: Apache-2.0
// Asks the kernel about a thread of this process, which needs no rights: its time on cores and what
// it waits for.
#pragma once

#include "model/records.hpp"

#include <cstdint>

namespace gpuprof::guest {

/// The files of one thread in /proc/self/task, open. They stay those of this thread if its number
/// is given to another.
class thread_status {
 public:
  explicit thread_status(std::uint32_t os_thread) noexcept;
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
  int schedstat_ = -1, syscall_ = -1;
};

}  // namespace gpuprof::guest
