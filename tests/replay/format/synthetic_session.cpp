// SPDX-License-Identifier: Apache-2.0
#include "replay/format/synthetic_session.hpp"

#include <cupti.h>
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

namespace gpuprof::replay {
namespace {

constexpr std::uint64_t first_moment = 1'700'000'000'000'000'000;
constexpr std::uint64_t call_ns = 3000;

class maker {
 public:
  explicit maker(synthetic_plan const& plan) : plan_(plan) {}

  recording make() {
    write_facts();
    auto const threads = plan_.threads + (plan_.captures != 0 ? 1 : 0);
    for (unsigned t = 0; t < threads; ++t) r_.threads.push_back({1000 + t, 0});
    begin_program();
    for (unsigned t = 0; t < plan_.threads; ++t) play_thread(t);
    play_captures(plan_.threads);
    std::stable_sort(r_.events.begin(), r_.events.end(),
                     [](event const& a, event const& b) { return a.time < b.time; });
    return std::move(r_);
  }

 private:
  void write_facts() {
    r_.facts = {{"synthetic", "made up for unit tests; nothing in it was measured"},
                {"program", "synthetic"},
                {"host", "synthetic"},
                {"cupti_version", "130001"},
                {"cuda_version", "13000"},
                {"driver_version", "000.00"},
                {"device_count", "1"},
                {"device.0.name", "Synthetic GPU"},
                {"device.0.chip", "GH100"},
                {"device.0.uuid", "GPU-00000000-0000-0000-0000-000000000001"},
                {"device.0.pci_bus", "0000:01:00.0"},
                {"device.0.compute_major", "9"},
                {"device.0.compute_minor", "0"},
                {"device.0.sm_count", "10"},
                {"device.0.max_sm_clock_khz", "1000000"},
                {"device.0.max_memory_clock_khz", "1000000"},
                {"device.0.memory_bus_bits", "1024"},
                {"device.0.memory_bytes", "1073741824"},
                {"device.0.l2_bytes", "1048576"}};
  }

  event& add(unsigned thread, std::uint64_t time, event_kind kind, std::uint32_t code) {
    auto& e = r_.events.emplace_back();
    e.time = time;
    e.thread = thread;
    e.kind = kind;
    e.code = code;
    return e;
  }

  void begin_program() {
    add(0, first_moment, event_kind::resource, CUPTI_CBID_RESOURCE_CONTEXT_CREATED).context = 1;
    auto& domain =
        add(0, first_moment + 1, event_kind::nvtx, nvtx_code(true, NVTX_CBID_CORE2_DomainCreateA));
    domain.object = 1;
    domain.text = strings_.of("synthetic");
    auto& text = add(0, first_moment + 2, event_kind::nvtx,
                     nvtx_code(true, NVTX_CBID_CORE2_DomainRegisterStringA));
    text.domain = 1;
    text.object = 1;
    text.text = strings_.of("launch");
  }

  void play_thread(unsigned thread) {
    auto now = first_moment + 10'000 + thread * 100;
    for (unsigned i = 0; i < plan_.launches_per_thread; ++i, now += plan_.step_ns) {
      if (thread == 0 && plan_.profiler_calls) profiler_call(now - 4000, i);
      if (thread == 0 && plan_.long_ns != 0 && i == plan_.launches_per_thread / 4)
        long_kernel(now - 4000);
      open_ranges(thread, now);
      kernel(thread, now + 500, i);
      close_ranges(thread, now + 500 + call_ns);
      if (plan_.waits)
        call(thread, now + 1000 + call_ns, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, "");
    }
    if (thread != 0) return;
    for (unsigned i = 0; i < plan_.collectives; ++i, now += plan_.step_ns) {
      launch(now, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "_Z17ncclDevKernel_Sumv");
    }
    for (unsigned i = 0; i < plan_.copies; ++i, now += plan_.step_ns) copy(now);
    for (unsigned i = 0; i < plan_.graph_launches; ++i, now += plan_.step_ns) graph(now);
    for (unsigned i = 0; i < plan_.cooperative; ++i, now += plan_.step_ns) {
      launch(now, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, "_Z8togetherPf");
    }
    if (plan_.captured > 0) {
      capture(0, now, plan_.captured);
      now += (plan_.captured + 2) * plan_.step_ns;
    }
    for (unsigned i = 0; i < plan_.churn; ++i, now += plan_.step_ns) come_and_go(now, i);
  }

