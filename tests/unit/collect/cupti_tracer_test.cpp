// SPDX-License-Identifier: Apache-2.0
// Tracing switched on and off, with every CUPTI call failing in turn.
#include "guest/collect/cupti_tracer.hpp"

#include "support/catch.hpp"
#include "support/deaf_observer.hpp"
#include "support/fake_cupti.hpp"
#include "unit/nvtx/seen.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;
using gpuprof::test::deaf_observer;
using gpuprof::test::fake_cupti;

namespace {

/// Notes that code was unloaded.
struct listening_gate final : launch_gate {
  void entered(call_in_flight&, launch_call_kind, CUpti_CallbackData const&) noexcept override {}
  launch_remark left(call_in_flight&, CUpti_CallbackData const&, bool) noexcept override {
    return {};
  }
  void work_entered(call_in_flight&, stream_place, CUpti_CallbackData const&) noexcept override {}
  void work_left(call_in_flight&, CUpti_CallbackData const&) noexcept override {}
  void stream_capture_begins(CUstream) noexcept override {}
  void stream_capture_ends(CUstream) noexcept override {}
  void stream_ends(CUstream) noexcept override {}
  void context_made(CUcontext) noexcept override {}
  void context_gone(CUcontext) noexcept override {}
  void context_waited_for(CUpti_CallbackData const&) noexcept override {}
  void work_waited_for() noexcept override {}
  void graph_changes() noexcept override {}
  void graph_ends(CUgraphExec) noexcept override {}
  void code_unloads() noexcept override { ++unloads; }
  void context_ending() noexcept override {}
  void context_ended() noexcept override {}
  int unloads = 0;
};

constexpr trace_options everything{.cuda_api = true,
                                   .cuda_memory = true,
                                   .unified_memory = true,
                                   .sync = true,
                                   .whole_graphs = true};

struct tracer_scene {
  explicit tracer_scene(unsigned version = 130001)
      : cupti(version), callbacks(observer), tracer(cupti.library, budget, 64 << 10, callbacks) {}

  result<void> start(trace_options const& choice = everything) {
    return tracer.start(choice, warnings);
  }
  bool launch_callbacks_are_on() const {
    auto const on = cupti.callbacks();
    return on.count({CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel}) != 0;
  }
  /// Callbacks that stay on between captures: cudaProfilerStart/Stop, ends of contexts and of code,
  /// graphs that come and go, and CUPTI's own errors.
  std::set<std::pair<int, int>> callbacks_at_rest() const {
    return {{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart},
            {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop},
            {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2},
            {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRetain},
            {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2},
            {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuModuleUnload},
            {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload},
            {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags},
            {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED},
            {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING},
            {CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR},
            {CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_ERROR}};
  }

