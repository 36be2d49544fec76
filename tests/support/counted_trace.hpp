// SPDX-License-Identifier: Apache-2.0
// Small traces with hardware counters: which launches were sampled, in which group, and what they
// had counted.
#pragma once

#include "analyse/counted_outside.hpp"
#include "analyse/roofline.hpp"
#include "analyse/sampling/sample_attribution.hpp"
#include "support/trace_of.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::test {

inline constexpr char const* clock_metric = "sm__cycles_elapsed.avg.per_second";
inline constexpr char const* occupancy_metric = "sm__warps_active.avg.pct_of_peak_sustained_active";
inline constexpr char const* tensor_cycles_metric = "sm__pipe_tensor_cycles_active.avg";
inline constexpr char const* active_cycles_metric = "sm__cycles_active.avg";
inline constexpr char const* dram_read_metric = "dram__bytes_read.sum";
inline constexpr char const* dram_write_metric = "dram__bytes_write.sum";
inline constexpr char const* l2_metric = "lts__t_bytes.sum";

inline std::string sass(std::string const& operation) {
  return "smsp__sass_thread_inst_executed_op_" + operation + "_pred_on.sum";
}
inline std::string tensor(std::string const& type) {
  return "sm__ops_path_tensor_src_" + type + ".sum";
}

using counted = std::map<std::string, double>;

struct counted_trace {
  trace t;
  device_record device;
  std::vector<metric_record> metrics;
  std::vector<sampled_launch_record> samples;
  std::vector<launch_metric_record> values;
  std::vector<peak_record> peaks;
  std::vector<kernel_code_record> codes;
  std::string command_line = "./train";
  std::vector<metric_sample_record> rows;  // of samples in time
  std::vector<sampling_window_record> windows;
  timestamp_ns captured_from = trace_start, captured_until = trace_start + 2_ms;
  std::vector<std::pair<std::string, std::uint64_t>> counters;  // "lost.kernels"

  explicit counted_trace(trace of) : t(std::move(of)) {
    device.name = t.names.intern("NVIDIA H200");
    device.chip = t.names.intern("GH100");
    device.sm_count = 100;
    device.max_sm_clock_khz = 2'000'000;
  }

  /// The values that are not zero; all others of the group are.
  counted_trace& sample(std::uint32_t correlation, std::uint16_t group, counted const& count,
                        duration_ns before = 5_us, duration_ns after = 5_us) {
    timestamp_ns opened = trace_start, closed = trace_start;
    for (auto const& kernel : t.kernels)
      if (raw(kernel.correlation) == correlation) {
        opened.value = kernel.start.value - static_cast<std::uint64_t>(before.value);
        closed = kernel.start + kernel.duration + after;
      }
    samples.push_back({.correlation = static_cast<correlation_id>(correlation),
                       .device = device.device,
                       .context = static_cast<context_id>(1),
                       .group = group,
                       .opened = opened,
                       .closed = closed});
    for (auto const& metric : metrics) {
      if (metric.group != group) continue;
      auto const found = count.find(std::string(t.names.text(metric.name)));
      values.push_back({static_cast<correlation_id>(correlation), metric.metric,
                        found == count.end() ? 0 : found->second});
    }
    return *this;
  }
  counted_trace& plan(std::uint16_t group, std::vector<std::string> const& names) {
    for (auto const& name : names)
      metrics.push_back({static_cast<metric_id>(metrics.size() + 1), t.names.intern(name),
                         device.device, group, name.find("__sass_") != std::string::npos});
    return *this;
  }
  /// Sampled every 20 us from 0.9 ms on: `while_it_runs` in the ten samples of each of so many
  /// launches of 200 us, the first at 1 ms, one every 300 us; `at_rest` in the others.
  counted_trace& sample_in_time(std::uint16_t group, char const* metric, std::uint64_t launches,
                                double while_it_runs, double at_rest = 0) {
    constexpr std::uint64_t before = 5, of_launch = 10, from_one_to_the_next = 15, after = 45;
    plan(group, {metric});
    metrics.back().sampled = true;
    auto const end = before + launches * from_one_to_the_next;
    for (std::uint64_t i = 0; i < end + after; ++i) {
      timestamp_ns const start{trace_start.value + 900'000 + i * 20'000};
      bool const runs = i >= before && i < end && (i - before) % from_one_to_the_next < of_launch;
      rows.push_back({metrics.back().metric, start, 20_us, runs ? while_it_runs : at_rest});
    }
    return *this;
  }
  /// What the set "roofline" reads on a GH100: units, tensor operations, CUDA-core operations.
  counted_trace& plan_roofline() {
    plan(0, {clock_metric, occupancy_metric, tensor_cycles_metric, active_cycles_metric,
             dram_read_metric, dram_write_metric, l2_metric});
    plan(1, {tensor("bf16_dst_fp32"), tensor("fp16"), tensor("fp8"), tensor("tf32_dst_fp32"),
             tensor("int8"), tensor("fp64")});
    std::vector<std::string> cuda_cores;
    for (auto const* const type : {"f", "h", "d"})
      for (auto const* const operation : {"fma", "mul", "add"})
        cuda_cores.push_back(sass(std::string(type) + operation));
    return plan(2, cuda_cores);
  }
  /// `per_clock`: on each SM; `burst` and `theory` per second.
  counted_trace& peak(char const* test, double per_clock, double burst, double theory = 0) {
    peak_record row;
    row.test = t.names.intern(test);
    row.per_clock = per_clock;
    row.burst = burst;
    row.burst_sm_clock_mhz = 2000;
    row.theory = theory;
    row.measured_at = t.names.intern("2026-03-01T12:00:00Z");
    peaks.push_back(row);
    return *this;
  }
  /// 100 SMs at 2 GHz: bf16 800 TFLOP/s, fp32 50, L2 8 TB/s; DRAM 4 TB/s read, 3.6 copied.
  counted_trace& with_peaks() {
    return peak("tensor_bf16", 4000, 700e12, 819.2e12)
        .peak("fp32", 250, 50e12, 51.2e12)
        .peak("fp64", 125, 25e12, 25.6e12)
        .peak("l2_read", 40, 8e12)
        .peak("dram_read", 0, 4e12, 4.8e12)
        .peak("dram_triad", 0, 3.8e12, 4.8e12)
        .peak("dram_copy", 0, 3.6e12, 4.8e12)
        .peak("dram_write", 0, 4.2e12, 4.8e12);
  }
};

