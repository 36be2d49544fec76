// SPDX-License-Identifier: Apache-2.0
// Facts about this process, which of its lives it is in included: running, forked child, going
// down.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace gpuprof {

/// True in a child made by fork() in which nothing of ours may run: its parent had called
/// keep_children_inert() before, or somebody held locks that the child would wait for. Another
/// child is a process like any other; each layer forgets there what was its parent's.
bool is_forked_child() noexcept;

/// True once exit handlers have begun to run.
bool process_is_exiting() noexcept;
void note_process_exit() noexcept;

/// Installs the fork handler. Idempotent, any thread.
void watch_process_life() noexcept;
/// CUDA or CUPTI begin now, which do not work in children that are made from here on.
void keep_children_inert() noexcept;
bool children_stay_inert() noexcept;

/// Absolute path of the shared object (or program) that holds `address`; empty when the loader does
/// not know.
std::string path_of_object_holding(void const* address);

std::uint32_t os_thread_id() noexcept;
std::string os_thread_name(std::uint32_t os_thread);
std::string host_name();
std::string program_path();
/// Arguments joined by blanks, at most 4096 characters.
std::string command_line();
/// Environment variable, empty when unset, and where has_rights_of_others().
std::string environment(char const* name);
/// The program is set-user-ID or has file capabilities: its user must not choose what it does.
bool has_rights_of_others() noexcept;

// Runs a function when the main thread ends, before all exit handlers.

/// Exit handlers run last one first, and destructors of libraries are such handlers: what is opened
/// late is gone while threads of ours still use it. What ends with the main thread comes before all
/// of them. Only that thread can ask for it, so each thread of the program calls look(). One per
/// process.
class main_thread_end {
 public:
  explicit main_thread_end(void (*f)()) noexcept : f_(f) {}
  void look() noexcept {
    if (!is_known_.load(std::memory_order_relaxed)) look_once();
  }

 private:
  void look_once() noexcept;
  void (*const f_)();
  std::atomic<bool> is_known_{false};
};

}  // namespace gpuprof