  // Everything is new each time, its name included, and is destroyed.
  void come_and_go(std::uint64_t now, unsigned turn) {
    auto const context = 2 + turn;
    auto const number = std::to_string(turn);
    auto const kernel_name = "_Z" + std::to_string(4 + number.size()) + "made" + number + "Pf";
    auto const nvtx = [&](std::uint32_t what) -> event& {
      return add(0, now += 10, event_kind::nvtx, nvtx_code(true, what));
    };
    auto const resource = [&](auto what) {
      add(0, now += 10, event_kind::resource, what).context = context;
    };
    auto const called = [&](std::uint32_t what, char const* symbol) {
      auto const id = call(0, now += 10, what, symbol, context);
      now += call_ns;
      return id;
    };
    resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
    auto& domain = nvtx(NVTX_CBID_CORE2_DomainCreateA);
    domain.object = context;
    domain.text = strings_.of("domain " + number);
    auto& text = nvtx(NVTX_CBID_CORE2_DomainRegisterStringA);
    text.domain = text.object = context;
    text.text = strings_.of("text " + number);
    auto& range = nvtx(NVTX_CBID_CORE2_DomainRangePushEx);
    range.domain = range.registered = context;
    range.message_type = NVTX_MESSAGE_TYPE_REGISTERED;
    for (auto const what :
         {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch}) {
      auto const id =
          called(what, what == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel ? kernel_name.c_str() : "");
      auto const is_graph = what == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch;
      add_kernel(id, 7, {now + 100, plan_.kernel_ns}, kernel_name.c_str(), is_graph ? context : 0,
                 is_graph ? std::uint64_t{context} << 32 : 0, context);
    }
    nvtx(NVTX_CBID_CORE2_DomainRangePop).domain = context;
    called(CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy, "");
    called(CUPTI_DRIVER_TRACE_CBID_cuModuleUnload, "");
    nvtx(NVTX_CBID_CORE2_DomainDestroy).domain = context;
    resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  }

  void play_captures(unsigned thread) {
    constexpr unsigned launches = 5;
    auto now = first_moment + 10'000;
    for (unsigned i = 0; i < plan_.captures; ++i, now += 3 * launches * plan_.step_ns)
      capture(thread, now, launches);
  }

  void open_ranges(unsigned thread, std::uint64_t now) {
    auto& outer = add(thread, now, event_kind::nvtx, nvtx_code(false, NVTX_CBID_CORE_RangePushA));
    outer.text = strings_.of("step");
    auto& inner = add(thread, now + 100, event_kind::nvtx,
                      nvtx_code(true, NVTX_CBID_CORE2_DomainRangePushEx));
    inner.domain = 1;
    inner.message_type = NVTX_MESSAGE_TYPE_REGISTERED;
    inner.registered = 1;
    inner.color_type = NVTX_COLOR_ARGB;
    inner.color = 0xff00ff00;
    inner.payload_type = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    inner.payload_bits = 42;
  }

  void close_ranges(unsigned thread, std::uint64_t now) {
    add(thread, now, event_kind::nvtx, nvtx_code(true, NVTX_CBID_CORE2_DomainRangePop)).domain = 1;
    add(thread, now + 100, event_kind::nvtx, nvtx_code(false, NVTX_CBID_CORE_RangePop));
  }

  std::uint32_t call(unsigned thread, std::uint64_t now, std::uint32_t cbid, char const* symbol,
                     std::uint32_t context = 1) {
    auto const id = ++last_correlation_;
    for (auto const site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) {
      auto& e = add(thread, site == CUPTI_API_ENTER ? now : now + call_ns, event_kind::call, cbid);
      e.site = static_cast<std::uint32_t>(site);
      e.correlation = id;
      e.context = context;
      e.text = strings_.of(symbol);
    }
    return id;
  }

  void profiler_call(std::uint64_t now, unsigned launch) {
    if (launch == plan_.launches_per_thread / 4) {
      call(0, now, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, "");
    } else if (launch == plan_.launches_per_thread / 2) {
      call(0, now, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, "");
    }
  }

  void kernel(unsigned thread, std::uint64_t now, unsigned turn) {
    auto const is_product = plan_.products && turn % 4 == 3;
    char const* const name = is_product      ? "_Z9gemm_bf16Pfi"
                             : turn % 2 == 0 ? "_Z4evenPfi"
                                             : "_Z3oddPfi";
    auto const id = call(thread, now, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, name);
    // As REPLAY_ARGUMENTS chooses them: with as many values each goes with one length.
    auto const ns = std::uint64_t{plan_.kernel_ns} * (1 + id / 2 % plan_.lengths);
    add_kernel(id, thread + 7, {now + call_ns + 1000, ns}, name);
    api(thread, now, id);
  }

