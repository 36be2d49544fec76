// SPDX-License-Identifier: Apache-2.0
#include "host/export/chrome/gpu_events.hpp"

#include "host/analysis/api_summary.hpp"
#include "host/analysis/memory_summary.hpp"
#include "host/analysis/samples.hpp"
#include "host/reading/time_merge.hpp"

#include <cmath>

namespace gpuprof::host::chrome {
namespace {

// HolisticTraceAnalysis matches these names.
constexpr std::string_view launches = "cudaLaunchKernel";

template <class Row, class Take>
void each(capture::reader& file, Take take) {
  file.for_each<Row>([&](std::span<Row const> rows) {
    for (auto const& row : rows) take(row);
  });
}

}  // namespace

launch_readings::launch_readings(export_job& job, event_writer& to, quoted_names& names,
                                 cpu_rows& rows)
    : job_(job), to_(to), names_(names), rows_(rows) {
  auto& file = job.trace.file();
  if (file.row_count<reading_value_record>() == 0) return;
  auto& metrics = metrics_.emplace();
  each<metric_record>(file,
                      [&](auto const& row) { metrics.define(row, job.names.text(row.name)); });
  each<read_launch_record>(file, [&](auto const& row) { metrics.add(row); });
  each<reading_value_record>(file, [&](auto const& row) { metrics.add(row); });
  auto const see = [&](auto const& row) { metrics.see(row); };
  each<kernel_record>(file, see);
  each<graph_record>(file, see);
  each<copy_record>(file, see);
  each<memset_record>(file, see);
  metrics.join();
}

bool launch_readings::awaits(api_record const& call) {
  if (!any() || call.domain != api_domain::runtime) return false;
  auto const [at, is_new] = is_launch_.try_emplace(call.name);
  if (is_new) at->second = job_.names.text(call.name).starts_with(launches);
  return at->second;
}

std::string const& launch_readings::values_of(workload_id const& workload) {
  auto const [at, is_new] = values_.try_emplace(workload);
  if (!is_new) return at->second;
  for (auto const& name : metrics_->names()) {
    auto const* const mean = metrics_->find(workload, name);
    if (mean == nullptr || mean->count() == 0 || !std::isfinite(mean->mean())) continue;
    at->second += fmt::format("{}{}:{}", at->second.empty() ? "" : ",", quoted(name), mean->mean());
  }
  return at->second;
}

/// Returns the name of the range in which it was launched. Readers look for PyTorch's operators
/// there.
std::string launch_readings::operation_of(kernel_record const& kernel) {
  auto const range = job_.trace.launched(range_scope::process).innermost(kernel);
  if (range == no_range) return quoted(job_.names.kernel_of(kernel.shape).base);
  auto const name = job_.trace.ranges()[range].name;
  auto const& known = names_.of_operator(name);
  return known.empty() ? names_.of(name) : known;
}

void launch_readings::write(launch_calls::call const& call, kernel_record const& kernel) {
  write(call, operation_of(kernel), quoted(job_.names.kernel_of(kernel.shape).demangled),
        values_of({kernel.device, kernel.shape, {}}));
}

void launch_readings::write(launch_calls::call const& call) {
  auto const name = quoted("a launch whose kernel is not recorded");
  write(call, name, name, {});
}

void launch_readings::write(launch_calls::call const& call, std::string_view operation,
                            std::string_view name, std::string_view values) {
  track const thread{rows_.process(), call.row};
  append(to_.begin_slice({"cpu_op", operation, thread, {call.start}, call.length}),
         R"("made by gpuprof":"for the counters of this launch")");
  to_.end_slice();
  auto const beside =
      rows_.beside(call.row, further_use::readings, {call.start}, {call.start + call.length});
  append(to_.begin_slice({"cuda_profiler_range", name, beside, {call.start}, call.length}), values);
  to_.end_slice();
}

namespace {

// Work may seem to begin before the call that launched it: clocks of GPU and host differ by
// microseconds.
constexpr duration_ns calls_ahead{100'000'000};
// Length in ns of a call whose times were not recorded. Readers that round to microseconds need at
// least one.
constexpr std::int64_t made_call_ns = 1000;
constexpr std::string_view kernel_launch = R"("cudaLaunchKernel")";
constexpr std::uint32_t threads_of_a_warp = 32;

std::string_view direction(copy_kind kind) noexcept {
  constexpr std::string_view words[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                        "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
  auto const at = static_cast<std::size_t>(kind);
  return words[at < std::size(words) ? at : 0];
}

std::string_view wait_name(std::uint8_t type) noexcept {
  constexpr std::string_view words[] = {"Sync", "Event Sync", "Stream Wait Event", "Stream Sync",
                                        "Context Sync"};
  return words[type < std::size(words) ? type : 0];
}

/// Bytes per nanosecond equal GB/s.
void append_bytes(std::string& out, std::uint64_t bytes, std::uint64_t length) {
  if (bytes == 0) return;  // not known
  fmt::format_to(std::back_inserter(out), FMT_COMPILE(",\"bytes\":{}"), bytes);
  if (length != 0)
    fmt::format_to(std::back_inserter(out), FMT_COMPILE(",\"memory bandwidth (GB/s)\":{}"),
                   static_cast<double>(bytes) / static_cast<double>(length));
}

void append_graph(std::string& out, graph_id graph, graph_node_id node) {
  if (raw(graph) == 0) return;
  text_buffer number;
  append_whole(number, raw(node));
  fmt::format_to(std::back_inserter(out), FMT_COMPILE(R"(,"graph id":{},"graph node id":{})"),
                 raw(graph), std::string_view(number.data(), number.size()));
}

void append_time_of(std::string& out, correlation_id launch) {
  if (raw(launch) != 0)
    fmt::format_to(std::back_inserter(out), FMT_COMPILE(R"(,"length is that of correlation":{})"),
                   raw(launch));
}

std::string facts_of(kernel_shape const& shape, std::uint32_t processors) {
  if (!shape.has_geometry()) return {};
  std::string facts;
  if (shape.registers_per_thread != 0)
    facts += fmt::format(R"(,"registers per thread":{})", shape.registers_per_thread);
  if (shape.has_shared_bytes())
    facts += fmt::format(R"(,"shared memory":{})",
                         std::uint64_t{shape.static_shared_bytes} + shape.dynamic_shared_bytes);
  if (processors != 0) {
    auto const blocks =
        static_cast<double>(shape.grid.x) * shape.grid.y * shape.grid.z / processors;
    auto const threads = static_cast<double>(shape.block.x) * shape.block.y * shape.block.z;
    facts += fmt::format(R"(,"blocks per SM":{},"warps per SM":{})", blocks,
                         blocks * threads / threads_of_a_warp);
  }
  return facts + fmt::format(R"(,"grid":[{},{},{}],"block":[{},{},{}])", shape.grid.x, shape.grid.y,
                             shape.grid.z, shape.block.x, shape.block.y, shape.block.z);
}

}  // namespace

gpu_events::gpu_events(export_job& job, event_writer& to, quoted_names& names, cpu_rows& cpu,
                       gpu_rows& gpu)
    : job_(job),
      to_(to),
      cpu_(cpu),
      gpu_(gpu),
      names_(names),
      call_rows_(cpu),
      recorded_(ids_of_calls(job.trace.file())),
      readings_(job, to, names, cpu),
      annotations_(job.trace) {
  if (job.trace.file().row_count<api_record>() != 0)
    ordered_calls_.emplace(
        job.trace.file(),
        capture::only(&api_record::start, &api_record::duration, &api_record::domain,
                      &api_record::name, &api_record::os_thread, &api_record::correlation));
  for (auto const& device : job.trace.devices()) processors_[device.device] = device.sm_count;
  job.trace.file().for_each<context_record>([&](std::span<context_record const> contexts) {
    for (auto const& context : contexts) devices_[context.context] = context.device;
  });
}

void gpu_events::write() {
  for_each_in_time<kernel_record, graph_record, copy_record, memset_record, sync_record>(
      job_.trace.file(), [&](auto const& row) {
        if (ordered_calls_) see_calls_until(row.start + calls_ahead);
        take(row);
        job_.advance(1);
      });
  if (ordered_calls_) see_calls_until({~std::uint64_t{0}});
  calls_.each_that_awaits([&](auto const& call) { readings_.write(call); });
  annotations_.write(to_, names_, gpu_);
}

launch_calls::call& gpu_events::remember(correlation_id correlation, track row, timestamp_ns start,
                                         std::uint64_t length, bool awaits_reading) {
  return calls_.add(correlation, row, start, length, awaits_reading,
                    [&](auto const& older) { readings_.write(older); });
}

void gpu_events::see_calls_until(timestamp_ns moment) {
  for (auto const* call = ordered_calls_->peek(); call != nullptr && call->start <= moment;
       call = ordered_calls_->peek()) {
    auto const place = call_rows_.place_of(*call);
    if (place.is_outermost)
      remember(call->correlation, place.at, call->start, nanoseconds(call->duration),
               readings_.awaits(*call));
    ordered_calls_->next();
  }
}

/// If the call was not recorded, creates one from what is known of the launch.
template <class Work>
launch_calls::call* gpu_events::launch_of(Work const& work, std::string_view function) {
  if (auto* known = calls_.find(work.correlation)) return known;
  if (work.launched.value == 0 || recorded_.contains(work.correlation)) return nullptr;
  auto const thread = cpu_.system_thread(work.thread);
  auto const end = work.launched + duration_ns{made_call_ns};
  // Puts it beside recorded calls, which it might partly overlap.
  auto const at = has_calls() ? cpu_.beside(thread, further_use::launches, work.launched, end)
                              : cpu_.of_launch(thread, work.launched, end);
  auto& out = to_.begin_slice({"cuda_runtime", function, at, work.launched, made_call_ns});
  fmt::format_to(
      std::back_inserter(out),
      FMT_COMPILE(R"("correlation":{},"made by gpuprof":"of a launch whose call was not )"
                  R"(recorded: neither its name nor its length is known")"),
      raw(work.correlation));
  if (at.thread != thread)
    fmt::format_to(std::back_inserter(out), FMT_COMPILE(",\"thread\":{}"), thread);
  to_.end_slice();
  ++calls_made_;
  return &remember(work.correlation, at, work.launched, made_call_ns,
                   readings_.any() && function == kernel_launch);
}

/// Callbacks and records of calls differ by some hundred nanoseconds. An import of the trace takes
/// the time of the callback, as in the capture.
template <class Work>
void gpu_events::append_launch(text_buffer& out, Work const& work, launch_calls::call const* call) {
  if (work.launched.value == 0 || (call != nullptr && call->start == work.launched.value)) return;
  auto const thread = cpu_.system_thread(work.thread);
  if (thread == 0) return;
  auto const at = to_.since_base(work.launched);
  fmt::format_to(std::back_inserter(out), FMT_COMPILE(R"(,"launched":{}.{:03},"thread":{})"),
                 at / 1000, at % 1000, thread);
}

template <class Work>
void gpu_events::write_work(std::string_view category, std::string_view name, Work const& work,
                            std::string_view function, std::string_view facts) {
  auto const length = nanoseconds(work.duration);
  auto const at = gpu_.row_for(work.device, work.stream, row_use::work, work.start, length);
  annotations_.see(work, at);
  auto* const call = launch_of(work, function);
  auto& out = to_.begin_slice({category, name, at, work.start, length});
  fmt::format_to(std::back_inserter(out),
                 FMT_COMPILE(R"("device":{},"context":{},"stream":{},"correlation":{})"),
                 raw(work.device), raw(work.context), raw(work.stream), raw(work.correlation));
  append(out, facts);
  append_launch(out, work, call);
  to_.end_slice();
  point(call, at, work.start, length);
  if constexpr (std::is_same_v<Work, kernel_record>)
    if (call != nullptr && std::exchange(call->awaits_reading, false)) readings_.write(*call, work);
}

void gpu_events::take(kernel_record const& kernel) {
  auto const& text = kernel_text_of(kernel.shape, kernel.device);
  auto const is_plain = raw(kernel.graph) == 0 && raw(kernel.time_of) == 0;
  if (is_plain) return write_work("kernel", text.name, kernel, kernel_launch, text.facts);
  facts_ = text.facts;
  append_graph(facts_, kernel.graph, kernel.node);
  append_time_of(facts_, kernel.time_of);
  write_work("kernel", text.name, kernel,
             raw(kernel.graph) != 0 ? R"("cudaGraphLaunch")" : kernel_launch, facts_);
}

void gpu_events::take(graph_record const& graph) {
  facts_ = fmt::format(R"(,"graph id":{})", raw(graph.graph));
  write_work("gpu_graph", fmt::format("\"CUDA graph {}\"", raw(graph.graph)), graph,
             R"("cudaGraphLaunch")", facts_);
}

void gpu_events::take(copy_record const& copy) {
  facts_.clear();
  append_bytes(facts_, copy.bytes, nanoseconds(copy.duration));
  if (copy.batch != 0) facts_ += fmt::format(R"(,"copies":{})", copy.batch);
  if (copy.kind == copy_kind::peer_to_peer)
    facts_ += fmt::format(R"(,"fromDevice":{},"toDevice":{})", raw(copy.source_device),
                          raw(copy.destination_device));
  append_graph(facts_, copy.graph, copy.node);
  append_time_of(facts_, copy.time_of);
  auto const name = fmt::format("\"Memcpy {} ({} -> {})\"", direction(copy.kind),
                                text_of(copy.source_kind), text_of(copy.destination_kind));
  auto const function = raw(copy.graph) != 0 ? R"("cudaGraphLaunch")"
                        : copy.asynchronous  ? R"("cudaMemcpyAsync")"
                                             : R"("cudaMemcpy")";
  write_work("gpu_memcpy", name, copy, function, facts_);
}

void gpu_events::take(memset_record const& fill) {
  facts_.clear();
  append_bytes(facts_, fill.bytes, nanoseconds(fill.duration));
  append_graph(facts_, fill.graph, fill.node);
  append_time_of(facts_, fill.time_of);
  auto const function = raw(fill.graph) != 0 ? R"("cudaGraphLaunch")"
                        : fill.asynchronous  ? R"("cudaMemsetAsync")"
                                             : R"("cudaMemset")";
  write_work("gpu_memset", fmt::format("\"Memset ({})\"", text_of(fill.kind)), fill, function,
             facts_);
}

void gpu_events::take(sync_record const& wait) {
  auto const device = device_of(wait.context);
  auto const length = nanoseconds(wait.duration);
  auto const of_context = wait.type == 4;
  auto const at = of_context
                      ? gpu_.row_for_context(device, wait.context, wait.start, length)
                      : gpu_.row_for(device, wait.stream, row_use::waits, wait.start, length);
  auto const name = wait_name(wait.type);
  auto& out = to_.begin_slice({"cuda_sync", quoted(name), at, wait.start, length});
  fmt::format_to(std::back_inserter(out),
                 FMT_COMPILE(R"("cuda_sync_kind":"{}","stream":{},"correlation":{},"device":{},)"
                             R"("context":{})"),
                 name, of_context ? -1 : static_cast<std::int64_t>(raw(wait.stream)),
                 raw(wait.correlation), raw(device), raw(wait.context));
  to_.end_slice();
  point(calls_.find(wait.correlation), at, wait.start, length);
}

void gpu_events::point(launch_calls::call* call, track to, timestamp_ns start,
                       std::uint64_t length) {
  // An arrow ends at the slice that is open at its time. A slice without length is never open.
  if (call == nullptr || length == 0) return;
  if (!std::exchange(call->has_arrow, true))
    to_.begin_arrow(call->correlation, {cpu_.process(), call->row}, {call->start});
  to_.end_arrow(call->correlation, to, start);
}

gpu_events::kernel_text const& gpu_events::kernel_text_of(shape_id shape, device_id device) {
  auto& known = texts_[device];
  // A damaged capture may contain any number here.
  auto const at = std::size_t{raw(job_.names.shape(shape).id)};
  if (known.size() <= at) known.resize(at + 1);
  auto& text = known[at];
  if (!text)
    text = kernel_text{
        kernel_name(shape),
        at == 0 ? std::string() : facts_of(job_.names.shape(shape), processors_[device])};
  return *text;
}

std::string_view gpu_events::kernel_name(shape_id shape) {
  auto const& kernel = job_.names.kernel_of(shape);
  auto const [at, is_new] = kernel_names_.try_emplace(kernel.id);
  if (is_new) at->second = quoted(kernel.demangled);
  return at->second;
}

device_id gpu_events::device_of(context_id context) const {
  auto const known = devices_.find(context);
  return known != devices_.end() ? known->second : device_id{};
}

}  // namespace gpuprof::host::chrome
