// SPDX-License-Identifier: Apache-2.0
// What CUPTI's callbacks leave behind: launches in the thread's ring, events at the observer.
#include "guest/collect/launch_callbacks.hpp"

#include "base/process.hpp"
#include "guest/nvtx/log_decoder.hpp"
#include "guest/stacks/native_stack.hpp"
#include "support/catch.hpp"
#include "support/fake_cupti.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;
using gpuprof::test::fake_cupti;

namespace {

struct told final : cuda_event_observer {
  std::vector<std::string> events;
  bool selects = true;

  void profiler_start() noexcept override { events.push_back("start"); }
  void profiler_stop() noexcept override { events.push_back("stop"); }
  void context_ending() noexcept override { events.push_back("context ends"); }
  void cupti_failed(CUptiResult code, char const* message) noexcept override {
    events.push_back("failed " + std::to_string(code) + " " + message);
  }
  void leave_cupti() noexcept override { events.push_back("leave"); }
  bool is_selected(char const* kernel) noexcept override {
    events.push_back(std::string("selected? ") + kernel);
    return selects;
  }
};

struct launches_only {
  std::vector<launch_note> notes;
  std::vector<graph_node_note> nodes;
  void launch(launch_note const& l) { notes.push_back(l); }
  void call(driver_call_note const&) {}
  void stack(stack_note const&) {}
  void sample(thread_sample_note const&) {}
  void graph_node(graph_node_note const& node) { nodes.push_back(node); }
  void begin(range_begin const&) {}
  void end(range_end const&) {}
  void mark(mark_record const&) {}
};

/// The callbacks with a fake CUPTI in front and an observer behind.
struct callback_scene {
  callback_scene() : callbacks(observer) { callbacks.learn_calls(cupti.library.api); }

