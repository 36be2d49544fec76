// SPDX-License-Identifier: Apache-2.0
// Functions of newer C libraries that the compiler's own libraries call, for a build that must run
// with an older one (-DGPUPROF_GLIBC=2.28). No other code of gpuprof calls them by these names.
//
// If the C library has the function at run time, it is called, because it knows more.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

/// glibc 2.32: true in a process that never had a second thread. Here it is always false, so all
/// counters of libstdc++ are atomic.
HIDDEN char __libc_single_threaded = 0;

typedef int (*find_object_function)(void*, struct dl_find_object*);
typedef int (*clockwait_function)(pthread_cond_t*, pthread_mutex_t*, clockid_t,
                                  struct timespec const*);
static find_object_function glibc_find_object;
static clockwait_function glibc_clockwait;

static int minor_release(void) {
  char const* const version = gnu_get_libc_version();  // "2.31"
  if (version[0] != '2' || version[1] != '.') return 0;
  int release = 0;  // not by strtol(), which newer headers rename
  for (char const* digit = version + 2; *digit >= '0' && *digit <= '9'; ++digit)
    release = 10 * release + (*digit - '0');
  return release;
}

/// Runs before all other constructors, because these may throw. It checks the release first,
/// because looking up a missing function would allocate and leave an error for the program's
/// dlerror().
__attribute__((constructor(101))) static void look_for_functions(void) {
  int const saved = errno;
  int const release = minor_release();
  if (release >= 35)
    glibc_find_object =
        __extension__(find_object_function) dlvsym(RTLD_DEFAULT, "_dl_find_object", "GLIBC_2.35");
  if (release >= 30)
    glibc_clockwait = __extension__(clockwait_function)
        dlvsym(RTLD_DEFAULT, "pthread_cond_clockwait", "GLIBC_2.30");
  errno = saved;
}

typedef struct {
  uintptr_t address;
  struct dl_find_object* found;
} wanted_object;

/// Returns 0 if the address is in no segment of the object, 1 if the object has unwind tables, else
/// -1.
static int describe_object(uintptr_t base, ElfW(Phdr) const* headers, int count,
                           wanted_object const* wanted) {
  uintptr_t begin = 0, end = 0, unwind_header = 0;
  int is_inside = 0;
  for (int i = 0; i < count; ++i) {
    uintptr_t const first = base + headers[i].p_vaddr;
    uintptr_t const last = first + headers[i].p_memsz;
    if (headers[i].p_type == PT_GNU_EH_FRAME) unwind_header = first;
    if (headers[i].p_type != PT_LOAD) continue;
    if (wanted->address >= first && wanted->address < last) is_inside = 1;
    if (end == 0 || first < begin) begin = first;
    if (last > end) end = last;
  }
  if (!is_inside) return 0;
  if (unwind_header == 0) return -1;
  wanted->found->dlfo_flags = 0;
  wanted->found->dlfo_map_start = (void*)begin;
  wanted->found->dlfo_map_end = (void*)end;
  wanted->found->dlfo_link_map = NULL;  // the unwinder does not read it
  wanted->found->dlfo_eh_frame = (void*)unwind_header;
  return 1;
}

static int describe_if_wanted(struct dl_phdr_info* info, size_t size, void* wanted) {
  (void)size;
  return describe_object(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum,
                         (wanted_object const*)wanted);
}

extern ElfW(Ehdr) const __ehdr_start HIDDEN;  // defined by the linker

/// glibc 2.35: tells the unwinder which object holds the address; returns 0 if found. Most frames
/// belong to this object; checking that needs neither a lock nor the loader.
HIDDEN int _dl_find_object(void* address, struct dl_find_object* found) {
  if (glibc_find_object != NULL) return glibc_find_object(address, found);
  wanted_object wanted = {(uintptr_t)address, found};
  uintptr_t const start = (uintptr_t)&__ehdr_start;
  int described = describe_object(start, (ElfW(Phdr) const*)(start + __ehdr_start.e_phoff),
                                  __ehdr_start.e_phnum, &wanted);
  if (described == 0) described = dl_iterate_phdr(describe_if_wanted, &wanted);
  return described == 1 ? 0 : -1;
}

static uint32_t random_from_file(void) {
  uint32_t value = 0;
  int const file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    ssize_t const size = read(file, &value, sizeof value);
    close(file);
    if (size == sizeof value) return value;
  }
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint32_t)now.tv_nsec ^ ((uint32_t)getpid() << 16);
}

/// glibc 2.36: 32 random bits, for std::random_device.
HIDDEN uint32_t arc4random(void) {
  int const saved = errno;
  uint32_t value = 0;
  ssize_t size = 0;
  do size = getrandom(&value, sizeof value, 0);
  while (size < 0 && errno == EINTR);
  if (size != sizeof value) value = random_from_file();  // a sandbox may refuse the call
  errno = saved;
  return value;
}

static int64_t nanoseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/// glibc 2.30: waits until a moment of any clock. Older releases wait by CLOCK_REALTIME, which can
/// be set. So this waits for at most a second at a time and then returns like a spurious wakeup,
/// which callers must expect anyway.
HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                  clockid_t clock, struct timespec const* until) {
  if (glibc_clockwait != NULL) return glibc_clockwait(condition, mutex, clock, until);
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, until);
  int64_t const deadline = until->tv_sec * INT64_C(1000000000) + until->tv_nsec;
  int64_t const longest = INT64_C(1000000000);
  int64_t left = deadline - nanoseconds(clock);
  if (left < 0) left = 0;
  int64_t const end = nanoseconds(CLOCK_REALTIME) + (left < longest ? left : longest);
  struct timespec const real = {end / INT64_C(1000000000), end % INT64_C(1000000000)};
  int const result = pthread_cond_timedwait(condition, mutex, &real);
  return result == ETIMEDOUT && nanoseconds(clock) < deadline ? 0 : result;
}
