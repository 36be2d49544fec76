// SPDX-License-Identifier: Apache-2.0
// Which calls of CUDA are recorded where not all are, by names of the real CUPTI's headers, and
// what is written down of them.
#include "guest/collect/blocking_calls.hpp"

#include "base/own_calls.hpp"
#include "base/process.hpp"
#include "base/time.hpp"
#include "guest/collect/launch_callbacks.hpp"
#include "support/catch.hpp"
#include "support/deaf_observer.hpp"
#include "support/fake_cupti.hpp"
#include "unit/nvtx/seen.hpp"

#include <thread>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

constexpr std::uint32_t wait = CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize;
constexpr std::uint32_t copy = CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2;
constexpr std::uint32_t load = CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData;
constexpr std::uint32_t unload = CUPTI_DRIVER_TRACE_CBID_cuModuleUnload;

/// A program whose calls CUPTI tells of.
struct program {
  program() {
    callbacks.learn_calls(cupti.library.api);
    callbacks.calls_that_block().record(true);
  }
  void call(std::uint32_t cbid, std::uint32_t correlation, int status = 0) {
    enter(cbid, correlation);
    leave(cbid, status);
  }
  void enter(std::uint32_t cbid, std::uint32_t correlation) {
    kept = 0;
    data = {};
    data.callbackSite = CUPTI_API_ENTER;
    data.correlationId = correlation;
    data.correlationData = &kept;
    deliver(cbid);
  }
  void leave(std::uint32_t cbid, int status = 0) {
    data.callbackSite = CUPTI_API_EXIT;
    data.functionReturnValue = &status;
    deliver(cbid);
  }
  void deliver(std::uint32_t cbid) {
    launch_callbacks::entry(&callbacks, CUPTI_CB_DOMAIN_DRIVER_API, cbid, &data);
  }

  test::fake_cupti cupti;
  test::deaf_observer observer;
  launch_callbacks callbacks{observer};
  CUpti_CallbackData data{};
  std::uint64_t kept = 0;
};

/// What is written down while `act` runs on a thread of its own.
template <class Act>
test::seen recorded(Act act) {
  return test::run([&](thread_log&) { act(); });
}

}  // namespace

TEST_CASE("calls that keep their thread waiting are blocking calls, in all their versions") {
  for (auto const* const name : {"cuCtxSynchronize",
                                 "cuCtxSynchronize_v2",
                                 "cuStreamSynchronize",
                                 "cuStreamSynchronize_ptsz",
                                 "cuEventSynchronize",
                                 "cuMemcpy",
                                 "cuMemcpy_ptds",
                                 "cuMemcpyHtoD_v2",
                                 "cuMemcpyDtoH_v2_ptds",
                                 "cuMemcpy3DPeer_ptds",
                                 "cuMemsetD2D32_v2_ptds",
                                 "cuMemAlloc_v2",
                                 "cuMemFree_v2",
                                 "cuMemHostAlloc_v2",
                                 "cuMemHostRegister_v2",
                                 "cuMemAllocManaged",
                                 "cuMemPoolTrimTo",
                                 "cuModuleLoadDataEx",
                                 "cuLibraryLoadData",
                                 "cuLibraryLoadFromFile",
                                 "cuGraphInstantiateWithParams_ptsz",
                                 "cuGraphInstantiate_v2",
                                 "cudaStreamSynchronize_v3020",
                                 "cudaStreamSynchronize_ptsz_v7000",
                                 "cudaDeviceSynchronize_v3020",
                                 "cudaEventSynchronize_v3020",
                                 "cudaMemcpy_ptds_v7000",
                                 "cudaMemset2D_v3020",
                                 "cudaMalloc_v3020",
                                 "cudaFree_v3020",
                                 "cudaHostAlloc_v3020",
                                 "cudaMallocManaged_v6000",
                                 "cudaGraphInstantiate_v12000"}) {
    INFO(name);
    CHECK(is_blocking_call(name));
  }
}

TEST_CASE("launches, asynchronous calls and queries are not blocking calls") {
  for (auto const* const name : {"cuLaunchKernel",
                                 "cuLaunchKernelEx_ptsz",
                                 "cuGraphLaunch",
                                 "cuMemcpyHtoDAsync_v2",
                                 "cuMemcpyAsync_ptsz",
                                 "cuMemcpyBatchAsync_ptsz",
                                 "cuMemsetD8Async",
                                 "cuMemAllocAsync",
                                 "cuMemFreeAsync_ptsz",
                                 "cuStreamQuery",
                                 "cuEventQuery",
                                 "cuEventRecord",
                                 "cuStreamWaitEvent",
                                 "cuMemGetInfo_v2",
                                 "cuMemPoolGetAttribute",
                                 "cuCtxGetCurrent",
                                 "cuDevicePrimaryCtxGetState",
                                 "cuModuleGetFunction",
                                 "cudaLaunchKernel_v7000",
                                 "cudaMemcpyAsync_v3020",
                                 "cudaMallocAsync_v11020",
                                 "cudaGetDevice_v3020",
                                 "cudaStreamIsCapturing_v10000",
                                 "cudaHostGetDevicePointer_v3020",
                                 "",
                                 "cu",
                                 "cuda",
                                 "_v2",
                                 "MemAlloc"}) {
    INFO(name);
    CHECK_FALSE(is_blocking_call(name));
  }
}

