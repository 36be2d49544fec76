#include "base/quiet_thread.hpp"

#include <csignal>
#include <initializer_list>

namespace gpuprof {

int start_quiet_thread(pthread_t& thread, char const* name, std::size_t stack_bytes,
                       void* (*run)(void*), void* argument) noexcept {
  pthread_attr_t attributes;
  if (auto const code = pthread_attr_init(&attributes); code != 0) return code;
  if (stack_bytes != 0) pthread_attr_setstacksize(&attributes, stack_bytes);
  sigset_t deaf, before;  // a thread begins with the signal mask of its creator
  sigfillset(&deaf);
  for (auto const own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&deaf, own);
  pthread_sigmask(SIG_SETMASK, &deaf, &before);
  auto const code = pthread_create(&thread, &attributes, run, argument);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (code == 0) pthread_setname_np(thread, name);
  return code;
}

}  // namespace gpuprof
