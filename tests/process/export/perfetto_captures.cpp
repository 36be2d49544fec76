// SPDX-License-Identifier: Apache-2.0
// Writes captures with what recorded sessions lack: whatever overlaps, was lost, or came at one
// moment.
//
//   gpuprof-perfetto-captures FILE              two GPUs, memory, payloads, crooked ranges and
//   calls gpuprof-perfetto-captures FILE --calls N    N kernels, each with a call and a range of
//   its own
#include "capture/writer.hpp"
#include "model/name_table.hpp"

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace gpuprof;

namespace {

timestamp_ns at(std::uint64_t nanoseconds) {
  return {1'700'000'000'000'000'000 + nanoseconds};
}

class output {
 public:
  explicit output(char const* path)
      : file_(std::move(*capture::writer::create(path, capture::create_mode::overwrite))) {
    add(fact_record{name("process.id"), name("4242")});
    add(fact_record{name("process.program"), name("/usr/bin/crooked")});
    for (std::uint32_t i = 1; i <= 2; ++i)
      add(thread_record{static_cast<thread_index>(i), 4241 + i, name("worker")});
    kernel_shape shape;
    shape.id = shape_id{1};
    shape.name = name("_Z5scaleIfEvPT_i");
    shape.grid = {4, 2, 1};
    shape.block = {256, 1, 1};
    add(shape);
  }
  ~output() {
    if (auto const closed = file_->close(); !closed) std::exit(1);
  }
  name_id name(std::string_view text) {
    auto const known = names_.size();
    auto const id = names_.intern(text);
    if (names_.size() > known) file_->add_name(id, text);
    return id;
  }
  template <class Row>
  void add(Row const& row) {
    file_->add(row);
  }
  void window(std::uint64_t end) {
    add(window_record{.index = 1, .start = at(0), .end = at(end), .trigger = name("start")});
  }
  void call(char const* function, std::uint32_t thread, std::uint64_t start, std::int64_t length,
            std::uint32_t correlation, std::int32_t result = 0) {
    add(api_record{.start = at(start),
                   .duration = {length},
                   .name = name(function),
                   .os_thread = 4241 + thread,
                   .correlation = static_cast<correlation_id>(correlation),
                   .result = result});
  }
  void kernel(std::uint32_t device, std::uint32_t context, std::uint64_t start, std::int64_t length,
              std::uint32_t correlation, std::uint32_t graph = 0) {
    kernel_record row;
    row.shape = shape_id{1};
    row.start = at(start);
    row.duration = {length};
    row.launched = at(start - 500);
    row.thread = static_cast<thread_index>(1);
    row.device = static_cast<device_id>(device);
    row.context = static_cast<context_id>(context);
    row.stream = stream_id{7};
    row.correlation = static_cast<correlation_id>(correlation);
    row.graph = static_cast<graph_id>(graph);
    row.node = static_cast<graph_node_id>(graph != 0 ? start : 0);
    add(row);
  }
  range_begin begin(std::uint64_t id, char const* text, std::uint64_t time,
                    range_style style = range_style::push_pop) {
    return {.time = at(time),
            .range = static_cast<range_id>(id),
            .thread = static_cast<thread_index>(1),
            .style = style,
            .name = name(text)};
  }
  void end(std::uint64_t id, std::uint64_t time, std::uint32_t thread = 1) {
    add(range_end{at(time), static_cast<range_id>(id), static_cast<thread_index>(thread)});
  }

