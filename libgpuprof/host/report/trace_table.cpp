// SPDX-License-Identifier: Apache-2.0
#include "host/report/trace_table.hpp"

#include "host/analysis/memory_summary.hpp"
#include "host/report/summary_tables.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::report {
namespace {

using enum text::column_kind;

std::vector<text::column> trace_columns() {
  return {{"Start", text::column_kind::time},
          {"Duration", text::column_kind::time},
          {"CorrId", integer},
          {"GrdX", integer},
          {"GrdY", integer},
          {"GrdZ", integer},
          {"BlkX", integer},
          {"BlkY", integer},
          {"BlkZ", integer},
          {"Reg/Trd", integer},
          {"StcSMem", size},
          {"DymSMem", size},
          {"Bytes", size},
          {"Throughput", throughput},
          {"SrcMemKd"},
          {"DstMemKd"},
          {"Device"},
          {"Ctx", integer},
          {"GreenCtx", integer},
          {"Strm", integer},
          {"Name"}};
}

// Places of the columns that only some kinds of operation fill.
enum place : std::size_t {
  at_grid = 3,
  at_block = 6,
  at_registers = 9,
  at_static_shared = 10,
  at_dynamic_shared = 11,
  at_bytes = 12,
  at_throughput = 13,
  at_source = 14,
  at_destination = 15,
  at_device = 16,
  at_context = 17,
  at_stream = 19,
  at_name = 20,
  column_count = 21
};

class line_maker {
 public:
  explicit line_maker(trace_context context) : context_(std::move(context)) {
    for (auto const& shape : context_.shapes) {
      if (raw(shape.id) > largest_shape) continue;
      if (raw(shape.id) >= by_id_.size()) by_id_.resize(raw(shape.id) + 1, nullptr);
      by_id_[raw(shape.id)] = &shape;
    }
    for (std::uint8_t kind = 0; kind <= 10; ++kind)
      copy_names_.push_back(operation_of(static_cast<copy_kind>(kind)));
  }

  text::row const& line_of(gpu_operation const& operation) {
    cells_.assign(column_count, {});
    // Unsigned on purpose: what started before the origin shows as a negative number.
    cells_[0] = static_cast<std::int64_t>(operation.start - context_.origin.value);
    cells_[1] = static_cast<std::int64_t>(operation.duration);
    cells_[2] = std::int64_t{operation.correlation};
    cells_[at_device] = device_text(operation.device);
    cells_[at_context] = std::int64_t{operation.context};
    cells_[at_stream] = std::int64_t{operation.stream};
    if (operation.work == gpu_work::kernel)
      add_kernel(operation);
    else if (operation.work == gpu_work::graph)
      cells_[at_name] = graph_name(operation.what);
    else
      add_memory_operation(operation);
    return cells_;
  }

 private:
  void add_kernel(gpu_operation const& operation) {
    auto const id = static_cast<shape_id>(operation.what);
    cells_[at_name] = std::string_view(context_.labels->text(context_.labels->label_of(id)));
    auto const* const shape = raw(id) < by_id_.size() ? by_id_[raw(id)] : nullptr;
    if (shape == nullptr) return;
    // 0: the source says nothing of the size.
    if (shape->grid.x != 0) add_extent(at_grid, shape->grid);
    if (shape->block.x != 0) add_extent(at_block, shape->block);
    if (shape->registers_per_thread != 0)
      cells_[at_registers] = std::int64_t{shape->registers_per_thread};
    if (!shape->has_shared_bytes()) return;
    cells_[at_static_shared] = std::int64_t{shape->static_shared_bytes};
    cells_[at_dynamic_shared] = std::int64_t{shape->dynamic_shared_bytes};
  }

  void add_extent(std::size_t at, extent3 const& extent) {
    cells_[at] = std::int64_t{extent.x};
    cells_[at + 1] = std::int64_t{extent.y};
    cells_[at + 2] = std::int64_t{extent.z};
  }

  void add_memory_operation(gpu_operation const& operation) {
    if (operation.bytes != 0) cells_[at_bytes] = static_cast<std::int64_t>(operation.bytes);
    if (operation.bytes != 0 && operation.duration > 0)
      cells_[at_throughput] =
          static_cast<double>(operation.bytes) * 1e9 / static_cast<double>(operation.duration);
    cells_[at_source] = text_of(operation.source);
    if (operation.work == gpu_work::fill) {
      cells_[at_name] = operation_of_memset;
      return;
    }
    cells_[at_destination] = text_of(operation.destination);
    auto const kind = static_cast<std::size_t>(operation.kind);
    cells_[at_name] = std::string_view(copy_names_[kind < copy_names_.size() ? kind : 0]);
  }