TEST_CASE("a blocking call is recorded when it returns: time, thread, function and result") {
  program p;
  std::uint32_t thread = 0;
  timestamp_ns before, entered, left;
  auto const seen = recorded([&] {
    thread = os_thread_id();
    before = now();
    p.enter(wait, 41);
    entered = now();
    while (now().value < entered.value + 2'000'000) {
    }
    p.leave(wait, 700);
    left = now();
  });
  REQUIRE(seen.calls.size() == 1);
  auto const& call = seen.calls[0];
  constexpr std::uint64_t slack = 100'000;  // of the line between ticks and time
  CHECK(call.start.value + slack >= before.value);
  CHECK(call.start.value <= entered.value + slack);
  CHECK(call.duration.value >= 1'900'000);
  CHECK(call.start.value + static_cast<std::uint64_t>(call.duration.value) <= left.value + slack);
  CHECK(call.os_thread == thread);
  CHECK(raw(call.correlation) == 41);
  CHECK(call.id == wait);
  CHECK(call.result == 700);
  CHECK(seen.launches.empty());
}

TEST_CASE("a blocking copy is a launch and a call, an asynchronous copy is only a launch") {
  program p;
  auto const seen = recorded([&] {
    p.call(copy, 1);
    p.call(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, 2);
    p.call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 3);
  });
  CHECK(seen.launches.size() == 3);
  REQUIRE(seen.calls.size() == 1);
  CHECK(raw(seen.calls[0].correlation) == 1);
}

TEST_CASE("a runtime call is recorded once: as the driver call inside it") {
  program p;
  constexpr std::uint32_t runtime_wait = CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020;
  auto const of_runtime = [&](CUpti_ApiCallbackSite site) {
    std::uint64_t other = 0;
    CUpti_CallbackData outer{};
    outer.callbackSite = site;
    outer.correlationId = 5;
    outer.correlationData = &other;
    launch_callbacks::entry(&p.callbacks, CUPTI_CB_DOMAIN_RUNTIME_API, runtime_wait, &outer);
  };
  auto const seen = recorded([&] {
    of_runtime(CUPTI_API_ENTER);
    p.call(wait, 5);
    of_runtime(CUPTI_API_EXIT);
  });
  REQUIRE(seen.calls.size() == 1);
  CHECK(seen.calls[0].id == wait);
}

TEST_CASE("loading and unloading code is recorded, and record kinds are not switched meanwhile") {
  program p;
  auto const seen = recorded([&] {
    p.call(load, 1);
    p.enter(unload, 2);
    CHECK_FALSE(p.callbacks.switches().enter());
    p.leave(unload);
    REQUIRE(p.callbacks.switches().enter());
    p.callbacks.switches().leave();
  });
  REQUIRE(seen.calls.size() == 2);
  CHECK(seen.calls[1].id == unload);
}

TEST_CASE("calls of the profiler are not recorded as calls of the program") {
  program p;
  auto const seen = recorded([&] {
    {
      own_calls const marked;
      p.call(wait, 1);
    }
    p.call(wait, 2);
    note_own_thread(os_thread_id());
    p.call(wait, 3);
    forget_own_thread(os_thread_id());
    p.call(wait, 4);
  });
  CHECK(seen.lines == test::lines{"call 2", "call 4"});
}

TEST_CASE("a call without a seen beginning is not recorded, nor are calls that no capture wants") {
  program p;
  auto const seen = recorded([&] {
    p.data = {};
    p.data.correlationData = &p.kept;
    p.kept = 0;
    p.leave(wait);
    p.callbacks.calls_that_block().record(false);
    p.call(wait, 1);
    p.call(copy, 2);
    log_is_recording = false;
    p.callbacks.calls_that_block().record(true);
    p.call(wait, 3);
  });
  CHECK(seen.calls.empty());
}

TEST_CASE("a call that finds no room in the ring is counted as lost") {
  program p;
  std::uint64_t lost = 0;
  auto const seen = test::run([&](thread_log& log) {
    auto const before = log.counters.dropped_calls.load();
    for (std::uint32_t i = 0; i < test::ring_slots; ++i) p.call(wait, i + 1);
    lost = log.counters.dropped_calls - before;
  });
  CHECK(lost > 0);
  CHECK(seen.calls.size() + lost == test::ring_slots);
}