  void enter(std::uint32_t cbid, std::uint32_t correlation) {
    correlation_data = 0;
    call = {};
    call.callbackSite = CUPTI_API_ENTER;
    call.correlationId = correlation;
    call.correlationData = &correlation_data;
    call.symbolName = "kernel";
    call.contextUid = 3;
    deliver(cbid);
  }
  void leave(std::uint32_t cbid, int status = 0) {
    result = status;
    call.callbackSite = CUPTI_API_EXIT;
    call.functionReturnValue = &result;
    deliver(cbid);
  }
  void whole(std::uint32_t cbid, std::uint32_t correlation, int status = 0) {
    enter(cbid, correlation);
    leave(cbid, status);
  }
  void deliver(std::uint32_t cbid) {
    launch_callbacks::entry(&callbacks, CUPTI_CB_DOMAIN_DRIVER_API, cbid, &call);
  }
  void resource(CUpti_CallbackId id) {
    CUpti_ResourceData data{};
    launch_callbacks::entry(&callbacks, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
  }

  /// Of a node of a graph; nodes are numbered. `original`: what it is a copy of.
  void node(CUpti_CallbackId id, std::uintptr_t node, std::uintptr_t original = 0) {
    CUpti_GraphData about{};
    about.node = reinterpret_cast<CUgraphNode>(node);
    about.originalNode = reinterpret_cast<CUgraphNode>(original);
    CUpti_ResourceData data{};
    data.resourceDescriptor = &about;
    launch_callbacks::entry(&callbacks, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
  }

  /// Runs `act` on a thread of its own while launches are recorded; what it wrote down.
  std::vector<launch_note> record(std::function<void()> const& act) {
    return record_all(act).notes;
  }
  launches_only record_all(std::function<void()> const& act) {
    static memory_budget budget(64u << 20);
    configure_thread_logs(&budget, 1024);
    launches_only sink;
    drain_all_logs(sink);
    sink.notes.clear();
    log_is_recording = true;
    std::thread(act).join();
    log_is_recording = false;
    drain_all_logs(sink);
    return sink;
  }

  fake_cupti cupti;
  told observer;
  launch_callbacks callbacks;
  CUpti_CallbackData call{};
  std::uint64_t correlation_data = 0;
  int result = 0;
};

constexpr auto launch_kernel = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
constexpr auto graph_launch = CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch;
constexpr auto copy_call = CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2;

}  // namespace

TEST_CASE(
    "a launch notes the name of its kernel, and a graph launch notes how often code was unloaded") {
  callback_scene s;
  char name[8] = "first";
  auto& kernels = kernels_by_pointer();
  auto const launch = [&](std::uint32_t cbid, std::uint32_t correlation) {
    s.enter(cbid, correlation);
    s.call.symbolName = name;
    s.leave(cbid);
  };
  auto const before = kernels.generation();
  auto const notes = s.record([&] {
    launch(launch_kernel, 1);
    launch(graph_launch, 2);
    s.whole(CUPTI_DRIVER_TRACE_CBID_cuModuleUnload, 3);
    name[0] = 'F';
    launch(launch_kernel, 4);
    launch(copy_call, 5);
  });
  REQUIRE(notes.size() == 4);
  CHECK(names().text(notes[0].kernel) == "first");
  CHECK(raw(notes[1].kernel) == 0);
  CHECK(notes[1].arguments == before);
  CHECK(names().text(notes[2].kernel) == "First");
  CHECK(raw(notes[3].kernel) == 0);
  CHECK(kernels.generation() != before);
}

TEST_CASE("driver calls are classified by their names, even names that no CUPTI has yet") {
  for (auto const* name :
       {"cuLaunchKernel", "cuLaunchKernel_ptsz", "cuLaunchKernelEx", "cuLaunchKernelEx_ptsz",
        "cuLaunchCooperativeKernel", "cuLaunchGrid", "cuLaunchGridAsync", "cuLaunch"})
    CHECK(classify_driver_call(name) == call_class::kernel);
  for (auto const* name :
       {"cuGraphLaunch", "cuGraphLaunch_ptsz", "cuLaunchCooperativeKernelMultiDevice"})
    CHECK(classify_driver_call(name) == call_class::many_kernels);
  for (auto const* name :
       {"cuMemcpyHtoD_v2", "cuMemcpyPeerAsync", "cuMemsetD8_v2", "cuMemcpyBatchAsync"})
    CHECK(classify_driver_call(name) == call_class::copy);
  CHECK(classify_driver_call("cuProfilerStart") == call_class::profiler_start);
  CHECK(classify_driver_call("cuProfilerStop") == call_class::profiler_stop);
  CHECK(classify_driver_call("cuDevicePrimaryCtxReset_v2") == call_class::context_reset);
  CHECK(classify_driver_call("cuCtxDestroy_v2") == call_class::context_reset);
  CHECK(classify_driver_call("cuDevicePrimaryCtxRelease_v2") == call_class::context_release);
  CHECK(classify_driver_call("cuDevicePrimaryCtxRetain") == call_class::context_retain);
  CHECK(classify_driver_call("cuGreenCtxDestroy") == call_class::context_reset);
  CHECK(classify_driver_call("cuGraphExecUpdate_v2") == call_class::graph_change);
  CHECK(classify_driver_call("cuGraphExecKernelNodeSetParams") == call_class::graph_change);
  CHECK(classify_driver_call("cuGraphExecDestroy") == call_class::graph_end);
  for (auto const* name : {"cuGraphInstantiate", "cuGraphInstantiate_v2",
                           "cuGraphInstantiateWithFlags", "cuGraphInstantiateWithParams_ptsz"})
    CHECK(classify_driver_call(name) == call_class::graph_instantiation);
  CHECK(classify_driver_call("cuGraphCreate") == call_class::graph_build);
  CHECK(classify_driver_call("cuGraphClone") == call_class::graph_build);
  for (auto const* name : {"cuLaunchHostFunc", "cuLaunchHostFunc_ptsz", "cuStreamAddCallback",
                           "cuStreamWaitEvent_ptsz", "cuStreamWaitValue32_v2",
                           "cuStreamWriteValue64", "cuStreamBatchMemOp_v2", "cuMemPrefetchAsync",
                           "cuStreamAttachMemAsync", "cuWaitExternalSemaphoresAsync",
                           "cuSignalExternalSemaphoresAsync", "cuMemBatchDecompressAsync_ptsz",
                           "cuMemDiscardBatchAsync", "cuMemDiscardAndPrefetchBatchAsync"})
    CHECK(classify_driver_call(name) == call_class::stream_work);
  CHECK(classify_driver_call("cuStreamBeginCapture_v2_ptsz") == call_class::stream_capture_begin);
  CHECK(classify_driver_call("cuStreamEndCapture") == call_class::stream_capture_end);
  CHECK(classify_driver_call("cuStreamDestroy_v2") == call_class::stream_end);
  CHECK(classify_driver_call("cuCtxSynchronize") == call_class::context_wait);
  CHECK(classify_driver_call("cuLibraryUnload") == call_class::code_unload);
  for (auto const* name : {"cuStreamSynchronize", "cuStreamSynchronize_ptsz", "cuEventSynchronize"})
    CHECK(classify_driver_call(name) == call_class::work_wait);
  for (auto const* name :
       {"cuProfilerInitialize", "cuGraphUpload", "cuMemAlloc_v2", "cuStreamCreate", ""})
    CHECK(classify_driver_call(name) == call_class::none);
  CHECK(classify_driver_call(nullptr) == call_class::none);
}

TEST_CASE("callback ids beyond the table are ignored") {
  callback_scene s;
  CHECK(s.callbacks.class_of(1023) == call_class::none);
  CHECK(s.callbacks.class_of(1024) == call_class::none);
  CHECK(s.callbacks.class_of(0xffffffff) == call_class::none);
  s.whole(5000, 1);
  CHECK(s.observer.events.empty());
}

TEST_CASE("a launch is noted with its correlation id, after the call has returned") {
  callback_scene s;
  std::size_t before_return = 99;
  auto const notes = s.record([&] {
    s.enter(launch_kernel, 41);
    launches_only sink;
    drain_all_logs(sink);
    before_return = sink.notes.size();
    s.leave(launch_kernel);
  });
  CHECK(before_return == 0);
  REQUIRE(notes.size() == 1);
  CHECK(raw(notes[0].correlation) == 41);
  CHECK(notes[0].flags == 0);
  CHECK(raw(notes[0].thread) != 0);
  CHECK(notes[0].time.value != 0);
}

TEST_CASE("a launch that failed is marked: no record will follow") {
  callback_scene s;
  auto const notes = s.record([&] { s.whole(launch_kernel, 1, 701); });
  CHECK(notes.at(0).flags == launch_failed);
}

TEST_CASE("a launch that became a graph node is marked, and only that one") {
  callback_scene s;
  auto const notes = s.record([&] {
    s.enter(launch_kernel, 1);
    s.resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
    s.leave(launch_kernel);
    s.whole(launch_kernel, 2);
    s.resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);  // as cuGraphAddKernelNode does
    s.whole(launch_kernel, 3);
  });
  REQUIRE(notes.size() == 3);
  CHECK(notes[0].flags == launch_captured);
  CHECK(notes[1].flags == 0);
  CHECK(notes[2].flags == 0);
}

TEST_CASE("a node created on another thread does not mark this thread's launch") {
  callback_scene s;
  auto const notes = s.record([&] {
    s.enter(launch_kernel, 1);
    std::thread([&] { s.resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED); }).join();
    s.leave(launch_kernel);
  });
  CHECK(notes.at(0).flags == 0);
}

