// SPDX-License-Identifier: Apache-2.0
#include "base/process.hpp"

#include "base/cache_file.hpp"
#include "base/fork_guard.hpp"

#include <climits>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace gpuprof {
namespace {

std::atomic<bool> forked_child{false};
std::atomic<bool> inert_children{false};
std::atomic<bool> exiting{false};

// If a thread ends while its file is read, reading fails and a stream's buffer would throw.
std::string read_file(std::string const& path) {
  constexpr std::size_t more_than_proc_has = 1 << 20;
  return read_whole_file(path, more_than_proc_has).text;
}

}  // namespace

bool is_forked_child() noexcept {
  return forked_child.load(std::memory_order_relaxed);
}
bool process_is_exiting() noexcept {
  return exiting.load(std::memory_order_acquire);
}
void note_process_exit() noexcept {
  exiting.store(true, std::memory_order_release);
}

void watch_process_life() noexcept {
  static std::atomic<bool> done{false};
  if (done.exchange(true)) return;
  run_in_children([] {
    if (inert_children.load() || was_forked_in_guard())
      forked_child.store(true, std::memory_order_relaxed);
  });
}
void keep_children_inert() noexcept {
  inert_children.store(true);
}
bool children_stay_inert() noexcept {
  return inert_children.load();
}

std::string path_of_object_holding(void const* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  char resolved[PATH_MAX];
  return realpath(info.dli_fname, resolved) != nullptr ? resolved : info.dli_fname;
}

std::uint32_t os_thread_id() noexcept {
  return static_cast<std::uint32_t>(syscall(SYS_gettid));
}

std::string os_thread_name(std::uint32_t os_thread) {
  auto name = read_file("/proc/self/task/" + std::to_string(os_thread) + "/comm");
  std::erase(name, '\n');
  return name;
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::string program_path() {
  char path[PATH_MAX];
  auto const length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string{};
}

std::string command_line() {
  auto line = read_file("/proc/self/cmdline");
  while (!line.empty() && line.back() == '\0') line.pop_back();
  std::replace(line.begin(), line.end(), '\0', ' ');
  if (line.size() > 4096) line.resize(4096);
  return line;
}

std::string environment(char const* name) {
  char const* const value = secure_getenv(name);
  return value != nullptr ? value : "";
}

bool has_rights_of_others() noexcept {
  return getauxval(AT_SECURE) != 0;
}

namespace {

/// Returns false if this is not the main thread, or if the C library does not support it.
bool when_this_main_thread_ends(void (*f)()) noexcept {
  if (os_thread_id() != static_cast<std::uint32_t>(getpid())) return false;
  using registers = int (*)(void (*)(void*), void*, void*);
  auto const add = reinterpret_cast<registers>(dlsym(RTLD_DEFAULT, "__cxa_thread_atexit_impl"));
  Dl_info here{};
  if (add == nullptr || dladdr(reinterpret_cast<void*>(&when_this_main_thread_ends), &here) == 0)
    return false;
  auto const call = [](void* what) { reinterpret_cast<void (*)()>(what)(); };
  return add(call, reinterpret_cast<void*>(f), here.dli_fbase) == 0;
}

}  // namespace

void main_thread_end::look_once() noexcept {
  static thread_local bool has_looked __attribute__((tls_model("initial-exec"))) = false;
  if (std::exchange(has_looked, true)) return;
  if (when_this_main_thread_ends(f_)) is_known_.store(true);
}

}  // namespace gpuprof
