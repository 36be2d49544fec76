// SPDX-License-Identifier: Apache-2.0
#include "guest/cupti/stream_parameters.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace gpuprof::guest {
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
