// SPDX-License-Identifier: Apache-2.0
// Facts about this process, including its state: running, forked child, exiting.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace gpuprof {

/// True in a forked child in which no code of gpuprof may run: its parent had called
/// keep_children_inert() before, or a thread held locks that the child would wait for. Other
/// children are normal processes; each layer discards the state of the parent there.
bool is_forked_child() noexcept;

/// True after exit handlers have begun to run.
bool process_is_exiting() noexcept;
void note_process_exit() noexcept;

/// Installs the fork handler. Idempotent, any thread.
void watch_process_life() noexcept;
/// Call it before CUDA or CUPTI start: they do not work in children forked afterwards.
void keep_children_inert() noexcept;
bool children_stay_inert() noexcept;

/// Returns the absolute path of the shared object or program that contains `address`; empty if the
/// loader does not know it.
std::string path_of_object_holding(void const* address);

std::uint32_t os_thread_id() noexcept;
std::string os_thread_name(std::uint32_t os_thread);
std::string host_name();
std::string program_path();
/// Returns the arguments joined by blanks, at most 4096 characters.
std::string command_line();
/// Returns an environment variable; empty if it is not set, or if has_rights_of_others().
std::string environment(char const* name);
/// True if the program is set-user-ID or has file capabilities: then its user must not control what
/// it does.
bool has_rights_of_others() noexcept;

// Runs a function when the main thread ends, before all exit handlers.

/// Exit handlers run in reverse order, and destructors of libraries are such handlers. A library
/// opened late is thus destroyed while threads of gpuprof still use it. The end of the main thread
/// comes before all exit handlers. Only the main thread itself can register for it, so each thread
/// of the program calls look(). One per process.
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