TEST_CASE("copies of graph nodes are noted with the node that they are copies of") {
  callback_scene s;
  auto const make_nodes = [&] {
    s.node(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, 5, 4);  // of these the original means nothing
    s.node(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, 6, 5);
    s.node(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING, 6);
  };
  CHECK(s.record_all(make_nodes).nodes.empty());  // no stacks are read
  read_native_stacks(static_cast<std::uint8_t>(call_kind::kernel), 1, nullptr);
  auto const seen = s.record_all(make_nodes);
  read_native_stacks(0, 1, nullptr);
  REQUIRE_FALSE(seen.nodes.empty());
  CHECK(seen.nodes.back().node == graph_node_id{6});
  CHECK(seen.nodes.back().original == graph_node_id{5});
  CHECK(raw(seen.nodes.back().thread) != 0);
  if (seen.nodes.size() > 1) CHECK(raw(seen.nodes.front().original) == 0);
}

TEST_CASE("graph launches and copies are distinguished from kernel launches") {
  callback_scene s;
  auto const notes = s.record([&] {
    s.whole(graph_launch, 1);
    s.whole(copy_call, 2);
    s.whole(CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2, 3);
    s.whole(CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc, 4);
  });
  REQUIRE(notes.size() == 3);
  CHECK(notes[0].flags == launch_of_graph);
  CHECK(notes[1].flags == launch_is_copy);
  CHECK(notes[2].flags == launch_is_copy);
}

