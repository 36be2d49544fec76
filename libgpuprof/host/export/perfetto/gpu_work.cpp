// SPDX-License-Identifier: Apache-2.0
#include "host/export/perfetto/gpu_work.hpp"

#include "host/analysis/memory_summary.hpp"
#include "host/reading/time_merge.hpp"

#include <algorithm>

namespace gpuprof::host::perfetto {
namespace {

/// A copy's or fill's own, beside where it ran.
template <class Row>
void add_place(message<compute_launch>& launch, Row const& row) {
  add_argument(launch, compute_launch::args, argument::device, raw(row.device));
  add_argument(launch, compute_launch::args, argument::stream, raw(row.stream));
}

/// What graph made it, and which of its nodes.
void add_graph(message<render_stage>& event, graph_id graph, graph_node_id node) {
  if (raw(graph) == 0) return;
  auto const add = [&](char const* name, std::uint64_t value) {
    message<extra_data> one(event, render_stage::extra_data);
    one.add_string(extra_data::name, name);
    one.add_string(extra_data::value, std::to_string(value));
  };
  add("graph", raw(graph));
  add("graph_node", raw(node));
}

std::string arguments_of(copy_record const& copy) {
  std::string bytes;
  message<compute_launch> launch(bytes);
  add_place(launch, copy);
  auto const add = [&](argument name, auto const& value) {
    add_argument(launch, compute_launch::args, name, value);
  };
  add(argument::bytes, copy.bytes);
  add(argument::source_kind, text_of(copy.source_kind));
  add(argument::destination_kind, text_of(copy.destination_kind));
  if (copy.source_device != copy.destination_device) {
    add(argument::source_device, raw(copy.source_device));
    add(argument::destination_device, raw(copy.destination_device));
  }
  return bytes;
}

std::string arguments_of(memset_record const& fill) {
  std::string bytes;
  message<compute_launch> launch(bytes);
  add_place(launch, fill);
  add_argument(launch, compute_launch::args, argument::bytes, fill.bytes);
  add_argument(launch, compute_launch::args, argument::value, fill.value);
  add_argument(launch, compute_launch::args, argument::destination_kind, text_of(fill.kind));
  return bytes;
}

constexpr std::uint64_t launch_name = 1, launch_category = 1;

void add_name(message<interned_data>& to, interned_data field, std::uint64_t iid,
              char const* name) {
  message<interned_name> one(to, field);
  one.add_uint64(interned_name::iid, iid);
  one.add_string(interned_name::name, name);
}

}  // namespace

gpu_work::gpu_work(packet_file& file, export_job& job, tracks& of)
    : job_(job),
      stages_(file),
      names_(job, stages_, of.process_id()),
      marks_(file, job, of),
      readings_(file, job) {}

void gpu_work::write() {
  readings_.judge();
  row_progress progress(job_);
  for_each_in_time<kernel_record, copy_record, memset_record, graph_record>(job_.trace.file(),
                                                                            [&](auto const& row) {
                                                                              add(row);
                                                                              progress.one();
                                                                            });
}

template <class Row, class Fill>
void gpu_work::add_event(Row const& row, gpu_place const& place, std::uint64_t stage, Fill&& fill) {
  auto const id = ids_->next(row.correlation);
  stages_.add(row.start, [&](message<packet>& out) {
    message<render_stage> event(out, packet::gpu_render_stage_event);
    event.add_uint64(render_stage::event_id, id);
    event.add_uint64(render_stage::duration,
                     static_cast<std::uint64_t>(std::max(row.duration.value, std::int64_t{0})));
    event.add_int32(render_stage::gpu_id, static_cast<std::int32_t>(raw(row.device)));
    event.add_uint64(render_stage::context, place.context);
    event.add_uint64(render_stage::hw_queue_iid, place.queue);
    event.add_uint64(render_stage::stage_iid, stage);
    fill(event);
  });
  marks_.add(row, id);
  readings_.add(row);
}

template <class Row>
void gpu_work::add_plain(Row const& row, std::string const& name, std::int32_t category,
                         std::string const& arguments) {
  auto const& place = names_.place(row.device, row.context, row.stream);
  add_event(row, place, names_.stage(name, category), [&](message<render_stage>& event) {
    event.add_message(render_stage::launch, arguments);
    if constexpr (requires { row.node; }) add_graph(event, row.graph, row.node);
  });
}

void gpu_work::add(kernel_record const& kernel) {
  auto const& numbers = names_.of(kernel);
  add_event(kernel, numbers.place, numbers.stage, [&](message<render_stage>& event) {
    event.add_uint64(render_stage::kernel_iid, numbers.kernel);
    event.add_message(render_stage::launch, numbers.launch);
    add_graph(event, kernel.graph, kernel.node);
  });
}

void gpu_work::add(copy_record const& copy) {
  add_plain(copy, operation_of(copy.kind), category_other, arguments_of(copy));
}

void gpu_work::add(memset_record const& fill) {
  add_plain(fill, std::string(operation_of_memset), category_other, arguments_of(fill));
}

void gpu_work::add(graph_record const& graph) {
  std::string bytes;
  {
    message<compute_launch> launch(bytes);
    add_place(launch, graph);
  }
  add_plain(graph, "CUDA graph " + std::to_string(raw(graph.graph)), category_compute, bytes);
}

void launch_marks::add(timestamp_ns at, track_id thread, std::uint64_t event) {
  if (!named_) {
    auto names = marks_.intern();
    add_name(names, interned_data::event_names, launch_name, "launch");
    add_name(names, interned_data::event_categories, launch_category, "cuda_launch");
    named_ = true;
  }
  marks_.add(at, [&](message<packet>& out) {
    message<track_event> mark(out, packet::track_event);
    mark.add_enum(track_event::type, instant);
    mark.add_uint64(track_event::track_uuid, static_cast<std::uint64_t>(thread));
    mark.add_uint64(track_event::name_iid, launch_name);
    mark.add_uint64(track_event::category_iids, launch_category);
    message<gpu_correlation>(mark, track_event::gpu_correlation)
        .add_uint64(gpu_correlation::render_stage_submission_event_ids, event);
  });
}

}  // namespace gpuprof::host::perfetto
