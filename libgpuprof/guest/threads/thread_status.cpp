// SPDX-License-Identifier: Apache-2.0
#include "guest/threads/thread_status.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gpuprof::guest {
namespace {

int open_of_thread(std::uint32_t os_thread, bool is_child, char const* name) noexcept {
  std::array<char, 64> path;
  if (is_child)
    std::snprintf(path.data(), path.size(), "/proc/%u/task/%u/%s", os_thread, os_thread, name);
  else
    std::snprintf(path.data(), path.size(), "/proc/self/task/%u/%s", os_thread, name);
  return open(path.data(), O_RDONLY | O_CLOEXEC);
}

/// Returns false if nothing can be read.
template <std::size_t N>
bool read_text(int file, std::array<char, N>& into) noexcept {
  auto const bytes = file >= 0 ? pread(file, into.data(), N - 1, 0) : -1;
  if (bytes <= 0) return false;
  into[static_cast<std::size_t>(bytes)] = '\0';
  return true;
}

cpu_state state_of_descriptor(int descriptor, std::uint32_t child) noexcept {
  struct stat about {};
  std::array<char, 64> path;
  std::snprintf(path.data(), path.size(), "/proc/%u/fd/%d", child, descriptor);
  auto const failed = child != 0 ? stat(path.data(), &about) : fstat(descriptor, &about);
  if (failed != 0) return cpu_state::input;
  return S_ISREG(about.st_mode) || S_ISDIR(about.st_mode) || S_ISBLK(about.st_mode)
             ? cpu_state::file
             : cpu_state::input;
}

cpu_state state_in_call(long number, std::uint64_t first_argument, std::uint32_t child) noexcept {
  switch (number) {
    case -1:  // blocked outside of a call: it waits for a page
      return cpu_state::file;
    case SYS_futex:
      return cpu_state::lock;
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
      return cpu_state::sleeping;
    case SYS_read:
    case SYS_write:
    case SYS_readv:
    case SYS_writev:
    case SYS_pread64:
    case SYS_pwrite64:
    case SYS_preadv:
    case SYS_pwritev:
      return state_of_descriptor(static_cast<int>(first_argument), child);
    case SYS_openat:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_sync_file_range:
    case SYS_getdents64:
    case SYS_statx:
    case SYS_newfstatat:
#ifdef SYS_open
    case SYS_open:
    case SYS_stat:
#endif
      return cpu_state::file;
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_epoll_pwait:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
#ifdef SYS_poll
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
#endif
      return cpu_state::input;
    case SYS_wait4:
    case SYS_waitid:
      return cpu_state::child;
    default:
      return cpu_state::other;
  }
}

}  // namespace

thread_status::thread_status(std::uint32_t os_thread, bool is_child) noexcept
    : child_(is_child ? os_thread : 0),
      schedstat_(open_of_thread(os_thread, is_child, "schedstat")),
      syscall_(open_of_thread(os_thread, is_child, "syscall")) {}

thread_status::~thread_status() {
  for (auto const file : {schedstat_, syscall_})
    if (file >= 0) close(file);
}

bool thread_status::read_times(times& into) const noexcept {
  std::array<char, 96> text;
  if (!read_text(schedstat_, text)) return false;
  char* at = text.data();
  into.on_core_ns = std::strtoull(at, &at, 10);
  into.wanted_core_ns = std::strtoull(at, &at, 10);
  into.turns = std::strtoull(at, &at, 10);
  return true;
}

std::span<std::uint32_t const> children_of_thread(std::uint32_t os_thread, bool is_child,
                                                  std::span<std::uint32_t> into) noexcept {
  std::array<char, 512> text;
  auto const file = open_of_thread(os_thread, is_child, "children");
  auto const is_read = read_text(file, text);
  if (file >= 0) close(file);
  std::size_t found = 0;
  for (char* at = text.data(); is_read && found < into.size();) {
    auto const child = std::strtoul(at, &at, 10);
    // A number that the end of the text has cut is followed by nothing.
    if (child == 0 || *at != ' ') break;
    into[found++] = static_cast<std::uint32_t>(child);
  }
  return into.first(found);
}

thread_status::waiting thread_status::read_state() const noexcept {
  std::array<char, 256> text;
  if (!read_text(syscall_, text)) return {cpu_state::other};
  if (text[0] == 'r') return {cpu_state::running};  // "running"
  char* at = text.data();
  auto const number = std::strtol(at, &at, 10);
  auto const first = number >= 0 ? std::strtoull(at, &at, 16) : 0;
  auto const state = state_in_call(number, first, child_);
  return {state, state == cpu_state::lock ? first : 0};
}

}  // namespace gpuprof::guest