TEST_CASE("nothing is written while no capture runs") {
  callback_scene s;
  s.record([] {});
  s.whole(launch_kernel, 1);
  launches_only sink;
  drain_all_logs(sink);
  CHECK(sink.notes.empty());
}

TEST_CASE("a call under way when the capture starts is not written: its start was not seen") {
  callback_scene s;
  s.enter(launch_kernel, 1);
  auto const notes = s.record([&] { s.leave(launch_kernel); });
  CHECK(notes.empty());
}

TEST_CASE("a call under way when the capture ends is not written") {
  callback_scene s;
  s.record([&] { s.enter(launch_kernel, 1); });
  s.leave(launch_kernel);
  launches_only sink;
  drain_all_logs(sink);
  CHECK(sink.notes.empty());
}

TEST_CASE("filters are applied only to kernels, after the call has succeeded") {
  callback_scene s;
  s.callbacks.ask_observer(true);
  s.observer.selects = false;
  auto const notes = s.record([&] {
    s.whole(launch_kernel, 1);
    s.whole(launch_kernel, 2, 1);  // failed
    s.whole(copy_call, 3);
    s.whole(graph_launch, 4);
  });
  REQUIRE(notes.size() == 4);
  CHECK(notes[0].flags == launch_not_selected);
  CHECK(notes[1].flags == launch_failed);
  CHECK(notes[2].flags == launch_is_copy);
  CHECK(notes[3].flags == launch_of_graph);
  CHECK(s.observer.events == std::vector<std::string>{"selected? kernel"});
}

TEST_CASE("the observer is not asked if no filter is set") {
  callback_scene s;
  s.record([&] { s.whole(launch_kernel, 1); });
  CHECK(s.observer.events.empty());
}

