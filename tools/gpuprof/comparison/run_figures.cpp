// SPDX-License-Identifier: Apache-2.0
#include "comparison/run_figures.hpp"

#include "analyze/run_reading.hpp"
#include "host/advice/advice.hpp"
#include "host/analysis/steps.hpp"
#include "host/reading/roofline_reading.hpp"
#include "ranks/capture_set.hpp"
#include "roofline_of_capture.hpp"

namespace gpuprof::host::command {
namespace {

void take_buckets(compare::run_digest& digest, time_ledger const& ledger) {
  auto const gpus = static_cast<double>(ledger.by_device().size());
  auto const all = ledger.total();
  for (std::size_t i = 0; i < time_bucket_count; ++i) {
    auto const bucket = static_cast<time_bucket>(i);
    if (all[bucket] > 0) digest.buckets[std::string(name_of(bucket))] = all[bucket] / gpus;
  }
  digest.buckets["idle"] = all.idle() / gpus;
}

}  // namespace

void drop_numbered(std::map<std::string, compare::range_line>& ranges, std::string const& step) {
  std::erase_if(ranges, [&](auto const& range) {
    return range.first == step || without_number(range.first) == step;
  });
}

void take_facts(compare::run_digest& digest, trace_contents& trace) {
  digest.program = trace.fact("process.program");
  digest.command_line = trace.fact("process.command_line");
  digest.rank = ranked(trace, digest.path).rank;
  for (auto const& window : trace.windows()) {
    auto const end = window.end.value != 0 ? window.end : trace.last_moment();
    if (end > window.start)
      digest.window_ns += static_cast<std::uint64_t>((end - window.start).value);
  }
}

void take_roofline(compare::run_digest& digest, trace_contents& trace,
                   roofline_reading const& read) {
  if (!read.has_counters()) return;
  digest.has_counters = true;
  roofline const roofs(read.metrics(), read.times(), read.devices(), trace.shapes(), read.codes());
  auto const rows = lines_of(roofline_lines::signatures, roofs, trace, read.ranges());
  std::set<compare::kernel_key> taken;  // several differ in their arguments: the longest first
  for (auto const& row : rows) {
    compare::kernel_key const key{row.name, row.grid, row.block};
    auto const found = digest.kernels.find(key);
    if (found == digest.kernels.end() || !taken.insert(key).second) continue;
    auto& line = found->second;
    line.clock = row.clock;
    line.clock_error = row.clock_error;
    line.of_roof = row.of_roof;
    line.dram_rate = row.dram_rate;
    line.dram_share = row.shares[dram_roof];
    line.flops = row.total_flops;
    line.bound = row.bound;
  }
}

void take_losses(compare::run_digest& digest, trace_contents& trace) {
  auto const about = trace.overview();
  for (auto const& loss : about.losses) digest.lost += loss.count;
  digest.lost += about.other_losses.size();
  digest.missing = trace.missing();
}

void take_advice(compare::run_digest& digest, trace_contents& trace,
                 roofline_reading const& counters, std::string const& step) {
  run_reading reading(trace, nullptr, step, nullptr, &counters);
  reading.read();
  if (reading.ledger().by_device().empty()) return;
  take_buckets(digest, reading.ledger());
  auto const window = reading.facts().all_windows_ns();
  auto const advice = advice::give_advice(reading.facts(), {});
  auto& findings = digest.findings.emplace();
  for (auto const* list : {&advice.findings, &advice.too_small})
    for (auto const& one : *list)
      findings[std::string(one.rule)] += window > 0 ? one.gain.high_ns / window : 0;
}

}  // namespace gpuprof::host::command
