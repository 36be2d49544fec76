// SPDX-License-Identifier: Apache-2.0
#include "replay/player/launch_arguments.hpp"

#include <cstdlib>

namespace gpuprof::replay {
namespace {

constexpr std::uint32_t default_stream = 7;  // in every context that CUPTI has described so far

template <class Handle>
Handle made_up(std::uintptr_t number) noexcept {
  return reinterpret_cast<Handle>(number);
}

}  // namespace

CUstream stream_handle(std::uint32_t context, std::uint32_t stream) noexcept {
  if (stream == default_stream) return nullptr;
  return made_up<CUstream>((std::uintptr_t{context} << 32) + (std::uintptr_t{stream} << 8));
}

/// REPLAY_ARGUMENTS: so many different numbers in turn; 0: never the same again. Without it
/// launches have no arguments that could be read.
void** launch_arguments::values_of(CUpti_ActivityKernel10 const& k) {
  static char const* const wanted = std::getenv("REPLAY_ARGUMENTS");
  if (wanted == nullptr) return nullptr;
  auto const different = std::strtoul(wanted, nullptr, 10);
  address_ = 0x7f00'0000'0000u + k.correlationId * std::uint64_t{512};
  number_ = different != 0 ? 1000 + k.correlationId / 2 % different : k.correlationId;
  return values_.data();
}

void const* launch_arguments::of_copy(std::uint32_t context, std::uint32_t stream) noexcept {
  copy_.fill(stream_handle(context, stream));
  return copy_.data();
}

void const* launch_arguments::of(std::uint32_t cbid, CUpti_ActivityKernel10 const& k,
                                 std::uint32_t number) {
  auto const function = made_up<CUfunction>((std::uintptr_t{number} + 1) << 12);
  auto const stream = stream_handle(k.contextId, k.streamId);
  auto const unsigned_of = [](auto value) { return static_cast<unsigned>(value); };
  switch (cbid) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
      plain_ = {function,
                unsigned_of(k.gridX),
                unsigned_of(k.gridY),
                unsigned_of(k.gridZ),
                unsigned_of(k.blockX),
                unsigned_of(k.blockY),
                unsigned_of(k.blockZ),
                unsigned_of(k.dynamicSharedMemory),
                stream,
                values_of(k),
                nullptr};
      return &plain_;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
      attributes_[0].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
      attributes_[0].value.cooperative =
          k.launchType == CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE;
      config_ = {unsigned_of(k.gridX),
                 unsigned_of(k.gridY),
                 unsigned_of(k.gridZ),
                 unsigned_of(k.blockX),
                 unsigned_of(k.blockY),
                 unsigned_of(k.blockZ),
                 unsigned_of(k.dynamicSharedMemory),
                 stream,
                 attributes_.data(),
                 static_cast<unsigned>(attributes_.size())};
      extended_ = {&config_, function, values_of(k), nullptr};
      return &extended_;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
      cooperative_ = {function,
                      unsigned_of(k.gridX),
                      unsigned_of(k.gridY),
                      unsigned_of(k.gridZ),
                      unsigned_of(k.blockX),
                      unsigned_of(k.blockY),
                      unsigned_of(k.blockZ),
                      unsigned_of(k.dynamicSharedMemory),
                      stream,
                      nullptr};
      return &cooperative_;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
      graph_ = {made_up<CUgraphExec>((std::uintptr_t{k.graphId} + 1) << 16), stream};
      return &graph_;
    default:
      return nullptr;
  }
}

}  // namespace gpuprof::replay
