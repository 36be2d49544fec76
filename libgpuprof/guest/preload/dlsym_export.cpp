// SPDX-License-Identifier: Apache-2.0
// A dlsym that is found before the C library's. Clients of CUPTI that open libcupti themselves
// (Proton, XLA) get the shared functions from it. All other calls jump to the C library's dlsym
// with the caller's return address unchanged, because RTLD_NEXT depends on it.
#include "base/real_dlsym.hpp"
#include "guest/preload/stubs.hpp"

#include <dlfcn.h>

namespace gpuprof::guest {
namespace {

// A lookup is not yet a use of CUPTI: nothing is loaded or started for it.
void* stub_or_real(void* handle, char const* name) {
  auto* const real = real_dlsym()(handle, name);
  if (real == nullptr) return nullptr;
  auto* const stub = stub_of(name);
  if (stub == nullptr || real == stub->code || !calls_are_shared()) return real;
  __atomic_store_n(&stub->found, real, __ATOMIC_RELAXED);
  return stub->code;
}

}  // namespace
}  // namespace gpuprof::guest

/// Returns the address at which dlsym(…, name) must continue. Runs before constructors, also before
/// those of sanitizers.
extern "C"
    __attribute__((visibility("hidden"), used, no_sanitize("address", "thread", "undefined")))
    gpuprof::dlsym_function
    gpuprof_where_dlsym_goes(void* handle, char const* name) {
  // These handles depend on the caller. The C library finds our exported functions itself.
  if (handle == RTLD_DEFAULT || handle == RTLD_NEXT) return gpuprof::real_dlsym();
  constexpr char prefix[] = {'c', 'u', 'p', 't', 'i'};
  auto const* at = name;
  for (auto const letter : prefix) {
    if (at == nullptr || *at != letter) return gpuprof::real_dlsym();
    ++at;
  }
  return &gpuprof::guest::stub_or_real;
}

#if defined(__x86_64__)
asm(R"(
  .text
  .globl dlsym
  .type dlsym, @function
dlsym:
  .cfi_startproc
  endbr64
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call gpuprof_where_dlsym_goes
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  jmp *%rax
  .cfi_endproc
  .size dlsym, .-dlsym
  .globl gpuprof_own_dlsym
  .hidden gpuprof_own_dlsym
  .set gpuprof_own_dlsym, dlsym
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .globl dlsym
  .type dlsym, %function
dlsym:
  .cfi_startproc
  hint #34
  stp x29, x30, [sp, -32]!
  .cfi_adjust_cfa_offset 32
  .cfi_offset 29, -32
  .cfi_offset 30, -24
  stp x0, x1, [sp, 16]
  bl gpuprof_where_dlsym_goes
  mov x16, x0
  ldp x0, x1, [sp, 16]
  ldp x29, x30, [sp], 32
  .cfi_restore 30
  .cfi_restore 29
  .cfi_adjust_cfa_offset -32
  br x16
  .cfi_endproc
  .size dlsym, .-dlsym
  .globl gpuprof_own_dlsym
  .hidden gpuprof_own_dlsym
  .set gpuprof_own_dlsym, dlsym
)");
#endif
