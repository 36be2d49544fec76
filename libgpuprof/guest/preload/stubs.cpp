// SPDX-License-Identifier: Apache-2.0
#include "guest/preload/stubs.hpp"

#include "base/real_dlsym.hpp"
#include "guest/cupti/exports/cupti_names.hpp"
#include "guest/cupti/exports/preload_interface.hpp"

#include <cupti_result.h>

#include <cerrno>
#include <dlfcn.h>

// clang-format off
#define GPUPROF_EXPORTED_STUB(name) "  .globl " #name "\n  gpuprof_stub " #name "\n"
#define GPUPROF_LOCAL_STUB(name) "  gpuprof_stub " #name "\n"
#define GPUPROF_HERE(name)                                     \
  "  .pushsection gpuprof_stubs, \"aw\"\n"                     \
  "  .balign 8\n  .globl " #name "\n  .hidden " #name "\n" #name \
  ":\n  .popsection\n"
#define GPUPROF_ALL_STUBS                         \
  GPUPROF_HERE(gpuprof_first_stub)                \
  GPUPROF_SHARED_FUNCTIONS(GPUPROF_EXPORTED_STUB) \
  GPUPROF_CUPTI_QUERIES(GPUPROF_EXPORTED_STUB)    \
  GPUPROF_CUPTI_STATEFUL(GPUPROF_EXPORTED_STUB)   \
  GPUPROF_NEWER_QUERIES(GPUPROF_LOCAL_STUB)       \
  GPUPROF_NEWER_STATEFUL(GPUPROF_LOCAL_STUB)      \
  GPUPROF_HERE(gpuprof_behind_stubs)

// A single asm statement, because the macro must come before its uses. A stub preserves registers
// and stack, so it needs no types. It also preserves the caller's return address, which identifies
// the caller.
#if defined(__x86_64__)
asm(R"(
  .macro gpuprof_stub name
  .type \name, @function
\name:
771:
  .cfi_startproc
  endbr64
  movq 773f(%rip), %r11
  testq %r11, %r11
  je 772f
  jmp *%r11
772:
  leaq 773f(%rip), %r11
  jmp gpuprof_first_call
  .cfi_endproc
  .size \name, .-\name
  .pushsection gpuprof_stubs, "aw"
  .balign 8
773:
  .quad 0, 774f, 771b, 0
  .pushsection .rodata
774:
  .asciz "\name"
  .popsection
  .popsection
  .endm

  .text
  .type gpuprof_first_call, @function
gpuprof_first_call:
  .cfi_startproc
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  pushq %rdx
  .cfi_adjust_cfa_offset 8
  pushq %rcx
  .cfi_adjust_cfa_offset 8
  pushq %r8
  .cfi_adjust_cfa_offset 8
  pushq %r9
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  movq %r11, %rdi
  call gpuprof_where_cupti_goes
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %r9
  .cfi_adjust_cfa_offset -8
  popq %r8
  .cfi_adjust_cfa_offset -8
  popq %rcx
  .cfi_adjust_cfa_offset -8
  popq %rdx
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  jmp *%rax
  .cfi_endproc
  .size gpuprof_first_call, .-gpuprof_first_call
)" GPUPROF_ALL_STUBS);
#elif defined(__aarch64__)
asm(R"(
  .macro gpuprof_stub name
  .type \name, %function
\name:
771:
  .cfi_startproc
  hint #34
  adrp x16, 773f
  add x16, x16, :lo12:773f
  ldr x17, [x16]
  cbz x17, 772f
  br x17
772:
  b gpuprof_first_call
  .cfi_endproc
  .size \name, .-\name
  .pushsection gpuprof_stubs, "aw"
  .balign 8
773:
  .quad 0, 774f, 771b, 0
  .pushsection .rodata
774:
  .asciz "\name"
  .popsection
  .popsection
  .endm

  .text
  .type gpuprof_first_call, %function
gpuprof_first_call:
  .cfi_startproc
  stp x29, x30, [sp, -96]!
  .cfi_adjust_cfa_offset 96
  .cfi_offset 29, -96
  .cfi_offset 30, -88
  stp x0, x1, [sp, 16]
  stp x2, x3, [sp, 32]
  stp x4, x5, [sp, 48]
  stp x6, x7, [sp, 64]
  str x8, [sp, 80]
  mov x0, x16
  bl gpuprof_where_cupti_goes
  mov x16, x0
  ldp x0, x1, [sp, 16]
  ldp x2, x3, [sp, 32]
  ldp x4, x5, [sp, 48]
  ldp x6, x7, [sp, 64]
  ldr x8, [sp, 80]
  ldp x29, x30, [sp], 96
  .cfi_restore 30
  .cfi_restore 29
  .cfi_adjust_cfa_offset -96
  br x16
  .cfi_endproc
  .size gpuprof_first_call, .-gpuprof_first_call
)" GPUPROF_ALL_STUBS);
#endif
// clang-format on
#define GPUPROF_EARLY __attribute__((no_sanitize("address", "thread", "undefined")))

