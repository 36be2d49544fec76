// SPDX-License-Identifier: Apache-2.0
#include "base/quiet_thread.hpp"

#include "base/own_calls.hpp"
#include "base/process.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cfenv>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

namespace gpuprof {
namespace {

struct beginning {
  void* (*run)(void*);
  void* argument;
};

/// Resets what a thread inherits from its creator although it was meant for that one:
/// floating-point traps, CPUs, a raised priority.
void forget_creator(std::uint32_t os_thread) noexcept {
  std::fesetenv(FE_DFL_ENV);
  run_on_cpus_of_process();
  if (getpriority(PRIO_PROCESS, os_thread) < 0) setpriority(PRIO_PROCESS, os_thread, 0);
}

void* run_as_own(void* given) {
  auto const begin = *std::unique_ptr<beginning>(static_cast<beginning*>(given));
  auto const os_thread = os_thread_id();
  forget_creator(os_thread);
  note_own_thread(os_thread);
  auto* const result = begin.run(begin.argument);
  forget_own_thread(os_thread);
  return result;
}

/// Uses the default scheduling policy whatever the creator has, because a thread of gpuprof with
/// SCHED_FIFO would block the program's threads. If the policy may not be changed, it is inherited.
int create(pthread_t& thread, pthread_attr_t& attributes, beginning* begin) noexcept {
  sched_param const usual{};
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
  pthread_attr_setschedparam(&attributes, &usual);
  auto const code = pthread_create(&thread, &attributes, run_as_own, begin);
  if (code != EPERM) return code;
  pthread_attr_setinheritsched(&attributes, PTHREAD_INHERIT_SCHED);
  return pthread_create(&thread, &attributes, run_as_own, begin);
}

}  // namespace

int start_quiet_thread(pthread_t& thread, char const* name, std::size_t stack_bytes,
                       void* (*run)(void*), void* argument) noexcept {
  auto begin = std::unique_ptr<beginning>(new (std::nothrow) beginning{run, argument});
  if (begin == nullptr) return ENOMEM;
  pthread_attr_t attributes;
  if (auto const code = pthread_attr_init(&attributes); code != 0) return code;
  if (stack_bytes != 0) pthread_attr_setstacksize(&attributes, stack_bytes);
  sigset_t deaf, before;  // a thread begins with the signal mask of its creator
  sigfillset(&deaf);
  for (auto const own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&deaf, own);
  pthread_sigmask(SIG_SETMASK, &deaf, &before);
  auto const code = create(thread, attributes, begin.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (code != 0) return code;
  (void)begin.release();  // now owned by the thread
  pthread_setname_np(thread, name);
  return 0;
}

namespace {

// For 8192 CPUs. cpu_set_t has only 1024, and the kernel refuses a set smaller than its own.
using cpu_words = std::array<unsigned long, 8192 / (8 * sizeof(unsigned long))>;

std::array<std::atomic<unsigned long>, cpu_words{}.size()> of_process;
std::atomic<bool> are_remembered{false};

/// Returns the CPUs of the thread; 0 is the calling one. Empty if they cannot be read.
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
