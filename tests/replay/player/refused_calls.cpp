// SPDX-License-Identifier: Apache-2.0
#include "replay/player/refused_calls.hpp"

#include <cstdlib>
#include <sys/mman.h>

namespace gpuprof::replay {
namespace {

constexpr std::size_t page = 4096;

std::uint64_t every() noexcept {
  static char const* const wanted = std::getenv("REPLAY_REFUSED");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 0;
}

/// A page that nobody can read, in front of it one that everybody can.
char* nothing() noexcept {
  static auto* const mapped = static_cast<char*>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  static auto const is_protected = mprotect(mapped + page, page, PROT_NONE) == 0;
  return is_protected ? mapped + page : nullptr;
}

/// Handles of the replay are multiples of 256.
template <class Handle>
Handle bogus() noexcept {
  return reinterpret_cast<Handle>(std::uintptr_t{0xbad0bad1});
}

}  // namespace

bool refused_calls::are_wanted() noexcept {
  return every() != 0;
}

refused_calls::call refused_calls::next(std::uint32_t cbid, void const* parameters,
                                        char const* symbol) {
  if (cbid != CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel || parameters == nullptr) return {};
  if (++launches_ % every() != 0) return {};
  return ruined(*static_cast<cuLaunchKernel_params const*>(parameters), symbol);
}

refused_calls::call refused_calls::refuse_extended(CUlaunchConfig const* config,
                                                   char const* symbol) {
  extended_ = {config, plain_.f, plain_.kernelParams, nullptr};
  return {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, &extended_, symbol};
}

refused_calls::call refused_calls::ruined(cuLaunchKernel_params const& launch, char const* symbol) {
  plain_ = launch;
  config_ = {
      launch.gridDimX,  launch.gridDimY,       launch.gridDimZ, launch.blockDimX, launch.blockDimY,
      launch.blockDimZ, launch.sharedMemBytes, launch.hStream,  nullptr,          0};
  call made{CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &plain_, symbol};
  switch (made_++ % 10) {
    case 0:
      plain_.kernelParams = reinterpret_cast<void**>(nothing());
      break;
    case 1:
      values_ = {nothing() - 4, nothing()};
      plain_.kernelParams = values_.data();
      break;
    case 2:
      plain_.kernelParams = nullptr;
      plain_.extra = reinterpret_cast<void**>(nothing() - sizeof(void*));
      break;
    case 3:
      sizes_ = {CU_LAUNCH_PARAM_BUFFER_POINTER, nothing() - 8, CU_LAUNCH_PARAM_BUFFER_SIZE,
                nothing(), CU_LAUNCH_PARAM_END};
      plain_.kernelParams = nullptr;
      plain_.extra = sizes_.data();
      break;
    case 4:
      plain_.f = bogus<CUfunction>();
      made.symbol = nothing();
      made.symbol_is_there = false;
      break;
    case 5:
      plain_.f = bogus<CUfunction>();
      nothing()[-1] = 'k';  // a text that does not end
      made.symbol = nothing() - 1;
      made.symbol_is_there = false;
      break;
    case 6:
      plain_.hStream = bogus<CUstream>();
      break;
    case 7:
      return refuse_extended(reinterpret_cast<CUlaunchConfig const*>(nothing() - 16), symbol);
    case 8:
      config_.attrs = reinterpret_cast<CUlaunchAttribute*>(nothing());
      config_.numAttrs = ~0u;
      return refuse_extended(&config_, symbol);
    default:
      copy_ = {0, nothing(), 16, bogus<CUstream>()};
      return {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, &copy_, nullptr};
  }
  return made;
}

}  // namespace gpuprof::replay
