// SPDX-License-Identifier: Apache-2.0
// On which stream a driver call works, read from parameters as CUPTI lays them out.
#include "guest/cupti/call_parameters.hpp"
#include "support/catch.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

auto const some_stream = reinterpret_cast<CUstream>(std::uintptr_t{48});

struct reading_of_call {
  std::string name;
  /// What is read where the call was made with this stream.
  std::function<CUstream(CUstream)> stream_of;
};

template <class Parameters>
reading_of_call reads(char const* name, CUstream Parameters::*member) {
  return {name, [name, member](CUstream made_with) {
            Parameters parameters{};
            parameters.*member = made_with;
            CUstream found = reinterpret_cast<CUstream>(std::uintptr_t{1});
            REQUIRE(read_stream(stream_place_named(name), &parameters, found));
            return found;
          }};
}

}  // namespace

TEST_CASE("the stream of every known call is read") {
  std::vector<reading_of_call> const calls{
      reads("cuMemcpyAsync", &cuMemcpyAsync_params::hStream),
      reads("cuMemcpyPeerAsync", &cuMemcpyPeerAsync_params::hStream),
      reads("cuMemcpyHtoDAsync_v2", &cuMemcpyHtoDAsync_v2_params::hStream),
      reads("cuMemcpyDtoHAsync_v2", &cuMemcpyDtoHAsync_v2_params::hStream),
      reads("cuMemcpyDtoDAsync_v2", &cuMemcpyDtoDAsync_v2_params::hStream),
      reads("cuMemcpyHtoAAsync_v2", &cuMemcpyHtoAAsync_v2_params::hStream),
      reads("cuMemcpyAtoHAsync_v2", &cuMemcpyAtoHAsync_v2_params::hStream),
      reads("cuMemcpy2DAsync_v2", &cuMemcpy2DAsync_v2_params::hStream),
      reads("cuMemcpy3DAsync_v2", &cuMemcpy3DAsync_v2_params::hStream),
      reads("cuMemcpy3DPeerAsync", &cuMemcpy3DPeerAsync_params::hStream),
      reads("cuMemsetD8Async", &cuMemsetD8Async_params::hStream),
      reads("cuMemsetD16Async", &cuMemsetD16Async_params::hStream),
      reads("cuMemsetD32Async", &cuMemsetD32Async_params::hStream),
      reads("cuMemsetD2D8Async", &cuMemsetD2D8Async_params::hStream),
      reads("cuMemsetD2D16Async", &cuMemsetD2D16Async_params::hStream),
      reads("cuMemsetD2D32Async", &cuMemsetD2D32Async_params::hStream),
      reads("cuStreamWaitEvent", &cuStreamWaitEvent_params::hStream),
      reads("cuStreamAddCallback", &cuStreamAddCallback_params::hStream),
      reads("cuLaunchHostFunc", &cuLaunchHostFunc_params::hStream),
      reads("cuStreamAttachMemAsync", &cuStreamAttachMemAsync_params::hStream),
      reads("cuStreamWriteValue32_v2", &cuStreamWriteValue32_v2_params::stream),
      reads("cuStreamWriteValue64_v2", &cuStreamWriteValue64_v2_params::stream),
      reads("cuStreamWaitValue32_v2", &cuStreamWaitValue32_v2_params::stream),
      reads("cuStreamWaitValue64_v2", &cuStreamWaitValue64_v2_params::stream),
      reads("cuMemcpyBatchAsync_v2", &cuMemcpyBatchAsync_v2_params::hStream),
      reads("cuMemcpy3DBatchAsync_v2", &cuMemcpy3DBatchAsync_v2_params::hStream),
      reads("cuStreamBatchMemOp_v2", &cuStreamBatchMemOp_v2_params::stream),
      reads("cuStreamBatchMemOp", &cuStreamBatchMemOp_params::stream),
      reads("cuStreamWriteValue32", &cuStreamWriteValue32_params::stream),
      reads("cuStreamWriteValue64", &cuStreamWriteValue64_params::stream),
      reads("cuStreamWaitValue32", &cuStreamWaitValue32_params::stream),
      reads("cuStreamWaitValue64", &cuStreamWaitValue64_params::stream),
      reads("cuWaitExternalSemaphoresAsync", &cuWaitExternalSemaphoresAsync_params::stream),
      reads("cuSignalExternalSemaphoresAsync", &cuSignalExternalSemaphoresAsync_params::stream),
  };
  for (auto const& call : calls) {
    INFO(call.name);
    CHECK(call.stream_of(some_stream) == some_stream);
    CHECK(call.stream_of(nullptr) == nullptr);
  }
}