 private:
  std::unique_ptr<capture::writer> file_;
  name_table names_;
};

void two_gpus(output& out) {
  for (std::uint32_t i = 0; i < 2; ++i) {
    out.add(device_record{.device = static_cast<device_id>(i), .name = out.name("NVIDIA H200")});
    out.add(context_record{static_cast<context_id>(i + 1), static_cast<device_id>(i)});
  }
  out.add(context_record{context_id{3}, device_id{1}});
  for (std::uint32_t context = 1; context <= 3; ++context)
    out.kernel(context > 1, context, 10'000 * context, 1'000, context);
  // A graph: one call, three kernels, two at once.
  out.call("cudaGraphLaunch_v10000", 1, 40'000, 2'000, 10);
  for (std::uint32_t i = 0; i < 3; ++i) out.kernel(0, 1, 45'000 + 100 * i, 1'000, 10, 5);
}

void crooked_calls(output& out) {
  out.call("inner", 1, 100, 50, 20);  // CUPTI tells of it first
  out.call("outer", 1, 100, 200, 21, 1);
  out.call("overlaps", 1, 250, 100, 22);
  out.call("no length", 1, 300, 0, 23);
  out.call("next", 1, 350, 10, 24);
  out.call("elsewhere", 2, 100, 200, 25);
}

void crooked_ranges(output& out) {
  auto carries = [&](std::uint64_t id, payload_kind kind, std::uint64_t bits) {
    auto row = out.begin(id, "carries", 1'000 * id);
    row.payload = kind;
    row.payload_bits = bits;
    row.category = 7;
    row.color = 0xff00ff00;
    row.declared_flops = 1e9;
    out.add(row);
    out.end(id, 1'000 * id + 500);
  };
  out.add(category_record{name_id{}, 7, out.name("seventh")});
  carries(1, payload_kind::unsigned64, ~std::uint64_t{0});
  carries(2, payload_kind::signed64, static_cast<std::uint64_t>(-5));
  carries(3, payload_kind::float64, std::bit_cast<std::uint64_t>(2.5));
  carries(4, payload_kind::text, raw(out.name("{\"a\": 1}")));
  // One after the other, at the same moment; and one without length between them.
  out.add(out.begin(11, "first", 11'000));
  out.end(11, 12'000);
  out.add(out.begin(12, "moment", 12'000));
  out.end(12, 12'000);
  out.add(out.begin(13, "second", 12'000));
  out.end(13, 13'000);
  // Start and end overlap, and one ends on another thread.
  out.add(out.begin(21, "left", 21'000, range_style::start_end));
  out.add(out.begin(22, "right", 21'500, range_style::start_end));
  out.end(21, 22'000, 2);
  out.end(22, 23'000);
  // The clock stepped back within one; one was begun before the capture.
  out.add(out.begin(31, "back", 32'000));
  out.end(31, 31'500);
  out.end(32, 100);
  // The end of the inner one is lost.
  out.add(out.begin(41, "whole", 41'000));
  out.add(out.begin(42, "cut", 41'500));
  out.end(41, 42'000);
}

void memory(output& out) {
  auto const add = [&](std::uint64_t time, memory_operation operation, std::uint64_t address,
                       std::uint64_t bytes, memory_kind kind) {
    out.add(memory_record{.time = at(time),
                          .operation = operation,
                          .kind = kind,
                          .address = address,
                          .bytes = bytes});
  };
  add(1'000, memory_operation::allocate, 16, 1000, memory_kind::device);
  add(2'000, memory_operation::allocate, 32, 500, memory_kind::device);
  add(2'500, memory_operation::allocate, 48, 70, memory_kind::pinned);
  add(3'000, memory_operation::release, 16, 1000, memory_kind::device);
  add(4'000, memory_operation::release, 64, 9, memory_kind::device);  // allocated before
  for (std::uint32_t i = 0; i < 3; ++i)
    out.add(unified_memory_record{
        .start = at(5'000 + 100 * i), .duration = {150}, .counter = 1 + i, .value = 4096});
  out.add(sync_record{.start = at(6'000), .duration = {100}, .type = 3, .stream = stream_id{7}});
  out.add(sync_record{.start = at(6'050), .duration = {100}, .type = 4});
}

/// As a program that makes nothing but small launches.
void calls(output& out, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    auto const now = std::uint64_t{i} * 3000;
    out.add(out.begin(i + 1, "step", now));
    out.call("cudaLaunchKernel_v7000", 1, now + 200, 1500, i + 1);
    out.kernel(0, 1, now + 5000, 1200, i + 1);
    out.end(i + 1, now + 2500);
  }
  out.window(std::uint64_t{count} * 3000 + 10'000);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  output out(argv[1]);
  if (argc > 3 && std::string_view(argv[2]) == "--calls") {
    calls(out, static_cast<std::uint32_t>(std::strtoul(argv[3], nullptr, 10)));
    return 0;
  }
  out.window(100'000);
  two_gpus(out);
  crooked_calls(out);
  crooked_ranges(out);
  memory(out);
  return 0;
}