/// Everything that analysing one needs, kept together.
struct analysed {
  counted_trace const& from;
  launch_metrics metrics;
  sample_attribution sampled;
  std::optional<workload_metrics> figures;
  workload_times times{metrics};
  range_tree tree;
  open_ranges open;
  launch_ranges launched;
  std::map<device_id, roofline_device> devices;
  kernel_labels labels;
  std::vector<range_work> ranges;
  kernel_codes codes;

  explicit analysed(counted_trace const& c,
                    std::map<range_id, range_declaration> const& declared = {})
      : from(c),
        tree(c.t.begins, c.t.ends, c.t.last),
        open(tree),
        launched(tree, range_scope::process, static_cast<thread_index>(1)),
        labels(c.t.shapes, c.t.text(), kernel_name_style::demangled) {
    auto const text = c.t.text();
    for (auto const& row : c.codes) codes.add(row);
    for (auto const& metric : c.metrics) metrics.define(metric, text(metric.name));
    for (auto const& sample : c.samples) metrics.add(sample);
    for (auto const& value : c.values) metrics.add(value);
    for (auto const& kernel : c.t.kernels) metrics.see(kernel);
    for (auto const& graph : c.t.graphs) metrics.see(graph);
    for (auto const& copy : c.t.copies) metrics.see(copy);
    for (auto const& fill : c.t.fills) metrics.see(fill);
    metrics.join();
    attribute_samples();
    range_workloads inside(tree, open, launched, declared);
    for (auto const& kernel : c.t.kernels) inside.add(kernel, times.add(kernel));
    for (auto const& graph : c.t.graphs) inside.add(graph, times.add(graph));
    ranges = inside.rows();
    figures.emplace(metrics, sampled.figures(), counted_outside(times, c.t.shapes));
    measured_roofs roofs(c.device);
    for (auto const& peak : c.peaks) roofs.add(peak, text(peak.test));
    devices[c.device.device] = {std::string(text(c.device.chip)), roofs};
  }
  analysed(analysed const&) = delete;