TEST_CASE("the profiler's start is reported after the call, its stop before the call") {
  callback_scene s;
  s.enter(CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, 1);
  CHECK(s.observer.events.empty());
  s.leave(CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
  CHECK(s.observer.events == std::vector<std::string>{"start"});
  s.enter(CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, 2);
  CHECK(s.observer.events == std::vector<std::string>{"start", "stop"});
  s.leave(CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
  CHECK(s.observer.events == std::vector<std::string>{"start", "stop"});
}

TEST_CASE("the end of a context is reported before the call that resets it") {
  callback_scene s;
  s.enter(CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2, 1);
  CHECK(s.observer.events == std::vector<std::string>{"context ends"});
  s.leave(CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2);
  CHECK(s.observer.events.size() == 1);
}

TEST_CASE("resource callbacks, in which CUPTI allows no flush, report nothing") {
  callback_scene s;
  s.resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  s.resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  CHECK(s.observer.events.empty());
}

namespace {

struct code_reader final : code_observer {
  void code_loaded(std::span<std::uint8_t const> image) noexcept override {
    images.emplace_back(image.begin(), image.end());
  }
  std::vector<std::string> images;
};

void show_module(callback_scene& s, CUpti_CallbackId id, char const* image, std::size_t bytes) {
  CUpti_ModuleResourceData module{};
  module.cubinSize = bytes;
  module.pCubin = image;
  CUpti_ResourceData data{};
  data.resourceDescriptor = &module;
  launch_callbacks::entry(&s.callbacks, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

}  // namespace

TEST_CASE("the image of a loaded module is passed on, but not one that CUPTI has rewritten") {
  callback_scene s;
  code_reader reader;
  show_module(s, CUPTI_CBID_RESOURCE_MODULE_LOADED, "early", 5);
  s.callbacks.place_code_observer(reader);
  show_module(s, CUPTI_CBID_RESOURCE_MODULE_LOADED, "cubin", 5);
  show_module(s, CUPTI_CBID_RESOURCE_MODULE_PROFILED, "other", 5);
  show_module(s, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, "cubin", 5);
  show_module(s, CUPTI_CBID_RESOURCE_MODULE_LOADED, nullptr, 0);
  show_module(s, CUPTI_CBID_RESOURCE_MODULE_LOADED, nullptr, 5);
  show_module(s, CUPTI_CBID_RESOURCE_MODULE_LOADED, "cubin", std::size_t{1} << 60);
  s.resource(CUPTI_CBID_RESOURCE_MODULE_LOADED);
  CHECK(reader.images == std::vector<std::string>{"cubin"});
}

TEST_CASE("a shutdown of CUPTI is reported with its reason; lesser errors are not") {
  callback_scene s;
  CUpti_StateData data{};
  data.notification.result = CUPTI_ERROR_UNKNOWN;
  data.notification.message = "sticky";
  launch_callbacks::entry(&s.callbacks, CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_ERROR, &data);
  CHECK(s.observer.events.empty());
  launch_callbacks::entry(&s.callbacks, CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR, &data);
  CHECK(s.observer.events == std::vector<std::string>{"failed 999 sticky"});
}

TEST_CASE("CUPTI is left at the end of any driver call, once leaving is requested") {
  callback_scene s;
  s.whole(CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent, 1);
  CHECK(s.observer.events.empty());
  s.callbacks.leave_at_next_call(true);
  s.enter(CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent, 2);
  CHECK(s.observer.events.empty());
  s.leave(CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent);
  CHECK(s.observer.events == std::vector<std::string>{"leave"});
}

TEST_CASE("a callback without data, or of an unknown domain, does nothing") {
  callback_scene s;
  launch_callbacks::entry(&s.callbacks, CUPTI_CB_DOMAIN_DRIVER_API, launch_kernel, nullptr);
  launch_callbacks::entry(&s.callbacks, CUPTI_CB_DOMAIN_RUNTIME_API, 1, &s.call);
  CHECK(s.observer.events.empty());
}

TEST_CASE("a forked child records nothing and calls no observer") {
  callback_scene s;
  s.record([&] { s.whole(launch_kernel, 1); });  // watches for forks from here on
  keep_children_inert();                         // as whoever subscribes to callbacks does
  auto const child = fork();
  if (child == 0) {
    log_is_recording = true;
    s.callbacks.leave_at_next_call(true);
    s.whole(launch_kernel, 2);
    launches_only sink;
    drain_all_logs(sink);
    _exit(sink.notes.empty() && s.observer.events.empty() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("launches of several threads stay separate") {
  callback_scene s;
  auto const notes = s.record([&] {
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < 4; ++t) {
      threads.emplace_back([&s, t] {
        for (std::uint32_t i = 0; i < 100; ++i) {
          CUpti_CallbackData data{};
          std::uint64_t own = 0;
          int ok = 0;
          data.correlationId = t * 1000 + i;
          data.correlationData = &own;
          data.callbackSite = CUPTI_API_ENTER;
          launch_callbacks::entry(&s.callbacks, CUPTI_CB_DOMAIN_DRIVER_API, launch_kernel, &data);
          data.callbackSite = CUPTI_API_EXIT;
          data.functionReturnValue = &ok;
          launch_callbacks::entry(&s.callbacks, CUPTI_CB_DOMAIN_DRIVER_API, launch_kernel, &data);
        }
      });
    }
    for (auto& t : threads) t.join();
  });
  REQUIRE(notes.size() == 400);
  for (auto const& n : notes) {
    for (auto const& other : notes) {
      if (raw(n.correlation) / 1000 == raw(other.correlation) / 1000)
        REQUIRE(n.thread == other.thread);
    }
  }
}

namespace {

// Of the pretended driver: who retains the primary context of device 0.
std::atomic<int> holders{0};

bool somebody_holds(int) noexcept {
  return holders.load() > 0;
}

}  // namespace

TEST_CASE("only the release that ends a context is reported") {
  callback_scene s;
  bool const from_the_start = GENERATE(true, false);
  holders = from_the_start ? 0 : 1;  // one of before we listened
  s.callbacks.ask_of_primary_contexts(&somebody_holds);
  std::uint32_t correlation = 100;
  auto const retain = [&] {
    s.whole(CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRetain, ++correlation);
    ++holders;
  };
  auto const release = [&] {
    s.whole(CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2, ++correlation);
    --holders;
  };
  if (from_the_start) retain();
  for (int i = 0; i < 100; ++i) {  // as some libraries do
    retain();
    release();
  }
  s.whole(CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRetain, ++correlation, 2);  // failed
  CHECK(s.observer.events.empty());
  release();
  CHECK(s.observer.events == std::vector<std::string>{"context ends"});
  retain();
  release();
  CHECK(s.observer.events == std::vector<std::string>(2, "context ends"));
}

namespace {

struct noting_gate final : launch_gate {
  std::vector<std::string> events;
  launch_remark remark;
  bool wanted_record = false, same_call = false;
  std::uint32_t calls = 0;

  void note(std::string event) { events.push_back(std::move(event)); }
  static std::string number(void const* handle) {
    return ' ' + std::to_string(reinterpret_cast<std::uintptr_t>(handle));
  }
  std::vector<std::string> take() { return std::exchange(events, {}); }

  void entered(call_in_flight& own, launch_call_kind, CUpti_CallbackData const&) noexcept override {
    own.arguments = ++calls;
    note("launch");
  }
  launch_remark left(call_in_flight& own, CUpti_CallbackData const&,
                     bool gets_record) noexcept override {
    same_call = own.arguments == calls;
    wanted_record = gets_record;
    note("launched");
    return remark;
  }
  void work_entered(call_in_flight&, stream_place place,
                    CUpti_CallbackData const& call) noexcept override {
    CUstream stream = nullptr;
    note(read_stream(place, call.functionParams, stream) ? "work" + number(stream)
                                                         : "work somewhere");
  }
  void work_left(call_in_flight&, CUpti_CallbackData const&) noexcept override { note("worked"); }
  void stream_capture_begins(CUstream stream) noexcept override {
    note("capture" + number(stream));
  }
  void stream_capture_ends(CUstream stream) noexcept override { note("captured" + number(stream)); }
  void stream_ends(CUstream stream) noexcept override { note("stream ends" + number(stream)); }
  void context_made(CUcontext context) noexcept override { note("made" + number(context)); }
  void context_gone(CUcontext context) noexcept override { note("gone" + number(context)); }
  void context_waited_for(CUpti_CallbackData const&) noexcept override { note("waited"); }
  void work_waited_for() noexcept override { note("moment"); }
  void graph_changes() noexcept override { note("graph changes"); }
  void graph_ends(CUgraphExec graph) noexcept override {
    note("graph ends" + std::to_string(reinterpret_cast<std::uintptr_t>(graph)));
  }
  void code_unloads() noexcept override { note("code unloads"); }
  void context_ending() noexcept override { note("ending"); }
  void context_ended() noexcept override { note("ended"); }
};

using events = std::vector<std::string>;

struct gated_scene : callback_scene {
  gated_scene() { callbacks.place_gate(gate); }
  /// A call whose parameters are `parameters`; what the gate was told before and after it.
  template <class Parameters>
  events told_of(std::uint32_t cbid, Parameters& parameters, int status = 0) {
    correlation_data = 0;
    call = {};
    call.callbackSite = CUPTI_API_ENTER;
    call.correlationData = &correlation_data;
    call.functionParams = &parameters;
    deliver(cbid);
    gate.note("|");
    leave(cbid, status);
    return gate.take();
  }
  events told_of(std::uint32_t cbid, int status = 0) {
    CUstream none = nullptr;
    return told_of(cbid, none, status);
  }

  noting_gate gate;
};

CUstream stream_numbered(std::uintptr_t number) {
  return reinterpret_cast<CUstream>(number);
}

}  // namespace

TEST_CASE("the gate encloses all launches, graphs too, whether they are recorded or not") {
  gated_scene s;
  CHECK(s.told_of(launch_kernel) == events{"launch", "|", "launched"});
  CHECK(s.told_of(graph_launch) == events{"launch", "|", "launched"});
  CHECK(s.gate.same_call);
  CHECK_FALSE(s.gate.wanted_record);
  auto const notes = s.record([&] { s.whole(launch_kernel, 5); });
  CHECK(s.gate.take() == events{"launch", "launched"});
  CHECK(s.gate.wanted_record);
  CHECK(notes.size() == 1);
}

TEST_CASE("copies and other work of streams go through the gate, with their stream") {
  gated_scene s;
  cuMemcpyHtoDAsync_v2_params copy{};
  copy.hStream = stream_numbered(16);
  CHECK(s.told_of(copy_call, copy) == events{"work 16", "|", "worked"});
  cuStreamWaitEvent_params wait{};
  wait.hStream = stream_numbered(32);
  CHECK(s.told_of(CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent, wait) ==
        events{"work 32", "|", "worked"});
  CHECK(s.told_of(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2) == events{"work 0", "|", "worked"});
  cuMemPrefetchAsync_params prefetch{};
  prefetch.hStream = stream_numbered(48);
  CHECK(s.told_of(CUPTI_DRIVER_TRACE_CBID_cuMemPrefetchAsync, prefetch) ==
        events{"work 48", "|", "worked"});
}

TEST_CASE("a copy is still noted inside the gate") {
  gated_scene s;
  auto const notes = s.record([&] {
    CUstream none[8] = {};
    (void)s.told_of(copy_call, none);
  });
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].flags == launch_is_copy);
}

TEST_CASE(
    "a stream capture is reported with its stream: before it begins, and after it has ended") {
  gated_scene s;
  constexpr auto begin = CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2;
  constexpr auto end = CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture;
  auto stream = stream_numbered(16);
  CHECK(s.told_of(begin, stream) == events{"capture 16", "|"});
  CHECK(s.told_of(end, stream) == events{"|", "captured 16"});
  // It did not begin.
  CHECK(s.told_of(begin, stream, 1) == events{"capture 16", "|", "captured 16"});
  // It was not to be ended like that, but it is over.
  CHECK(s.told_of(end, stream, 1) == events{"|", "captured 16"});
}

TEST_CASE("the end of a stream is reported before it is destroyed") {
  gated_scene s;
  auto stream = stream_numbered(48);
  CHECK(s.told_of(CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy_v2, stream) ==
        events{"stream ends 48", "|"});
}

TEST_CASE("waits are reported after they end, and a wait for the whole context as such") {
  gated_scene s;
  CHECK(s.told_of(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize) == events{"|", "waited", "moment"});
  CHECK(s.told_of(CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize) == events{"|", "moment"});
  CHECK(s.told_of(CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize) == events{"|", "moment"});
}

TEST_CASE("the gate learns of created and destroyed contexts, but not of modules") {
  gated_scene s;
  auto const context = reinterpret_cast<CUcontext>(std::uintptr_t{64});
  for (auto const id :
       {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
        CUPTI_CBID_RESOURCE_MODULE_LOADED, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED}) {
    CUpti_ResourceData data{};
    data.context = context;
    launch_callbacks::entry(&s.callbacks, CUPTI_CB_DOMAIN_RESOURCE,
                            static_cast<CUpti_CallbackId>(id), &data);
  }
  CHECK(s.gate.take() == events{"made 64", "gone 64"});
}

TEST_CASE(
    "the gate learns of the end of a context and of a changed graph around or before the call") {
  gated_scene s;
  CHECK(s.told_of(CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2) ==
        events{"ending", "|", "ended"});
  CHECK(s.told_of(CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2) == events{"graph changes", "|"});
  cuGraphExecDestroy_params graph{reinterpret_cast<CUgraphExec>(std::uintptr_t{64})};
  CHECK(s.told_of(CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy, graph) ==
        events{"graph ends64", "|"});
  CHECK(s.told_of(CUPTI_DRIVER_TRACE_CBID_cuModuleUnload) ==
        events{"code unloads", "|", "code unloads"});
}

TEST_CASE("both ends of a context's release are reported, or neither") {
  gated_scene s;
  int endings = 0, ended = 0;
  for (int i = 0; i < 10; ++i) {
    auto const told = s.told_of(CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2);
    endings += static_cast<int>(std::count(told.begin(), told.end(), "ending"));
    ended += static_cast<int>(std::count(told.begin(), told.end(), "ended"));
  }
  CHECK(endings == 10);  // nothing was heard of who retains it
  CHECK(ended == 10);
}

TEST_CASE("a launch that the gate marks as a pattern is written as one") {
  gated_scene s;
  s.gate.remark = {.is = launch_remark::kind::pattern, .arguments = 7, .ran_from{}, .ran_to{}};
  auto const notes = s.record([&] { s.whole(launch_kernel, 1); });
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].flags == launch_is_pattern);
}