extern "C" {
extern gpuprof::guest::cupti_stub gpuprof_first_stub[] __attribute__((visibility("hidden")));
extern gpuprof::guest::cupti_stub gpuprof_behind_stubs[] __attribute__((visibility("hidden")));
extern char gpuprof_own_dlsym[] __attribute__((visibility("hidden")));  // dlsym_export.cpp
}

namespace gpuprof::guest {
namespace {

/// Returns null if libgpuprof.so is from another build.
GPUPROF_EARLY preload_interface const* interface() noexcept {
  auto const* const there = libgpuprof_for_preload();
  return there != nullptr && there->version == preload_interface_version ? there : nullptr;
}

GPUPROF_EARLY bool is_same(char const* a, char const* b) noexcept {
  while (*a != '\0' && *a == *b) {
    ++a;
    ++b;
  }
  return *a == *b;
}

/// Programs linked with libcupti find the functions above only if this library comes before
/// libcupti. Programs that open libcupti use our dlsym only if it comes before the C library's.
__attribute__((constructor)) void say_that_we_are_here() noexcept {
  auto const saved_errno = errno;
  auto const* const in_front = real_dlsym()(RTLD_DEFAULT, "dlsym");
  dlerror();
  errno = saved_errno;
  if (in_front != static_cast<void const*>(gpuprof_own_dlsym)) return;
  if (auto const* const profiler = interface()) profiler->sees_all_clients();
}

CUptiResult there_is_none() noexcept {
  return CUPTI_ERROR_NOT_SUPPORTED;
}

}  // namespace

GPUPROF_EARLY cupti_stub* stub_of(char const* name) noexcept {
  for (auto* stub = gpuprof_first_stub; stub != gpuprof_behind_stubs; ++stub)
    if (is_same(stub->name, name)) return stub;
  return nullptr;
}

GPUPROF_EARLY bool calls_are_shared() noexcept {
  auto const* const profiler = interface();
  return profiler != nullptr && profiler->shares();
}

}  // namespace gpuprof::guest

extern "C" __attribute__((visibility("hidden"), used)) void* gpuprof_where_cupti_goes(
    gpuprof::guest::cupti_stub& stub) noexcept {
  auto const saved_errno = errno;
  auto* found = __atomic_load_n(&stub.found, __ATOMIC_RELAXED);
  if (found == nullptr) found = gpuprof::real_dlsym()(RTLD_NEXT, stub.name);
  bool stays = false;
  auto const* const profiler = gpuprof::guest::interface();
  auto* target = profiler != nullptr ? profiler->where_call_goes(stub.name, found, stays) : found;
  if (target == nullptr) target = reinterpret_cast<void*>(&gpuprof::guest::there_is_none);
  if (stays) __atomic_store_n(&stub.target, target, __ATOMIC_RELEASE);
  errno = saved_errno;
  return target;
}