  void long_kernel(std::uint64_t now) {
    constexpr std::uint32_t own_stream = 99;
    char const* const name = "_Z10persistentPf";
    auto const id = call(0, now, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, name);
    add_kernel(id, own_stream, {now + call_ns + 1000, plan_.long_ns}, name);
  }

  void launch(std::uint64_t now, std::uint32_t cbid, char const* name) {
    add_kernel(call(0, now, cbid, name), 7, {now + call_ns + 1000, plan_.kernel_ns}, name);
  }

  void capture(unsigned thread, std::uint64_t now, unsigned launches) {
    call(thread, now, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, "");
    for (unsigned i = 0; i < launches; ++i) {
      now += plan_.step_ns;
      call(thread, now, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "_Z8capturedPf");
      add(thread, now + call_ns / 2, event_kind::resource, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
    }
    call(thread, now + plan_.step_ns, CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, "");
  }

  struct run {
    std::uint64_t start, ns;
  };
  void add_kernel(std::uint32_t correlation, std::uint32_t stream, run when, char const* name,
                  std::uint32_t graph = 0, std::uint64_t node = 0, std::uint32_t context = 1) {
    CUpti_ActivityKernel10 k{};
    k.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    k.registersPerThread = 32;
    k.start = when.start;
    k.end = when.start + when.ns;
    k.deviceId = 0;
    k.contextId = context;
    k.streamId = stream;
    k.gridX = 8;
    k.gridY = k.gridZ = 1;
    k.blockX = 128;
    k.blockY = k.blockZ = 1;
    k.correlationId = correlation;
    k.gridId = static_cast<std::int64_t>(r_.records.count()) + 1;
    k.name = reinterpret_cast<char const*>(std::uintptr_t{strings_.of(name)});
    k.graphId = graph;
    k.graphNodeId = node;
    r_.records.add(std::as_bytes(std::span(&k, 1)));
  }

  void api(unsigned thread, std::uint64_t now, std::uint32_t correlation) {
    CUpti_ActivityAPI a{};
    a.kind = CUPTI_ACTIVITY_KIND_DRIVER;
    a.cbid = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
    a.start = now - 100;
    a.end = now + call_ns + 100;
    a.processId = 1;
    a.threadId = 1000 + thread;
    a.correlationId = correlation;
    r_.records.add(std::as_bytes(std::span(&a, 1)));
  }

  void copy(std::uint64_t now) {
    CUpti_ActivityMemcpy6 c{};
    c.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    c.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    c.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
    c.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    c.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
    c.bytes = 4096;
    c.start = now + call_ns + 1000;
    c.end = c.start + 500;
    c.contextId = 1;
    c.streamId = 7;
    c.copyCount = 1;
    c.correlationId = call(0, now, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, "");
    r_.records.add(std::as_bytes(std::span(&c, 1)));
  }

  void graph(std::uint64_t now) {
    if (plan_.spread != 0) open_ranges(0, now - 500);
    auto const id = call(0, now, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, "");
    if (plan_.spread != 0) close_ranges(0, now + call_ns);
    auto start = now + call_ns + 1000;
    auto const of_launch = varied(plan_.kernel_ns, plan_.spread / 8);
    for (unsigned n = 0; n < plan_.graph_nodes; ++n) {
      auto const ns = varied(of_launch, plan_.spread);
      auto const name = plan_.spread == 0 ? "_Z4nodePf" : "_Z6node" + std::to_string(10 + n) + "Pf";
      add_kernel(id, 7, {start, ns}, name.c_str(), 1, (std::uint64_t{1} << 32) + n);
      start += ns + 100;
    }
  }

  /// Evenly distributed around `ns`.
  std::uint64_t varied(std::uint64_t ns, unsigned percent) {
    auto const width = static_cast<double>(ns) * percent / 50;
    return ns + static_cast<std::uint64_t>(width * (static_cast<double>(random_() % 1000) / 999)) -
           static_cast<std::uint64_t>(width / 2);
  }

  synthetic_plan const plan_;
  recording r_;
  string_index strings_{r_.strings};
  std::uint32_t last_correlation_ = 0;
  std::minstd_rand random_;
};

}  // namespace

recording make_synthetic_session(synthetic_plan const& plan) {
  return maker(plan).make();
}

}  // namespace gpuprof::replay