  fake_cupti cupti;
  deaf_observer observer;
  launch_callbacks callbacks;
  memory_budget budget{16 * (64 << 10)};
  cupti_tracer tracer;
  std::vector<std::string> warnings;
};

std::vector<std::string> starting_with(std::vector<std::string> const& all,
                                       std::string const& what) {
  std::vector<std::string> some;
  std::copy_if(all.begin(), all.end(), std::back_inserter(some),
               [&](std::string const& line) { return line.rfind(what + ' ', 0) == 0; });
  return some;
}

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("attaching takes the subscriber slot and subscribes only to the profiler calls") {
  tracer_scene s;
  REQUIRE(s.tracer.attach());
  CHECK(s.tracer.attached());
  CHECK(s.cupti.subscribed());
  CHECK(s.cupti.callbacks() == s.callbacks_at_rest());
  CHECK(s.cupti.kinds().empty());
  REQUIRE(s.tracer.attach());
  CHECK(s.cupti.count("cuptiSubscribe_v2") == 1);
}

TEST_CASE("counters are notified when code is unloaded, because handles may be reused then") {
  tracer_scene s;
  static listening_gate gate;
  s.callbacks.place_gate(gate);
  REQUIRE(s.start());
  std::uint64_t data = 0;
  CUpti_CallbackData call{};
  call.callbackSite = CUPTI_API_ENTER;
  call.correlationData = &data;
  launch_callbacks::entry(&s.callbacks, CUPTI_CB_DOMAIN_DRIVER_API,
                          CUPTI_DRIVER_TRACE_CBID_cuModuleUnload, &call);
  CHECK(gate.unloads == 1);
  // Before, and after: another thread may ask meanwhile.
  call.callbackSite = CUPTI_API_EXIT;
  launch_callbacks::entry(&s.callbacks, CUPTI_CB_DOMAIN_DRIVER_API,
                          CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload, &call);
  CHECK(gate.unloads == 2);
}

TEST_CASE("with counters stream and context callbacks are on, but only while a capture runs") {
  tracer_scene s;
  std::set<std::pair<int, int>> const of_counters{
      {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED},
      {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING},
      {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent},
      {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc},
      {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy_v2},
      {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy},
      {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2},
      {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture},
      {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize},
      {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize},
      {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize}};
  auto const heard_of = [&] {
    auto const on = s.cupti.callbacks();
    return std::count_if(of_counters.begin(), of_counters.end(),
                         [&](auto const& one) { return on.count(one) != 0; });
  };
  REQUIRE(s.start({}));
  CHECK(heard_of() == 0);
  s.tracer.stop();
  static listening_gate gate;
  s.callbacks.place_gate(gate);
  REQUIRE(s.start({}));
  CHECK(heard_of() == static_cast<std::ptrdiff_t>(of_counters.size()));
  s.tracer.stop();
  CHECK(s.cupti.callbacks() == s.callbacks_at_rest());
}

TEST_CASE("module callbacks are on from attaching, also between captures, if an observer is set") {
  struct deaf final : code_observer {
    void code_loaded(std::span<std::uint8_t const>) noexcept override {}
  } reader;
  tracer_scene s;
  s.callbacks.place_code_observer(reader);
  REQUIRE(s.tracer.attach());
  std::pair<int, int> const loading{CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED};
  CHECK(s.cupti.callbacks().contains(loading));
  REQUIRE(s.start());
  s.tracer.stop();
  CHECK(s.cupti.callbacks().contains(loading));
}

TEST_CASE("an older CUPTI is subscribed to by its older function") {
  tracer_scene s(20);
  s.cupti.library.api.cuptiSubscribe_v2 = nullptr;
  REQUIRE(s.tracer.attach());
  CHECK(s.cupti.count("cuptiSubscribe") == 1);
}

TEST_CASE("when CUPTI is held, the holder is named") {
  tracer_scene s;
  s.cupti.hold_as("Nsight Systems");
  auto const ok = s.start();
  REQUIRE(!ok);
  CHECK(ok.message() == "cuptiSubscribe failed, CUPTI is held by \"Nsight Systems\"");
  CHECK_FALSE(s.tracer.attached());
  CHECK(s.cupti.kinds().empty());
}

TEST_CASE("a holder without a name is described") {
  tracer_scene s;
  s.cupti.hold_as("<not provided>");
  auto const ok = s.start();
  CHECK(contains(ok.message(), "a tool that gives no name, in this process"));
}

TEST_CASE("an older CUPTI cannot name the holder, but the reason is given") {
  tracer_scene s(20);
  s.cupti.library.api.cuptiSubscribe_v2 = nullptr;
  s.cupti.hold_as("Nsight Systems");
  auto const ok = s.start();
  CHECK(contains(ok.message(), "CUPTI is held by another tool"));
  CHECK_FALSE(s.tracer.attached());
}

TEST_CASE("after a holder has gone the next try succeeds") {
  tracer_scene s;
  s.cupti.hold_as("Nsight Systems");
  REQUIRE(!s.start());
  s.cupti.hold_as("");
  CHECK(s.start());
}

TEST_CASE("only requested records are enabled") {
  tracer_scene s;
  REQUIRE(s.start({}));
  CHECK(s.warnings.empty());
  CHECK(s.cupti.kinds() == std::set<int>{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
                                         CUPTI_ACTIVITY_KIND_MEMSET});
  CHECK(s.launch_callbacks_are_on());
}

TEST_CASE("all kinds of records can be requested") {
  tracer_scene s;
  REQUIRE(s.start());
  CHECK(s.warnings.empty());
  CHECK(s.cupti.kinds() ==
        std::set<int>{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                      CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET,
                      CUPTI_ACTIVITY_KIND_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_RUNTIME,
                      CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                      CUPTI_ACTIVITY_KIND_MEMORY2, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER});
  CHECK(s.tracer.records_unified_memory());
}

TEST_CASE("only blocking calls are subscribed to, and no calls after the stop") {
  tracer_scene s;
  REQUIRE(s.start({}));
  auto const without = s.cupti.callbacks();
  s.tracer.stop();
  auto const at_rest = s.cupti.callbacks();
  REQUIRE(s.start({.blocking_calls = true}));
  CHECK(s.warnings.empty());
  CHECK(s.tracer.calls_recorded() == recorded_calls::blocking);
  CHECK(s.cupti.kinds().count(CUPTI_ACTIVITY_KIND_DRIVER) == 0);
  CHECK(s.cupti.kinds().count(CUPTI_ACTIVITY_KIND_RUNTIME) == 0);
  CHECK(s.cupti.single_calls().empty());
  CHECK(s.cupti.count("cuptiSetThreadIdType") == 0);  // no record of CUPTI's carries one
  auto const on = s.cupti.callbacks();
  auto const is_on = [&](int id) { return on.count({CUPTI_CB_DOMAIN_DRIVER_API, id}) != 0; };
  CHECK(is_on(CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize));
  CHECK(is_on(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2));
  CHECK(is_on(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2));
  CHECK(is_on(CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData));
  CHECK_FALSE(is_on(CUPTI_DRIVER_TRACE_CBID_cuStreamQuery));
  for (auto const& [domain, id] : on) {
    if (without.count({domain, id}) != 0) continue;
    char const* name = nullptr;
    s.cupti.library.api.cuptiGetCallbackName(static_cast<CUpti_CallbackDomain>(domain),
                                             static_cast<std::uint32_t>(id), &name);
    INFO(name);
    CHECK(domain == CUPTI_CB_DOMAIN_DRIVER_API);
    CHECK(is_blocking_call(name));
  }
  s.tracer.stop();
  CHECK(s.cupti.callbacks() == at_rest);
}

TEST_CASE("blocking calls are recorded in each capture that wants them, if a context exists") {
  tracer_scene s;
  REQUIRE(s.tracer.attach());
  s.cupti.resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  static memory_budget for_logs(64u << 20);
  configure_thread_logs(&for_logs, 1024);
  auto const written = [&](trace_options const& choice) {
    test::seen found;
    drain_all_logs(found);
    found = {};
    REQUIRE(s.start(choice));
    log_is_recording = true;
    CUpti_CallbackData data{};
    std::uint64_t kept = 0;
    data.correlationData = &kept;
    data.correlationId = 7;
    constexpr int wait = CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize;
    std::thread([&] {
      if (s.cupti.callbacks().count({CUPTI_CB_DOMAIN_DRIVER_API, wait}) == 0) return;
      for (auto const site : {CUPTI_API_ENTER, CUPTI_API_EXIT})
        s.cupti.driver_call(site, data, wait);
    }).join();
    log_is_recording = false;
    s.tracer.stop();
    drain_all_logs(found);
    return found.calls.size();
  };
  CHECK(written({.blocking_calls = true}) == 1);
  CHECK(written({}) == 0);
  CHECK(written({.cuda_api = true, .blocking_calls = true}) == 0);  // CUPTI has them
  CHECK(written({.blocking_calls = true}) == 1);
}

TEST_CASE("all calls include blocking calls, and then CUPTI records both") {
  tracer_scene s;
  REQUIRE(s.start({}));
  auto const without = s.cupti.callbacks();
  s.tracer.stop();
  REQUIRE(s.start({.cuda_api = true, .blocking_calls = true}));
  CHECK(s.tracer.calls_recorded() == recorded_calls::all);
  CHECK(s.cupti.callbacks() == without);
}

TEST_CASE("blocking calls that CUPTI refuses cost no other feature") {
  std::set<std::pair<int, int>> without;
  unsigned asked = 0;
  {
    tracer_scene s;
    REQUIRE(s.start({}));
    without = s.cupti.callbacks();
    asked = s.cupti.count("cuptiEnableCallback");
  }
  tracer_scene s;
  s.cupti.fail_nth("cuptiEnableCallback", asked + 3, CUPTI_ERROR_NOT_SUPPORTED);
  REQUIRE(s.start({.blocking_calls = true}));
  REQUIRE(s.warnings.size() == 1);
  CHECK(contains(s.warnings[0], "blocking CUDA calls will be missing"));
  CHECK(s.tracer.calls_recorded() == recorded_calls::none);
  CHECK(s.cupti.callbacks() == without);
  CHECK(s.cupti.kinds().count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 1);
}

TEST_CASE("thread ids are chosen before the records that carry them are enabled") {
  tracer_scene s;
  REQUIRE(s.start());
  auto const calls = s.cupti.calls();
  auto const place = [&](std::string const& call) {
    return std::find(calls.begin(), calls.end(), call) - calls.begin();
  };
  CHECK(place("cuptiSetThreadIdType 1") < place("cuptiActivityEnable 5"));
  CHECK(place("cuptiSetThreadIdType 1") < place("cuptiActivityEnable 4"));
}

TEST_CASE("zeroed buffers and few device buffers are requested before any record is enabled") {
  tracer_scene s;
  REQUIRE(s.start());
  auto const calls = s.cupti.calls();
  auto const first = [&](std::string const& name) {
    return std::find_if(calls.begin(), calls.end(),
                        [&](auto const& c) { return c.rfind(name, 0) == 0; }) -
           calls.begin();
  };
  CHECK(s.cupti.count("cuptiActivitySetAttribute") == 2);
  CHECK(first("cuptiActivitySetAttribute") < first("cuptiActivityEnable"));
  CHECK(first("cuptiActivityRegisterCallbacks") < first("cuptiActivityEnable"));
}

TEST_CASE("stopping undoes the start in reverse and stays attached") {
  tracer_scene s;
  REQUIRE(s.start());
  auto enabled = starting_with(s.cupti.calls(), "cuptiActivityEnable");
  s.cupti.forget_calls();
  s.tracer.stop();
  auto disabled = starting_with(s.cupti.calls(), "cuptiActivityDisable");
  std::reverse(enabled.begin(), enabled.end());
  REQUIRE(enabled.size() == disabled.size());
  for (std::size_t i = 0; i < enabled.size(); ++i)
    CHECK(enabled[i].substr(enabled[i].find(' ')) == disabled[i].substr(disabled[i].find(' ')));
  CHECK(s.cupti.calls().back().rfind("cuptiEnableCallback 0", 0) == 0);
  CHECK(s.cupti.kinds().empty());
  CHECK(s.cupti.callbacks() == s.callbacks_at_rest());
  CHECK(s.tracer.attached());
}

TEST_CASE("the second stop in a row does nothing") {
  tracer_scene s;
  REQUIRE(s.start());
  s.tracer.stop();
  s.cupti.forget_calls();
  s.tracer.stop();
  CHECK(s.cupti.calls().empty());
}

TEST_CASE("leaving stops, unsubscribes and finalizes, in that order; a later start works") {
  tracer_scene s;
  REQUIRE(s.start());
  s.cupti.forget_calls();
  CHECK(s.tracer.leave());
  auto const calls = s.cupti.calls();
  REQUIRE(calls.size() > 3);
  CHECK(calls.front().rfind("cuptiActivityDisable", 0) == 0);
  CHECK(calls[calls.size() - 2] == "cuptiUnsubscribe");
  CHECK(calls.back() == "cuptiFinalize");
  CHECK_FALSE(s.tracer.attached());
  CHECK(s.tracer.leave());
  CHECK(s.cupti.count("cuptiFinalize") == 1);
  REQUIRE(s.start());
  CHECK(s.cupti.kinds().size() == 10);
}

TEST_CASE("a CUPTI below 12.6 is stopped but stays attached, and a later capture works") {
  tracer_scene s(22);
  REQUIRE(s.start());
  s.cupti.forget_calls();
  CHECK(s.tracer.leave());
  CHECK(s.cupti.count("cuptiFinalize") == 0);
  CHECK(s.cupti.kinds().empty());
  CHECK(s.tracer.attached());
  REQUIRE(s.start());
  CHECK(s.cupti.count("cuptiSubscribe") == 0);
  CHECK(s.cupti.kinds().count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 1);
  tracer_scene newer(24);
  REQUIRE(newer.start());
  CHECK(newer.tracer.leave());
  CHECK(newer.cupti.count("cuptiFinalize") == 1);
}

TEST_CASE("kernel records of the first CUPTI 13.0 are never switched off") {
  tracer_scene s(130000);
  REQUIRE(s.start());
  s.tracer.stop();
  CHECK(s.cupti.kinds() == std::set<int>{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
  CHECK_FALSE(s.tracer.kernels().pause());
  CHECK_FALSE(s.tracer.may_flush_at_any_time());
  CHECK(tracer_scene(130001).tracer.may_flush_at_any_time());
}

TEST_CASE(
    "unified-memory counters that must wait for cuInit are enabled later, without a warning") {
  tracer_scene s;
  s.cupti.fail_nth("cuptiActivityConfigureUnifiedMemoryCounter", 1, CUPTI_ERROR_NOT_READY);
  REQUIRE(s.start());
  CHECK(s.warnings.empty());
  REQUIRE(s.tracer.waits_for_cuda());
  s.tracer.start_the_rest(s.warnings);
  CHECK(s.warnings.empty());
  CHECK_FALSE(s.tracer.waits_for_cuda());
  CHECK(s.cupti.kinds().count(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER) == 1);
  CHECK(s.tracer.records_unified_memory());
  s.tracer.stop();
  REQUIRE(s.start({.blocking_calls = true}));
  CHECK_FALSE(s.tracer.records_unified_memory());
  s.tracer.stop();
  CHECK(s.cupti.kinds().empty());
}

TEST_CASE("a CUPTI that has shut itself down is not called again") {
  tracer_scene s;
  REQUIRE(s.start());
  s.cupti.forget_calls();
  s.tracer.abandon();
  s.tracer.stop();
  s.tracer.flush(true);
  CHECK(s.tracer.leave());
  s.tracer.listen_to_any_call();
  CHECK(s.tracer.dropped() == 0);
  CHECK(s.cupti.calls().empty());
}

TEST_CASE("if any single call fails, one feature is lost with a clear line, or all is undone") {
  unsigned calls_to_start = 0;
  {
    tracer_scene s;
    REQUIRE(s.start());
    calls_to_start = static_cast<unsigned>(s.cupti.calls().size());
  }
  REQUIRE(calls_to_start > 20);
  for (unsigned n = 1; n <= calls_to_start; ++n) {
    tracer_scene s;
    s.cupti.fail_call(n, CUPTI_ERROR_UNKNOWN);
    auto const ok = s.start();
    auto const failed = s.cupti.calls().at(n - 1);
    INFO("call " << n << ": " << failed);
    if (ok) {
      CHECK(s.cupti.kinds().count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 1);
      CHECK(s.launch_callbacks_are_on());
      CHECK(s.warnings.size() <= 1);
      for (auto const& warning : s.warnings) {
        CHECK(contains(warning, "will be missing: cupti"));
        CHECK(contains(warning, "All else is traced."));
        CHECK(s.cupti.kinds().size() == 9);
      }
      if (failed.rfind("cuptiActivityEnable ", 0) == 0 ||
          failed.rfind("cuptiActivityConfigureUnifiedMemoryCounter", 0) == 0)
        CHECK(s.warnings.size() == 1);
    } else {
      auto const function = failed.substr(0, failed.find(' '));
      CHECK(contains(ok.message(), function == "cuptiSubscribe_v2" ? "cuptiSubscribe" : function));
      CHECK(contains(ok.message(), "999"));
      CHECK(s.cupti.kinds().empty());
      CHECK_FALSE(s.launch_callbacks_are_on());
      CHECK((!s.cupti.subscribed() || s.cupti.callbacks() == s.callbacks_at_rest()));
      CHECK(s.cupti.subscribed() == s.tracer.attached());
    }
    s.tracer.stop();
    CHECK(s.cupti.kinds().empty());
    CHECK_FALSE(s.launch_callbacks_are_on());
    CHECK(s.tracer.leave());
    CHECK_FALSE(s.cupti.subscribed());
    s.warnings.clear();
    CHECK(s.start());  // the failure was a passing one
    CHECK(s.warnings.empty());
  }
}

TEST_CASE("if any call while leaving fails, the remaining steps are still done") {
  unsigned to_start = 0, calls = 0;
  {
    tracer_scene s;
    REQUIRE(s.start());
    to_start = static_cast<unsigned>(s.cupti.calls().size());
    REQUIRE(s.tracer.leave());
    calls = static_cast<unsigned>(s.cupti.calls().size());
  }
  for (auto n = to_start + 1; n <= calls; ++n) {
    tracer_scene s;
    REQUIRE(s.start());
    s.cupti.fail_call(n, CUPTI_ERROR_UNKNOWN);
    CHECK(s.tracer.leave());
    INFO("call " << n << ": " << s.cupti.calls().at(n - 1));
    CHECK(s.cupti.calls().size() == calls);
    CHECK_FALSE(s.tracer.attached());
  }
}

TEST_CASE("functions missing from this CUPTI cost only their own feature") {
  tracer_scene s(20);
  s.cupti.library.api.cuptiActivityConfigureUnifiedMemoryCounter = nullptr;
  s.cupti.library.api.cuptiSetThreadIdType = nullptr;
  REQUIRE(s.start());
  REQUIRE(s.warnings.size() == 1);
  CHECK(contains(s.warnings[0],
                 "unified-memory counters will be missing: "
                 "cuptiActivityConfigureUnifiedMemoryCounter is not in this libcupti"));
}

TEST_CASE("buffers go from the pool to CUPTI and come back filled, oldest first") {
  tracer_scene s;
  REQUIRE(s.start());
  auto const [a, a_size] = s.cupti.request_buffer();
  auto const [b, b_size] = s.cupti.request_buffer();
  REQUIRE(a != nullptr);
  REQUIRE(a != b);
  CHECK(a_size == 64 << 10);
  CHECK_FALSE(s.tracer.next_filled());
  s.cupti.complete_buffer(a, a_size, 100);
  s.cupti.complete_buffer(b, b_size, 0);
  auto const first = s.tracer.next_filled(), second = s.tracer.next_filled();
  REQUIRE(first);
  REQUIRE(second);
  CHECK(first->buffer.bytes == a);
  CHECK(first->used == 100);
  CHECK(second->buffer.bytes == b);
  CHECK_FALSE(s.tracer.next_filled());
  s.tracer.pool().release(first->buffer, first->used);
  s.tracer.pool().release(second->buffer, second->used);
}

TEST_CASE("CUPTI is refused when no buffer is left, and accepts that") {
  tracer_scene s;
  REQUIRE(s.start());
  std::vector<std::pair<std::uint8_t*, std::size_t>> taken;
  for (int i = 0; i < 16; ++i) taken.push_back(s.cupti.request_buffer());
  auto const refused = s.cupti.request_buffer();
  CHECK(refused.first == nullptr);
  CHECK(refused.second == 0);
  CHECK(s.tracer.pool().refusals() == 1);
  s.cupti.complete_buffer(nullptr, 0, 0);
  CHECK_FALSE(s.tracer.next_filled());
  for (auto const& [bytes, size] : taken) s.tracer.pool().release({bytes, size}, 0);
}

TEST_CASE("a buffer of another client is counted and not touched") {
  tracer_scene s;
  REQUIRE(s.start());
  std::vector<std::uint8_t> theirs(4096);
  s.cupti.complete_buffer(theirs.data(), theirs.size(), 10);
  CHECK_FALSE(s.tracer.next_filled());
  CHECK(s.tracer.foreign_buffers() == 1);
}

TEST_CASE("two threads never flush at once: the second returns at once") {
  tracer_scene s;
  REQUIRE(s.start());
  std::atomic<int> inside{0}, most{0}, second_result{-1};
  s.cupti.when_called("cuptiActivityFlushAll", [&] {
    most = std::max<int>(most, ++inside);
    if (second_result == -1) {
      second_result = -2;
      std::thread([&] {
        second_result = s.tracer.flush(false) ? 1 : 0;
        CHECK_FALSE(s.tracer.leave());
      }).join();
    }
    --inside;
  });
  CHECK(s.tracer.flush(true));
  CHECK(most == 1);
  CHECK(second_result == 0);
  CHECK(s.tracer.attached());
  CHECK(s.cupti.count("cuptiFinalize") == 0);
  CHECK(starting_with(s.cupti.calls(), "cuptiActivityFlushAll") ==
        std::vector<std::string>{"cuptiActivityFlushAll 1"});
  s.cupti.when_called("cuptiActivityFlushAll", nullptr);
  CHECK(s.tracer.flush(false));
}

TEST_CASE("nothing is flushed before CUPTI is attached") {
  tracer_scene s;
  CHECK(s.tracer.flush(true));
  CHECK(s.cupti.calls().empty());
}

TEST_CASE("records CUPTI dropped are added up at each flush, and on leaving") {
  tracer_scene s;
  REQUIRE(s.start());
  s.cupti.drop_records(5);
  REQUIRE(s.tracer.flush(false));
  CHECK(s.tracer.dropped() == 5);
  REQUIRE(s.tracer.flush(false));
  CHECK(s.tracer.dropped() == 5);
  s.cupti.drop_records(2);
  REQUIRE(s.tracer.leave());
  CHECK(s.tracer.dropped() == 7);
}

TEST_CASE("listening to any call enables the driver domain, while attached") {
  tracer_scene s;
  s.tracer.listen_to_any_call();
  CHECK_FALSE(s.cupti.listens_to_whole_domain(CUPTI_CB_DOMAIN_DRIVER_API));
  REQUIRE(s.tracer.attach());
  s.tracer.listen_to_any_call();
  CHECK(s.cupti.listens_to_whole_domain(CUPTI_CB_DOMAIN_DRIVER_API));
}

TEST_CASE("the chip's name is passed on, and is empty if CUPTI does not give it") {
  tracer_scene s;
  CHECK(s.tracer.chip_name(0) == "GH100");
  s.cupti.library.api.cuptiDeviceGetChipName = nullptr;
  CHECK(s.tracer.chip_name(0).empty());
}

TEST_CASE("flushing on several threads while another leaves is safe") {
  tracer_scene s;
  std::atomic<bool> over{false};
  std::atomic<int> in_cupti{0}, at_once{0};
  auto const alone = [&] {
    if (++in_cupti > 1) ++at_once;
    std::this_thread::yield();
    --in_cupti;
  };
  for (auto const* name :
       {"cuptiActivityFlushAll", "cuptiFinalize", "cuptiActivityGetNumDroppedRecords"})
    s.cupti.when_called(name, alone);
  // Both step back between calls: whoever leaves would hardly ever find CUPTI free.
  std::thread flusher([&] {
    for (; !over; std::this_thread::yield()) s.tracer.flush(false);
  });
  std::thread other([&] {
    for (; !over; std::this_thread::yield()) s.tracer.flush(true);
  });
  for (int i = 0; i < 50; ++i) {
    std::vector<std::string> warnings;
    REQUIRE(s.tracer.start({}, warnings));
    s.tracer.stop();
    while (!s.tracer.leave()) std::this_thread::yield();
  }
  over = true;
  flusher.join();
  other.join();
  CHECK(at_once == 0);
}
