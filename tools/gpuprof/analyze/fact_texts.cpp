// SPDX-License-Identifier: Apache-2.0
#include "analyze/fact_texts.hpp"

#include "collective_kernels.hpp"
#include "host/analysis/steps.hpp"
#include "host/report/summary_tables.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace gpuprof::host::command {
namespace {

using namespace advice;

constexpr double quick_share = 0.25;

std::vector<copy_facts> copies_of(trace_contents& trace, timeline_pass const& pass) {
  std::vector<copy_facts> copies;
  for (auto const& [key, times] : pass.transfers())
    copies.push_back({.kind = key.kind,
                      .source = key.source,
                      .destination = key.destination,
                      .is_fill = key.is_fill,
                      .asynchronous = key.asynchronous,
                      .is_small = key.is_small,
                      .in_warm_up = key.in_warm_up,
                      .device = key.device,
                      .range = text_of_range(trace, times.ranges.longest()),
                      .count = times.count,
                      .bytes = times.bytes,
                      .total_ns = times.total_ns,
                      .alone_ns = times.alone_ns,
                      .quick_ns = static_cast<double>(times.bytes) / 0x1p20 *
                                  times.ns_of_mib.quantile(quick_share).value_or(0),
                      .blocked_ns = times.blocked_ns,
                      .in_a_row = times.in_a_row});
  std::stable_sort(copies.begin(), copies.end(),
                   [](auto const& a, auto const& b) { return a.total_ns > b.total_ns; });
  return copies;
}

/// A copy to pageable memory blocks, although its call is not recorded.
std::string call_behind(trace_contents& trace, gap_key const& key) {
  auto const call = trace.text()(key.call);
  if (call.empty() && key.kind == call_kind::blocking_copy) return "cudaMemcpyAsync";
  return std::string(call);
}

std::vector<gap_facts> gaps_of(trace_contents& trace, timeline_pass const& pass) {
  // Ranges that differ only in a number ("iter 17") are merged.
  std::map<std::tuple<gap_key, std::string>, gap_facts> merged;
  for (auto const& [key, sum] : pass.gaps().sums()) {
    auto const call = call_behind(trace, key);
    auto const sure = pass.gaps().sure_of(key, sum);
    auto const range = text_of_range(trace, key.range);
    auto without_range = key;
    without_range.range = {};
    auto const [known, is_new] = merged.try_emplace({without_range, range});
    if (!is_new) {
      known->second.count += sum.count;
      known->second.idle_ns += sum.idle_ns;
      known->second.sure_ns += sure;
      continue;
    }
    known->second = gap_facts{.cause = key.cause,
                              .call = call,
                              .kind = key.kind,
                              .whole_device = waits_for_whole_device(call),
                              .reads_result = key.reads_result,
                              .in_warm_up = key.in_warm_up,
                              .before_graph = key.before_graph,
                              .range = range,
                              .device = key.device,
                              .count = sum.count,
                              .idle_ns = sum.idle_ns,
                              .sure_ns = sure};
  }
  std::vector<gap_facts> gaps;
  for (auto& [_, one] : merged) gaps.push_back(std::move(one));
  std::stable_sort(gaps.begin(), gaps.end(),
                   [](auto const& a, auto const& b) { return a.idle_ns > b.idle_ns; });
  return gaps;
}

std::vector<call_facts> calls_of(trace_contents& trace, timeline_pass const& pass) {
  std::map<std::pair<name_id, std::string>, call_facts> merged;  // merged as in gaps_of()
  for (auto const& [key, sum] : pass.calls()) {
    auto const range = text_of_range(trace, key.second);
    auto& of = merged[{key.first, range}];
    of.name = std::string(trace.text()(key.first));
    of.kind = sum.kind;
    of.range = range;
    of.count += sum.count;
    of.after_warm_up += sum.after_warm_up;
    of.total_ns += sum.ns;
    of.after_warm_up_ns += sum.after_warm_up_ns;
  }
  std::vector<call_facts> calls;
  for (auto& [_, one] : merged) calls.push_back(std::move(one));
  std::stable_sort(calls.begin(), calls.end(),
                   [](auto const& a, auto const& b) { return a.total_ns > b.total_ns; });
  return calls;
}

std::vector<sequence_facts> sequences_of(trace_contents& trace, timeline_pass const& pass) {
  auto const& labels = trace.labels(kernel_name_style::base);
  std::map<std::uint32_t, time_by_range const*> ranges;
  for (auto const& [key, times] : pass.kernels())
    ranges[static_cast<std::uint32_t>(key)] = &times.ranges;
  std::vector<sequence_facts> sequences;
  for (auto const& one : pass.sequences()) {
    auto& facts = sequences.emplace_back();
    for (auto const shape : one.first_subjects)
      facts.kernels.push_back(labels.text(labels.label_of(static_cast<shape_id>(shape))));
    facts.length = one.length;
    facts.repetitions = one.repetitions;
    facts.run_ns = one.run_ns;
    facts.busy_ns = one.busy_ns;
    facts.between_ns = one.between_ns;
    facts.has_waits = one.has_waits;
    if (auto const at = ranges.find(one.first_subjects.front()); at != ranges.end())
      facts.range = text_of_range(trace, at->second->longest());
  }
  return sequences;
}

double mean(double ns, std::uint64_t count) noexcept {
  return count == 0 ? 0 : ns / static_cast<double>(count);
}

/// Returns collectives by name, and copies between GPUs; only the copies have a size in bytes.
std::vector<communication_facts> communication_of(trace_contents& trace,
                                                  timeline_pass const& pass) {
  auto const& labels = trace.labels(kernel_name_style::base);
  auto const is_collective = find_collectives(trace);
  std::map<std::string, std::pair<communication_facts, kernel_times>> by_name;
  for (auto const& [key, times] : pass.kernels()) {
    auto const shape = static_cast<std::uint32_t>(key);
    if (shape >= is_collective.size() || !is_collective[shape]) continue;
    auto& [facts, all] = by_name[labels.text(labels.label_of(static_cast<shape_id>(shape)))];
    facts.count += times.launches;
    facts.total_ns += times.total_ns;
    facts.alone_ns += times.alone_ns;
    all.alone_launches += times.alone_launches;
    all.alone_launches_ns += times.alone_launches_ns;
  }
  std::vector<communication_facts> found;
  for (auto& [name, of] : by_name) {
    auto& [facts, all] = of;
    facts.name = name;
    facts.mean_ns_alone = mean(all.alone_launches_ns, all.alone_launches);
    facts.mean_ns_beside =
        mean(facts.total_ns - all.alone_launches_ns, facts.count - all.alone_launches);
    found.push_back(std::move(facts));
  }
  for (auto const& [key, times] : pass.transfers()) {
    if (key.kind != copy_kind::peer_to_peer) continue;
    found.push_back({.name = "peer copy",
                     .count = times.count,
                     .total_ns = times.total_ns,
                     .alone_ns = times.alone_ns,
                     .bytes = static_cast<double>(times.bytes)});
  }
  return found;
}

std::vector<serialized_facts> serialized_of(trace_contents& trace, timeline_pass const& pass) {
  std::vector<serialized_facts> all;
  for (auto const& [device, sum] : pass.serialized())
    all.push_back({.device = device,
                   .range = text_of_range(trace, sum.ranges.longest()),
                   .count = sum.count,
                   .waited_ns = sum.waited_ns,
                   .overlap_ns = sum.overlap_ns});
  return all;
}

}  // namespace

std::string text_of_range(trace_contents& trace, std::optional<range_key> const& range) {
  return range ? std::string(without_number(range_name(*range, trace.text()))) : std::string();
}

bool is_name_of_loading(std::string_view name) noexcept {
  for (auto const word : {"ataLoader", "ataloader", "data_load", "load_data", "load_batch",
                          "next_batch", "get_batch", "data loading", "input_pipeline", "prefetch"})
    if (name.find(word) != std::string_view::npos) return true;
  return false;
}

void take_texts(trace_contents& trace, timeline_pass const& pass, advice::run_facts& facts) {
  facts.copies = copies_of(trace, pass);
  facts.gaps = gaps_of(trace, pass);
  facts.calls = calls_of(trace, pass);
  facts.sequences = sequences_of(trace, pass);
  facts.communication = communication_of(trace, pass);
  facts.serialized = serialized_of(trace, pass);
}

}  // namespace gpuprof::host::command
