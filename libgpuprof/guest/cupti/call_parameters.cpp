// SPDX-License-Identifier: Apache-2.0
#include "guest/cupti/call_parameters.hpp"

#include "base/own_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace gpuprof::guest {
namespace {

constexpr unsigned max_attributes = 64;  // CUDA 13 has 17

/// Checks memory that the program passes: before the call the driver has not checked it, and may
/// refuse the call unread.
bool can_read(CUlaunchConfig const* config) noexcept {
  if (!gpuprof::can_read(config, sizeof *config)) return false;
  if (config->attrs == nullptr || config->numAttrs == 0) return true;
  return config->numAttrs <= max_attributes &&
         gpuprof::can_read(config->attrs, config->numAttrs * sizeof *config->attrs);
}

bool is_cooperative(CUlaunchConfig const& config) noexcept {
  for (unsigned i = 0; config.attrs != nullptr && i < config.numAttrs; ++i) {
    if (config.attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      return config.attrs[i].value.cooperative != 0;
  }
  return false;
}

/// Reads the parameters that two calls have under the same names.
template <class Parameters>
launch_parameters plain_launch(Parameters const& p) noexcept {
  return {.work = p.f,
          .grid = {p.gridDimX, p.gridDimY, p.gridDimZ},
          .block = {p.blockDimX, p.blockDimY, p.blockDimZ},
          .shared_bytes = p.sharedMemBytes,
          .stream = p.hStream,
          .arguments = p.kernelParams};
}

}  // namespace

launch_call_kind launch_call_named(char const* text) noexcept {
  std::string_view name = text != nullptr ? text : "";
  launch_call_kind kind;
  constexpr std::string_view per_thread = "_ptsz";
  if (name.ends_with(per_thread)) {
    kind.default_stream_per_thread = true;
    name.remove_suffix(per_thread.size());
  }
  if (name == "cuLaunchKernel")
    kind.call = launch_call::kernel;
  else if (name == "cuLaunchKernelEx")
    kind.call = launch_call::kernel_ex;
  else if (name == "cuLaunchCooperativeKernel")
    kind.call = launch_call::cooperative;
  else if (name == "cuGraphLaunch")
    kind.call = launch_call::graph;
  else if (name.starts_with("cuLaunch") && name != "cuLaunchHostFunc")
    kind.call = launch_call::not_readable;
  return kind;
}

// The _ptsz variants have the same parameters.
bool read_launch_parameters(launch_call_kind kind, CUpti_CallbackData const& call,
                            launch_parameters& into) noexcept {
  if (call.functionParams == nullptr) return false;
  if (kind.call == launch_call::kernel) {
    auto const& p = *static_cast<cuLaunchKernel_params const*>(call.functionParams);
    into = plain_launch(p);
    into.argument_buffer = p.extra;
  } else if (kind.call == launch_call::kernel_ex) {
    auto const& p = *static_cast<cuLaunchKernelEx_params const*>(call.functionParams);
    if (!can_read(p.config)) return false;
    auto const& c = *p.config;
    into = {p.f,
            {c.gridDimX, c.gridDimY, c.gridDimZ},
            {c.blockDimX, c.blockDimY, c.blockDimZ},
            c.sharedMemBytes,
            c.hStream,
            is_cooperative(c),
            p.kernelParams,
            p.extra};
  } else if (kind.call == launch_call::cooperative) {
    auto const& p = *static_cast<cuLaunchCooperativeKernel_params const*>(call.functionParams);
    into = plain_launch(p);
    into.cooperative = true;
  } else if (kind.call == launch_call::graph) {
    auto const& p = *static_cast<cuGraphLaunch_params const*>(call.functionParams);
    into = {p.hGraph, {}, {}, 0, p.hStream, false};
  } else {
    return false;
  }
  if (into.stream == nullptr && kind.default_stream_per_thread) into.stream = CU_STREAM_PER_THREAD;
  return true;
}

namespace {

struct known_call {
  std::string_view name;
  std::size_t offset;
};

// The _ptsz variants have the same parameters.
#define GPUPROF_STREAM_OF(name) \
  { #name, offsetof(name##_params, hStream) }
constexpr known_call calls[] = {
    GPUPROF_STREAM_OF(cuMemcpyAsync),
    GPUPROF_STREAM_OF(cuMemcpyPeerAsync),
    GPUPROF_STREAM_OF(cuMemcpyHtoDAsync_v2),
    GPUPROF_STREAM_OF(cuMemcpyDtoHAsync_v2),
    GPUPROF_STREAM_OF(cuMemcpyDtoDAsync_v2),
    GPUPROF_STREAM_OF(cuMemcpyHtoAAsync_v2),
    GPUPROF_STREAM_OF(cuMemcpyAtoHAsync_v2),
    GPUPROF_STREAM_OF(cuMemcpy2DAsync_v2),
    GPUPROF_STREAM_OF(cuMemcpy3DAsync_v2),
    GPUPROF_STREAM_OF(cuMemcpy3DPeerAsync),
    GPUPROF_STREAM_OF(cuMemsetD8Async),
    GPUPROF_STREAM_OF(cuMemsetD16Async),
    GPUPROF_STREAM_OF(cuMemsetD32Async),
    GPUPROF_STREAM_OF(cuMemsetD2D8Async),
    GPUPROF_STREAM_OF(cuMemsetD2D16Async),
    GPUPROF_STREAM_OF(cuMemsetD2D32Async),
    GPUPROF_STREAM_OF(cuStreamWaitEvent),
    GPUPROF_STREAM_OF(cuStreamAddCallback),
    GPUPROF_STREAM_OF(cuLaunchHostFunc),
    GPUPROF_STREAM_OF(cuStreamAttachMemAsync),
    {"cuStreamWriteValue32_v2", offsetof(cuStreamWriteValue32_v2_params, stream)},
    {"cuStreamWriteValue64_v2", offsetof(cuStreamWriteValue64_v2_params, stream)},
    {"cuStreamWaitValue32_v2", offsetof(cuStreamWaitValue32_v2_params, stream)},
    {"cuStreamWaitValue64_v2", offsetof(cuStreamWaitValue64_v2_params, stream)},
    GPUPROF_STREAM_OF(cuMemPrefetchAsync),
    GPUPROF_STREAM_OF(cuMemPrefetchAsync_v2),
    GPUPROF_STREAM_OF(cuMemcpyBatchAsync),
    {"cuMemcpyBatchAsync_v2", offsetof(cuMemcpyBatchAsync_v2_params, hStream)},
    {"cuMemcpy3DBatchAsync_v2", offsetof(cuMemcpy3DBatchAsync_v2_params, hStream)},
    {"cuStreamBatchMemOp_v2", offsetof(cuStreamBatchMemOp_v2_params, stream)},
    {"cuStreamBatchMemOp", offsetof(cuStreamBatchMemOp_params, stream)},
    {"cuStreamWriteValue32", offsetof(cuStreamWriteValue32_params, stream)},
    {"cuStreamWriteValue64", offsetof(cuStreamWriteValue64_params, stream)},
    {"cuStreamWaitValue32", offsetof(cuStreamWaitValue32_params, stream)},
    {"cuStreamWaitValue64", offsetof(cuStreamWaitValue64_params, stream)},
    {"cuWaitExternalSemaphoresAsync", offsetof(cuWaitExternalSemaphoresAsync_params, stream)},
    {"cuSignalExternalSemaphoresAsync", offsetof(cuSignalExternalSemaphoresAsync_params, stream)},
};
#undef GPUPROF_STREAM_OF

}  // namespace

stream_place stream_place_named(char const* text) noexcept {
  std::string_view name = text != nullptr ? text : "";
  stream_place place;
  for (std::string_view const per_thread : {"_ptsz", "_ptds"}) {
    if (!name.ends_with(per_thread)) continue;
    place.default_stream_per_thread = true;
    name.remove_suffix(per_thread.size());
  }
  auto const* const known = std::find_if(std::begin(calls), std::end(calls),
                                         [name](known_call const& c) { return c.name == name; });
  if (known != std::end(calls)) {
    place.is = stream_place::kind::parameter;
    place.offset = static_cast<std::uint16_t>(known->offset);
  } else if ((name.starts_with("cuMemcpy") || name.starts_with("cuMemset")) &&
             name.find("Async") == name.npos) {
    place.is = stream_place::kind::none;
  }
  return place;
}

bool read_stream(stream_place place, void const* parameters, CUstream& into) noexcept {
  into = nullptr;
  if (place.is == stream_place::kind::unknown) return false;
  if (place.is == stream_place::kind::parameter) {
    if (parameters == nullptr) return false;
    std::memcpy(static_cast<void*>(&into), static_cast<char const*>(parameters) + place.offset,
                sizeof into);
  }
  if (into == nullptr && place.default_stream_per_thread) into = CU_STREAM_PER_THREAD;
  return true;
}

}  // namespace gpuprof::guest
