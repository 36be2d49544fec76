// SPDX-License-Identifier: Apache-2.0
// A capture that is written by hand, for exports to read.
#pragma once

#include "capture/writer.hpp"
#include "model/name_table.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace gpuprof {

inline timestamp_ns at(std::uint64_t nanoseconds) {
  return {1'700'000'000'000'000'000 + nanoseconds};
}

/// A capture that is written: definitions are added when they are first used.
class made_capture {
 public:
  explicit made_capture(std::string const& path) {
    auto made = capture::writer::create(path, capture::create_mode::overwrite);
    if (!made) {
      std::fprintf(stderr, "%s\n", made.message().c_str());
      std::exit(1);
    }
    file_ = std::move(*made);
  }
  ~made_capture() {
    if (auto const closed = file_->close(); !closed) {
      std::fprintf(stderr, "%s\n", closed.message().c_str());
      std::exit(1);
    }
  }
  made_capture(made_capture const&) = delete;
  made_capture& operator=(made_capture const&) = delete;

  name_id name(std::string_view text) {
    auto const known = names_.size();
    auto const id = names_.intern(text);
    if (names_.size() > known) file_->add_name(id, text);
    return id;
  }
  void fact(std::string_view key, std::string_view value) {
    file_->add(fact_record{name(key), name(value)});
  }
  /// Of one process on one GPU, as the library describes it.
  void describe(std::string const& process, int rank = -1, int of = 0,
                std::string_view host = "node1") {
    fact("host", host);
    fact("process.id", process);
    fact("process.program", "made");
    fact("process.command_line", "made --by test");
    if (rank >= 0) {
      fact("environment.RANK", std::to_string(rank));
      fact("environment.WORLD_SIZE", std::to_string(of));
    }
    file_->add(device_record{.device = device_id{0},
                             .name = name("NVIDIA H200"),
                             .uuid = name("GPU-00000000-0000-0000-0000-000000000001"),
                             .chip = name("GH100"),
                             .compute_major = 9,
                             .sm_count = 132,
                             .max_sm_clock_khz = 1980000,
                             .max_memory_clock_khz = 3201000,
                             .memory_bus_bits = 6016,
                             .memory_bytes = 141ull << 30,
                             .l2_bytes = 60 << 20,
                             .pci_bus = name("0000:01:00.0")});
    file_->add(context_record{context_id{1}, device_id{0}});
    process_ = static_cast<std::uint32_t>(std::atoi(process.c_str()));
    for (std::uint32_t i = 1; i <= 2; ++i)
      file_->add(thread_record{static_cast<thread_index>(i),
                               static_cast<std::uint32_t>(std::atoi(process.c_str())) + i - 1,
                               name(i == 1 ? "main" : "worker")});
    file_->add(clock_record{at(0), 1'000'000'000});
  }
  /// What the GPU was measured to reach, and counters that are read around launches.
  void dram_roof(double bytes_per_second) {
    file_->add(peak_record{.test = name("dram_read"),
                           .group = name("memory"),
                           .title = name("DRAM read"),
                           .unit = name("B/s"),
                           .clock = {},
                           .burst = bytes_per_second * 1.01,
                           .sustained = bytes_per_second,
                           .method = {},
                           .operands = {},
                           .measured_at = name("2026-03-01T12:00:00Z"),
                           .remark = {}});
    file_->add(metric_record{.metric = metric_id{1}, .name = name("dram__bytes_read.sum")});
    file_->add(metric_record{.metric = metric_id{2}, .name = name("dram__bytes_write.sum")});
  }
  void moved(kernel_record const& kernel, double bytes_read, double bytes_written) {
    file_->add(read_launch_record{.correlation = kernel.correlation,
                                  .opened = kernel.launched,
                                  .closed = kernel.start + kernel.duration});
    file_->add(reading_value_record{kernel.correlation, metric_id{1}, bytes_read});
    file_->add(reading_value_record{kernel.correlation, metric_id{2}, bytes_written});
  }
  /// Something that was to be read around launches, and a launch around which it was.
  void metric(metric_id id, std::string_view what) {
    file_->add(metric_record{.metric = id, .name = name(what)});
  }
  void counted(kernel_record const& kernel, metric_id id, double value) {
    file_->add(read_launch_record{.correlation = kernel.correlation,
                                  .opened = kernel.launched,
                                  .closed = kernel.start + kernel.duration});
    file_->add(reading_value_record{kernel.correlation, id, value});
  }
  void window(std::uint64_t start, std::uint64_t end) {
    file_->add(
        window_record{.index = 1, .start = at(start), .end = at(end), .trigger = name("start")});
  }
  shape_id shape(std::string_view kernel, extent3 grid = {4, 1, 1}) {
    kernel_shape shape;
    shape.id = static_cast<shape_id>(++shapes_);
    shape.name = name(kernel);
    shape.grid = grid;
    shape.block = {256, 1, 1};
    shape.registers_per_thread = 32;
    shape.dynamic_shared_bytes = 1024;
    file_->add(shape);
    return shape.id;
  }
  kernel_record kernel(shape_id shape, std::uint64_t start, std::int64_t length) {
    kernel_record row;
    row.shape = shape;
    row.start = at(start);
    row.duration = {length};
    row.launched = at(start - 500);
    row.context = context_id{1};
    row.stream = stream_id{7};
    row.correlation = static_cast<correlation_id>(++correlations_);
    row.thread = static_cast<thread_index>(1);
    return row;
  }
  void launching_call(kernel_record const& kernel, std::int64_t length) {
    file_->add(api_record{.start = kernel.launched,
                          .duration = {length},
                          .name = name("cudaLaunchKernel_v7000"),
                          .os_thread = process_,
                          .correlation = kernel.correlation});
  }
  range_id begin(std::string_view text, std::uint64_t time, range_id parent = {},
                 std::string_view domain = {}) {
    auto const id = static_cast<range_id>((1ull << 40) + ++ranges_);
    file_->add(range_begin{.time = at(time),
                           .range = id,
                           .parent = parent,
                           .thread = static_cast<thread_index>(1),
                           .level = static_cast<std::uint16_t>(raw(parent) == 0 ? 0 : 1),
                           .name = name(text),
                           .domain = domain.empty() ? name_id{} : name(domain)});
    return id;
  }
  range_id begin_with_work(std::string_view text, std::uint64_t time, double flops) {
    auto const id = static_cast<range_id>((1ull << 40) + ++ranges_);
    file_->add(range_begin{.time = at(time),
                           .range = id,
                           .thread = static_cast<thread_index>(1),
                           .name = name(text),
                           .declared_flops = flops});
    return id;
  }
  void end(range_id range, std::uint64_t time) {
    file_->add(range_end{at(time), range, static_cast<thread_index>(1)});
  }
  template <class Row>
  void add(Row const& row) {
    file_->add(row);
  }

 private:
  std::unique_ptr<capture::writer> file_;
  name_table names_;
  std::uint32_t shapes_ = 0, correlations_ = 0, process_ = 0;
  std::uint64_t ranges_ = 0;
};

/// What few programs do, and only some traces have: migrations, waits, allocations, a peer copy, a
/// graph as a whole, clusters, payloads, categories, ranges that end elsewhere. Each launch has its
/// API call, inside the ranges that were open.
void write_rare_work(std::string const& path, std::uint32_t process);

/// One rank of a job of four, with all that its analysis looks for: calls, copies, collectives
/// beside computation, waits, operators of PyTorch, counters of launches.
void write_profiled_job(std::string const& path, std::uint64_t steps, int rank);

/// A rank of a job on two hosts, on a day; each step: four multiplications, one more that
/// an all-reduce on another stream overlaps after half of it, and that ends on all ranks together.
/// Many steps differ a little, so that files are as large as those of real jobs. Rank 5 multiplies
/// slowly; on the second day rank 2 does so even more.
void write_fleet_rank(std::string const& path, std::uint64_t day, unsigned rank,
                      std::uint64_t steps);

/// "--streams", "--ranges", "--long-kernel" (seconds) or "--steps", so many; false: none of these.
bool write_timeline_shape(std::string const& path, std::string_view what, std::uint64_t count);

/// What the reports over ranks are to find: rank 5 computes longer, so that all wait for it in the
/// all-reduce that ends each step; the clock of the second host is ahead.
void write_job_rank(std::string const& path, std::uint64_t steps, unsigned rank);

/// By whose names calls are recorded, and whether those that do not block are.
struct recorded_calls {
  bool launches_too = false;
  bool by_driver = true, by_runtime = false;  // both: one inside of the other
};

/// A program with one planted fault, or its mended twin, see planted_faults.cpp; it prints what is
/// known of it. False: no fault has that name.
bool write_planted_fault(std::string const& path, std::string_view name, bool mended,
                         recorded_calls recorded);

}  // namespace gpuprof
