// SPDX-License-Identifier: Apache-2.0
#include "base/quiet_thread.hpp"

#include "base/own_calls.hpp"
#include "base/process.hpp"

#include <cerrno>
#include <csignal>
#include <initializer_list>
#include <memory>
#include <new>

namespace gpuprof {
namespace {

struct beginning {
  void* (*run)(void*);
  void* argument;
};

void* run_as_own(void* given) {
  auto const begin = *std::unique_ptr<beginning>(static_cast<beginning*>(given));
  note_own_thread(os_thread_id());
  auto* const result = begin.run(begin.argument);
  forget_own_thread(os_thread_id());
  return result;
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
  auto const code = pthread_create(&thread, &attributes, run_as_own, begin.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (code != 0) return code;
  (void)begin.release();  // the thread's now
  pthread_setname_np(thread, name);
  return 0;
}

}  // namespace gpuprof
