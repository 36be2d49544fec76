// SPDX-License-Identifier: Apache-2.0
#include "made_program.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace gpuprof {
namespace {

constexpr std::uint32_t os_thread = 6100, first_stream = 7;
constexpr std::uint64_t allocated_address = 0x7f0000000000;

std::uint64_t at_rate(std::uint64_t bytes, double bytes_per_ns) {
  return 1'500 + static_cast<std::uint64_t>(static_cast<double>(bytes) / bytes_per_ns);
}

/// Nothing: programs call the driver's themselves.
std::string_view runtime_name_of(std::string_view function) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"cuCtxSynchronize", "cudaDeviceSynchronize_v3020"},
      {"cuStreamSynchronize", "cudaStreamSynchronize_v3020"},
      {"cuStreamWaitEvent", "cudaStreamWaitEvent_v3020"},
      {"cuMemAlloc_v2", "cudaMalloc_v3020"},
      {"cuMemFree_v2", "cudaFree_v3020"},
      {"cuLaunchKernel", "cudaLaunchKernel_v7000"},
      {"cuGraphLaunch", "cudaGraphLaunch_v10000"},
      {"cuMemcpyHtoD_v2", "cudaMemcpy_v3020"},
      {"cuMemcpyDtoH_v2", "cudaMemcpy_v3020"},
      {"cuMemcpyHtoDAsync_v2", "cudaMemcpyAsync_v3020"},
      {"cuMemcpyDtoHAsync_v2", "cudaMemcpyAsync_v3020"}};
  for (auto const& [driver, runtime] : names)
    if (driver == function) return runtime;
  return {};
}

}  // namespace

made_program::made_program(std::string const& path, recorded_calls recorded)
    : out_(path), recorded_(recorded) {
  out_.describe(std::to_string(os_thread));
  out_.fact("trace.api", recorded.launches_too ? "all" : "blocking");
  peaks();
}

made_program::~made_program() {
  auto const end = std::max(now_, device_free_);
  out_.window(opened_, end);
  known("window_ns", end - opened_);
  known("gpu_busy_ns", busy());
  known("steps", step_count_);
  known("recording_ns", recording_);
}

/// The union of all that ran in the window.
std::uint64_t made_program::busy() {
  std::sort(ran_.begin(), ran_.end());
  std::uint64_t sum = 0, until = opened_;
  for (auto const& [from, to] : ran_) {
    if (to <= until) continue;
    sum += to - std::max(from, until);
    until = to;
  }
  return sum;
}

void made_program::peaks() {
  auto const add = [this](char const* test, char const* group, char const* unit, double value) {
    out_.add(peak_record{.test = out_.name(test),
                         .group = out_.name(group),
                         .title = out_.name(test),
                         .unit = out_.name(unit),
                         .clock = {},
                         .burst = value,
                         .method = {},
                         .operands = {},
                         .measured_at = out_.name("2026-03-01T12:00:00Z"),
                         .remark = {}});
  };
  add("launch_latency", "latency", "s", made_costs::launch_latency * 1e-9);
  add("launch_throughput", "latency", "s", made_costs::launch_call * 1e-9);
  add("graph_node", "latency", "s", made_costs::graph_node * 1e-9);
  add("synchronize", "latency", "s", 7.7e-6);
  add("h2d", "links", "B/s", made_costs::h2d * 1e9);
  add("d2h", "links", "B/s", made_costs::d2h * 1e9);
  add("h2d_pageable", "links", "B/s", made_costs::h2d_pageable * 1e9);
  add("d2h_pageable", "links", "B/s", 18e9);
  add("fp32", "cuda_cores", "FLOP/s", 66.3e12);
  add("tensor_tf32", "tensor_cores", "FLOP/s", 480e12);
  add("tensor_bf16", "tensor_cores", "FLOP/s", 960e12);
  add("dram_read", "memory", "B/s", 4.7e12);
  add("dram_write", "memory", "B/s", 4.69e12);
  add("dram_copy", "memory", "B/s", 4.25e12);
}

