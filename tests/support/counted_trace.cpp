// SPDX-License-Identifier: Apache-2.0
#include "support/counted_trace.hpp"

namespace gpuprof::test {

std::string sass(std::string const& operation) {
  return "smsp__sass_thread_inst_executed_op_" + operation + "_pred_on.sum";
}
std::string tensor(std::string const& type) {
  return "sm__ops_path_tensor_src_" + type + ".sum";
}

counted_trace::counted_trace(trace of) : t(std::move(of)) {
  device.name = t.names.intern("NVIDIA H200");
  device.chip = t.names.intern("GH100");
  device.sm_count = 100;
  device.max_sm_clock_khz = 2'000'000;
}
counted_trace& counted_trace::sample(std::uint32_t correlation, std::uint16_t group,
                                     counted const& count, duration_ns before, duration_ns after) {
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
counted_trace& counted_trace::plan(std::uint16_t group, std::vector<std::string> const& names) {
  for (auto const& name : names)
    metrics.push_back({static_cast<metric_id>(metrics.size() + 1), t.names.intern(name),
                       device.device, group, name.find("__sass_") != std::string::npos});
  return *this;
}
counted_trace& counted_trace::sample_in_time(std::uint16_t group, char const* metric,
                                             std::uint64_t launches, double while_it_runs,
                                             double at_rest) {
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
counted_trace& counted_trace::plan_roofline() {
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
counted_trace& counted_trace::peak(char const* test, double per_clock, double burst,
                                   double theory) {
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
counted_trace& counted_trace::with_peaks() {
  return peak("tensor_bf16", 4000, 700e12, 819.2e12)
      .peak("fp32", 250, 50e12, 51.2e12)
      .peak("fp64", 125, 25e12, 25.6e12)
      .peak("l2_read", 40, 8e12)
      .peak("dram_read", 0, 4e12, 4.8e12)
      .peak("dram_triad", 0, 3.8e12, 4.8e12)
      .peak("dram_copy", 0, 3.6e12, 4.8e12)
      .peak("dram_write", 0, 4.2e12, 4.8e12);
}

counted_trace counted_step() {
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