TEST_CASE(
    "calls with the _ptsz suffix have the same parameters, and default to the per-thread stream") {
  std::vector<reading_of_call> const calls{
      reads("cuMemcpyAsync_ptsz", &cuMemcpyAsync_ptsz_params::hStream),
      reads("cuMemcpyPeerAsync_ptsz", &cuMemcpyPeerAsync_ptsz_params::hStream),
      reads("cuMemcpyHtoDAsync_v2_ptsz", &cuMemcpyHtoDAsync_v2_ptsz_params::hStream),
      reads("cuMemcpyDtoHAsync_v2_ptsz", &cuMemcpyDtoHAsync_v2_ptsz_params::hStream),
      reads("cuMemcpyDtoDAsync_v2_ptsz", &cuMemcpyDtoDAsync_v2_ptsz_params::hStream),
      reads("cuMemcpyHtoAAsync_v2_ptsz", &cuMemcpyHtoAAsync_v2_ptsz_params::hStream),
      reads("cuMemcpyAtoHAsync_v2_ptsz", &cuMemcpyAtoHAsync_v2_ptsz_params::hStream),
      reads("cuMemcpy2DAsync_v2_ptsz", &cuMemcpy2DAsync_v2_ptsz_params::hStream),
      reads("cuMemcpy3DAsync_v2_ptsz", &cuMemcpy3DAsync_v2_ptsz_params::hStream),
      reads("cuMemcpy3DPeerAsync_ptsz", &cuMemcpy3DPeerAsync_ptsz_params::hStream),
      reads("cuMemsetD8Async_ptsz", &cuMemsetD8Async_ptsz_params::hStream),
      reads("cuMemsetD16Async_ptsz", &cuMemsetD16Async_ptsz_params::hStream),
      reads("cuMemsetD32Async_ptsz", &cuMemsetD32Async_ptsz_params::hStream),
      reads("cuMemsetD2D8Async_ptsz", &cuMemsetD2D8Async_ptsz_params::hStream),
      reads("cuMemsetD2D16Async_ptsz", &cuMemsetD2D16Async_ptsz_params::hStream),
      reads("cuMemsetD2D32Async_ptsz", &cuMemsetD2D32Async_ptsz_params::hStream),
      reads("cuStreamWaitEvent_ptsz", &cuStreamWaitEvent_ptsz_params::hStream),
      reads("cuStreamAddCallback_ptsz", &cuStreamAddCallback_ptsz_params::hStream),
      reads("cuLaunchHostFunc_ptsz", &cuLaunchHostFunc_ptsz_params::hStream),
      reads("cuStreamAttachMemAsync_ptsz", &cuStreamAttachMemAsync_ptsz_params::hStream),
      reads("cuStreamWriteValue32_v2_ptsz", &cuStreamWriteValue32_v2_ptsz_params::stream),
      reads("cuStreamWriteValue64_v2_ptsz", &cuStreamWriteValue64_v2_ptsz_params::stream),
      reads("cuStreamWaitValue32_v2_ptsz", &cuStreamWaitValue32_v2_ptsz_params::stream),
      reads("cuStreamWaitValue64_v2_ptsz", &cuStreamWaitValue64_v2_ptsz_params::stream),
      reads("cuMemcpyBatchAsync_v2_ptsz", &cuMemcpyBatchAsync_v2_ptsz_params::hStream),
      reads("cuMemcpy3DBatchAsync_v2_ptsz", &cuMemcpy3DBatchAsync_v2_ptsz_params::hStream),
      reads("cuStreamBatchMemOp_v2_ptsz", &cuStreamBatchMemOp_v2_ptsz_params::stream),
      reads("cuStreamBatchMemOp_ptsz", &cuStreamBatchMemOp_ptsz_params::stream),
      reads("cuStreamWriteValue32_ptsz", &cuStreamWriteValue32_ptsz_params::stream),
      reads("cuStreamWriteValue64_ptsz", &cuStreamWriteValue64_ptsz_params::stream),
      reads("cuStreamWaitValue32_ptsz", &cuStreamWaitValue32_ptsz_params::stream),
      reads("cuStreamWaitValue64_ptsz", &cuStreamWaitValue64_ptsz_params::stream),
      reads("cuWaitExternalSemaphoresAsync_ptsz",
            &cuWaitExternalSemaphoresAsync_ptsz_params::stream),
      reads("cuSignalExternalSemaphoresAsync_ptsz",
            &cuSignalExternalSemaphoresAsync_ptsz_params::stream),
  };
  for (auto const& call : calls) {
    INFO(call.name);
    CHECK(call.stream_of(some_stream) == some_stream);
    CHECK(call.stream_of(nullptr) == CU_STREAM_PER_THREAD);
  }
}

TEST_CASE("copies and fills without a stream use the default stream") {
  for (auto const* const name : {"cuMemcpy", "cuMemcpyHtoD_v2", "cuMemcpy2DUnaligned_v2",
                                 "cuMemsetD2D8_v2", "cuMemsetD32"}) {
    INFO(name);
    auto const place = stream_place_named(name);
    CHECK(place.is == stream_place::kind::none);
    auto found = some_stream;
    CHECK(read_stream(place, nullptr, found));
    CHECK(found == nullptr);
  }
  for (auto const* const name : {"cuMemcpyHtoD_v2_ptds", "cuMemsetD8_v2_ptds"}) {
    CUstream found = nullptr;
    CHECK(read_stream(stream_place_named(name), nullptr, found));
    CHECK(found == CU_STREAM_PER_THREAD);
  }
}

TEST_CASE("the stream of calls newer than the table is not read") {
  for (auto const* const name : {"cuMemcpyAsync_v7", "cuMemcpySomethingAsync_ptsz", "cuMemsetAsync",
                                 "cuStreamWaitNewThing", "", "_ptsz"}) {
    INFO(name);
    CHECK(stream_place_named(name).is == stream_place::kind::unknown);
    CUstream parameters[8] = {some_stream};
    CUstream found = some_stream;
    CHECK_FALSE(read_stream(stream_place_named(name), parameters, found));
    CHECK(found == nullptr);
  }
  CHECK(stream_place_named(nullptr).is == stream_place::kind::unknown);
}

TEST_CASE("a call without parameters has no readable stream") {
  CUstream found = nullptr;
  CHECK_FALSE(read_stream(stream_place_named("cuMemcpyAsync"), nullptr, found));
}