correlation_id made_program::record_call(std::string_view function, std::uint64_t start,
                                         bool blocking) {
  auto const correlation = static_cast<correlation_id>(++correlations_);
  if (!blocking && !recorded_.launches_too) return correlation;
  auto const add = [&](api_domain domain, std::string_view name, std::uint64_t margin) {
    out_.add(api_record{.start = at(start + margin),
                        .duration = {static_cast<std::int64_t>(now_ - start - 2 * margin)},
                        .domain = domain,
                        .name = out_.name(name),
                        .os_thread = os_thread,
                        .correlation = correlation});
  };
  auto const runtime_name = recorded_.by_runtime ? runtime_name_of(function) : std::string_view();
  if (!runtime_name.empty()) add(api_domain::runtime, runtime_name, 0);
  if (recorded_.by_driver || runtime_name.empty())
    add(api_domain::driver, function, runtime_name.empty() ? 0 : 100);
  return correlation;
}

void made_program::call(std::string_view function, std::uint64_t length) {
  auto const start = now_;
  now_ += length;
  record_call(function, start);
}

void made_program::synchronize(std::uint32_t stream) {
  auto const start = now_;
  auto const done = stream == 0 ? device_free_ : free_[stream];
  now_ = std::max(now_ + 1'000, done + made_costs::wake_up);
  auto const correlation =
      record_call(stream == 0 ? "cuCtxSynchronize" : "cuStreamSynchronize", start);
  out_.add(sync_record{.start = at(start + 200),
                       .duration = {static_cast<std::int64_t>(now_ - start - 400)},
                       .type = static_cast<std::uint8_t>(stream == 0 ? 4 : 3),
                       .context = context_id{1},
                       .stream = static_cast<stream_id>(stream),
                       .correlation = correlation});
}

void made_program::allocation(memory_operation operation, std::uint64_t bytes,
                              correlation_id correlation) {
  out_.add(memory_record{.time = at(now_),
                         .operation = operation,
                         .kind = memory_kind::device,
                         .address = allocated_address,
                         .bytes = bytes,
                         .context = context_id{1},
                         .correlation = correlation});
}

void made_program::allocate(std::uint64_t bytes, std::uint64_t length, std::uint64_t held) {
  auto const start = now_;
  now_ += length;
  recording(held);
  allocation(memory_operation::allocate, bytes, record_call("cuMemAlloc_v2", start));
}

void made_program::release(std::uint64_t bytes, std::uint64_t length) {
  auto const start = now_;
  now_ = std::max(now_, device_free_ + made_costs::wake_up) + length;
  allocation(memory_operation::release, bytes, record_call("cuMemFree_v2", start));
}

std::uint64_t made_program::start_of(std::uint32_t stream, std::uint64_t between) {
  auto const& free = free_[stream];
  return std::max(now_ + made_costs::launch_latency, free == 0 ? 0 : free + between);
}

void made_program::ran(std::uint64_t start, std::uint64_t length, std::uint32_t stream) {
  idle_before_ = start > device_free_ ? start - device_free_ : 0;
  ran_.emplace_back(start, start + length);
  free_[stream] = start + length;
  device_free_ = std::max(device_free_, start + length);
  queued_.push_back(start);
  if (queued_.size() <= made_costs::queue) return;
  now_ = std::max(now_, queued_.front());  // the queue is full: the launch waits
  queued_.pop_front();
}

void made_program::kernel(shape_id shape, std::uint64_t length, std::uint32_t stream) {
  auto const launched = now_;
  auto const start = start_of(stream, made_costs::between);
  auto row = out_.kernel(shape, start, static_cast<std::int64_t>(length));
  row.launched = at(launched);
  row.stream = static_cast<stream_id>(stream);
  row.range = innermost();
  now_ += made_costs::launch_call;
  ran(start, length, stream);
  row.correlation = record_call("cuLaunchKernel", launched, false);
  out_.add(row);
}

void made_program::graph(shape_id shape, std::uint64_t length, unsigned nodes,
                         std::uint32_t stream) {
  auto const launched = now_;
  now_ += 3 * made_costs::launch_call;
  auto start = start_of(stream, made_costs::between);
  auto const correlation = record_call("cuGraphLaunch", launched, false);
  for (unsigned i = 0; i < nodes; ++i) {
    auto row = out_.kernel(shape, start, static_cast<std::int64_t>(length));
    row.launched = at(launched);
    row.stream = static_cast<stream_id>(stream);
    row.range = innermost();
    row.correlation = correlation;
    row.graph = static_cast<graph_id>(1);
    row.node = static_cast<graph_node_id>(i + 1);
    ran(start, length, stream);
    out_.add(row);
    start += length + made_costs::graph_node;
  }
}

void made_program::copy(std::uint64_t start, std::uint64_t length, std::uint64_t launched,
                        std::uint64_t bytes, copy_kind kind, memory_kind host, std::uint32_t stream,
                        correlation_id correlation, bool asynchronous) {
  copy_record row;
  row.start = at(start);
  row.duration = {static_cast<std::int64_t>(length)};
  row.launched = at(launched);
  row.bytes = bytes;
  row.kind = kind;
  auto const up = kind == copy_kind::host_to_device;
  row.source_kind = up ? host : memory_kind::device;
  row.destination_kind = up ? memory_kind::device : host;
  row.asynchronous = asynchronous;
  row.context = context_id{1};
  row.stream = static_cast<stream_id>(stream);
  row.correlation = correlation;
  row.thread = static_cast<thread_index>(1);
  row.range = innermost();
  out_.add(row);
}

void made_program::upload(std::uint64_t bytes, memory_kind host, std::uint32_t stream) {
  auto const launched = now_;
  auto const pinned = host == memory_kind::pinned;
  auto const start = start_of(stream, made_costs::between);
  auto const length = at_rate(bytes, pinned ? made_costs::h2d : made_costs::h2d_pageable);
  now_ = pinned ? now_ + made_costs::launch_call : start + length + made_costs::wake_up;
  ran(start, length, stream);
  auto const correlation =
      record_call(pinned ? "cuMemcpyHtoDAsync_v2" : "cuMemcpyHtoD_v2", launched, !pinned);
  copy(start, length, launched, bytes, copy_kind::host_to_device, host, stream, correlation,
       pinned);
}

void made_program::download(std::uint64_t bytes, std::uint32_t stream) {
  auto const launched = now_;
  auto const start = start_of(stream, made_costs::between);
  auto const length = at_rate(bytes, made_costs::d2h);
  now_ = start + length + made_costs::wake_up;
  ran(start, length, stream);
  auto const correlation = record_call("cuMemcpyDtoH_v2", launched);
  copy(start, length, launched, bytes, copy_kind::device_to_host, memory_kind::pageable, stream,
       correlation, false);
}

void made_program::download_and_wait(std::uint64_t bytes, std::uint32_t stream) {
  auto const launched = now_;
  auto const start = start_of(stream, made_costs::before_copy);
  auto const length = at_rate(bytes, made_costs::d2h);
  now_ = start + length + made_costs::wake_up;
  ran(start, length, stream);
  auto const correlation = record_call("cuMemcpyDtoHAsync_v2", launched, false);
  copy(start, length, launched, bytes, copy_kind::device_to_host, memory_kind::pageable, stream,
       correlation, true);
  synchronize(stream);
}

void made_program::wait_until(std::uint32_t stream, std::uint64_t time) {
  auto const start = now_;
  now_ += 1'000;
  free_[stream] = std::max(free_[stream], time);
  auto const correlation = record_call("cuStreamWaitEvent", start, false);
  out_.add(sync_record{.start = at(start + 200),
                       .duration = {600},
                       .type = 2,
                       .context = context_id{1},
                       .stream = static_cast<stream_id>(stream),
                       .event = 1,
                       .correlation = correlation});
}

void made_program::join_streams() {
  for (auto& [stream, free] : free_) free = device_free_;
  free_[first_stream] = device_free_;
}

void made_program::begin(std::string_view range) {
  open_.push_back(out_.begin(range, now_, innermost()));
  now_ += 100;
}

void made_program::end() {
  out_.end(open_.back(), now_);
  open_.pop_back();
  now_ += 100;
}

void made_program::known(std::string_view name, std::uint64_t value) {
  std::printf("%.*s %" PRIu64 "\n", static_cast<int>(name.size()), name.data(), value);
}

}  // namespace gpuprof
