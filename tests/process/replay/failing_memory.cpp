// SPDX-License-Identifier: Apache-2.0
// An allocator that has no memory now and then, but only for libgpuprof.so: the program and other
// libraries get theirs. A library to preload before that one. FAILING_MEMORY=EVERY,AFTER,SEED: one
// in EVERY allocations fails, none of the first AFTER.
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <link.h>

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
}

namespace {

constinit std::uintptr_t code_begin = 0, code_end = 0;
constinit unsigned one_in = 0, none_of_first = 0, seed = 0;
constinit std::atomic<unsigned> allocations{0};

int find_code(dl_phdr_info* library, std::size_t, void*) {
  if (std::strstr(library->dlpi_name, "libgpuprof.so") == nullptr) return 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    auto const& part = library->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    code_begin = library->dlpi_addr + part.p_vaddr;
    code_end = code_begin + part.p_memsz;
  }
  return 0;
}

__attribute__((constructor)) void begin() {
  char const* const how = std::getenv("FAILING_MEMORY");
  if (how == nullptr || std::sscanf(how, "%u,%u,%u", &one_in, &none_of_first, &seed) != 3) return;
  dl_iterate_phdr(find_code, nullptr);
}

/// The same allocations of a process fail with the same seed, as far as its threads allow.
bool fails(void const* caller) {
  auto const address = reinterpret_cast<std::uintptr_t>(caller);
  if (one_in == 0 || address < code_begin || address >= code_end) return false;
  auto const number = allocations.fetch_add(1);
  if (number < none_of_first) return false;
  auto mixed = (number + seed) * 2654435761u;
  mixed ^= mixed >> 15;
  mixed *= 2246822519u;
  mixed ^= mixed >> 13;
  if (mixed % one_in != 0) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_realloc(memory, bytes);
}

}  // extern "C"