  roofline roofs() const { return {*figures, times, devices, from.t.shapes, codes}; }
  std::vector<roofline_row> by_kernel() const { return roofs().by_kernel(labels); }
  std::vector<roofline_row> by_signature() const {
    return roofs().by_signature(labels, from.t.shapes);
  }
  std::vector<roofline_row> by_range() const {
    return roofs().by_range(
        ranges, [this](range_key key) { return std::string(from.t.names.text(key.name)); });
  }
  void attribute_samples() {
    auto const text = from.t.text();
    for (auto const& metric : from.metrics) sampled.define(metric, text(metric.name));
    for (auto const& window : from.windows) sampled.add(window);
    for (auto const& row : from.rows) sampled.add(row);
    sampled.end_samples();
    for (auto const& kernel : from.t.kernels) sampled.see(kernel, times.id_of(kernel));
    for (auto const& graph : from.t.graphs) sampled.see(graph, times.id_of(graph));
    for (auto const& copy : from.t.copies) sampled.see(copy);
    for (auto const& fill : from.t.fills) sampled.see(fill);
    sampled.attribute(without_tensor_code(from.t.shapes, codes));
  }
  workload_id workload_of(std::size_t kernel) const {
    return {from.t.kernels[kernel].device, from.t.kernels[kernel].shape, {}};
  }
};

inline roofline_row const* row_named(std::vector<roofline_row> const& rows, std::string_view name) {
  for (auto const& row : rows)
    if (row.name == name) return &row;
  return nullptr;
}

/// A step with kernels of every kind, all of it counted.
///   gemm      3 x 100 us undisturbed (and 3 sampled, one of them 400 us long because it was
///             rewritten): 4e10 bf16 operations, 60 MB read, 20 MB written, 200 MB of L2, 1.6 GHz
///   copy      2 x 50 us undisturbed: 90 MB read, 90 MB written, no FLOP, 2 GHz
///   axpy      2 x 20 us undisturbed: 1e7 FFMA, 1e6 FADD; 40 MB read, 20 MB written, 2 GHz
///   tiny      2 x 2 us undisturbed: 1000 FFMA, 4 kB read, nothing written, 2 GHz
///   unknown   30 us, never sampled
inline counted_trace counted_step() {
  std::vector<event> events = {range("step", 0_us, 2000_us), range("forward", 0_us, 900_us)};
  std::uint32_t correlation = 0;
  duration_ns now = 10_us;
  auto const run = [&](char const* name, duration_ns length, extent3 grid, extent3 block) {
    events.push_back(kernel(name, now, now + length).shaped(grid, block).correlated(++correlation));
    now = now + length + 20_us;
    return correlation;
  };
  struct sampled {
    std::uint32_t correlation;
    std::uint16_t group;
    counted count;
  };
  std::vector<sampled> samples;
  auto const run_all = [&](char const* name, duration_ns length, duration_ns slowed,
                           int undisturbed, extent3 grid, extent3 block, counted const& count) {
    for (std::uint16_t group = 0; group < 3; ++group)
      samples.push_back({run(name, group == 2 ? slowed : length, grid, block), group, count});
    for (int i = 0; i < undisturbed; ++i) run(name, length, grid, block);
  };
  run_all("_Z4gemmPK13__nv_bfloat16S1_Pfi", 100_us, 400_us, 3, {16, 16, 1}, {128, 1, 1},
          {{clock_metric, 1.6e9},
           {occupancy_metric, 25},
           {active_cycles_metric, 150e3},
           {tensor_cycles_metric, 105e3},
           {dram_read_metric, 60e6},
           {dram_write_metric, 20e6},
           {l2_metric, 200e6},
           {tensor("bf16_dst_fp32"), 4e10}});
  run_all("copy", 50_us, 50_us, 2, {512, 1, 1}, {256, 1, 1},
          {{clock_metric, 2e9},
           {occupancy_metric, 80},
           {active_cycles_metric, 99e3},
           {dram_read_metric, 90e6},
           {dram_write_metric, 90e6},
           {l2_metric, 180e6}});
  run_all("axpy", 20_us, 60_us, 2, {64, 1, 1}, {256, 1, 1},
          {{clock_metric, 2e9},
           {occupancy_metric, 90},
           {active_cycles_metric, 39e3},
           {dram_read_metric, 40e6},
           {dram_write_metric, 20e6},
           {l2_metric, 60e6},
           {sass("ffma"), 1e7},
           {sass("fadd"), 1e6}});
  run_all("tiny<a&b>", 2_us, 3_us, 2, {1, 1, 1}, {32, 1, 1},
          {{clock_metric, 2e9},
           {occupancy_metric, 1.5},
           {active_cycles_metric, 2e3},
           {dram_read_metric, 4000},
           {l2_metric, 8000},
           {sass("ffma"), 1000}});
  run("unknown", 30_us, {8, 1, 1}, {64, 1, 1});

  counted_trace made(trace_of(std::move(events)));
  made.plan_roofline();
  for (auto const& s : samples) made.sample(s.correlation, s.group, s.count);
  return made;
}

}  // namespace gpuprof::test