  std::string_view device_text(std::uint32_t device) {
    auto const [at, is_new] = device_texts_.try_emplace(device);
    if (is_new) {
      auto const name = context_.device_names.find(device);
      at->second = (name != context_.device_names.end() ? name->second : "GPU") + " (" +
                   std::to_string(device) + ")";
    }
    return at->second;
  }

  std::string_view graph_name(std::uint32_t graph) {
    graph_name_ = "[CUDA graph " + std::to_string(graph) + "]";
    return graph_name_;
  }

  trace_context context_;
  std::vector<kernel_shape const*> by_id_;
  std::vector<std::string> copy_names_;
  std::map<std::uint32_t, std::string> device_texts_;
  std::string graph_name_;
  text::row cells_;
};

std::vector<text::column> range_trace_columns() {
  using enum text::column_kind;
  return {{"Start", text::column_kind::time},
          {"End", text::column_kind::time},
          {"Duration", text::column_kind::time},
          {"DurChild", text::column_kind::time},
          {"DurNonChild", text::column_kind::time},
          {"Name"},
          {"PID", integer},
          {"TID", integer},
          {"Lvl", integer},
          {"NumChild", integer},
          {"RangeId", integer},
          {"ParentId", integer},
          {"RangeStack"},
          {"NameTree"}};
}

struct children {
  duration_ns duration{};
  std::uint32_t count = 0;
};

bool is_pushed(traced_range const& range) noexcept {
  return range.style == range_style::push_pop;
}

std::vector<children> children_of(range_tree const& tree) {
  std::vector<children> of(tree.size());
  for (auto const& range : tree.ranges()) {
    if (!is_pushed(range) || range.parent == no_range) continue;
    of[range.parent].duration = of[range.parent].duration + range.duration();
    ++of[range.parent].count;
  }
  return of;
}

std::int64_t number_of(std::uint32_t range) noexcept {
  return std::int64_t{range} + 1;
}

/// ":1:4:5", the outermost first.
std::string stack_of(range_tree const& tree, std::uint32_t range) {
  std::string stack;
  for (; range != no_range; range = tree[range].parent)
    stack.insert(0, ":" + std::to_string(number_of(range)));
  return stack;
}

}  // namespace

text::table trace_table(gpu_trace const& trace, trace_context context) {
  auto maker = std::make_shared<line_maker>(std::move(context));  // std::function must be copyable
  return {
      "cuda_gpu_trace", "CUDA GPU Trace", trace_columns(),
      [maker, &trace](std::function<void(text::row const&)> const& take) {
        trace.in_order([&](gpu_operation const& operation) { take(maker->line_of(operation)); });
      }};
}

text::table range_trace_table(range_tree const& tree, range_filter keeps,
                              range_trace_context context) {
  return {"nvtx_pushpop_trace", "NVTX Push/Pop Range Trace", range_trace_columns(),
          [&tree, keeps = std::move(keeps), context = std::move(context),
           inside = children_of(tree)](std::function<void(text::row const&)> const& take) {
            for (std::uint32_t i = 0; i < tree.size(); ++i) {
              auto const& range = tree[i];
              if (!is_pushed(range) || (keeps && !keeps(i))) continue;
              auto const name = range_name(key_of(range), context.text);
              auto const stack = stack_of(tree, i);
              auto const indented = std::string(std::size_t{2} * range.level, '-') + name;
              auto const start = range.begin - context.origin;
              auto const own = range.duration() - inside[i].duration;
              auto const has_parent = range.parent != no_range;
              take({start.value, (start + range.duration()).value, range.duration().value,
                    inside[i].duration.value, own.value, std::string_view(name),
                    std::int64_t{context.process}, std::int64_t{context.os_thread(range.thread)},
                    std::int64_t{range.level}, std::int64_t{inside[i].count}, number_of(i),
                    has_parent ? text::cell(number_of(range.parent)) : text::cell(),
                    std::string_view(stack), std::string_view(indented)});
            }
          }};
}

}  // namespace gpuprof::host::report
