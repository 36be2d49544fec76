// SPDX-License-Identifier: Apache-2.0
#include "comparison/advice_figures.hpp"

#include "analyze/run_reading.hpp"
#include "host/advice/advice.hpp"

namespace gpuprof {
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

void take_advice(compare::run_digest& digest, trace_contents& trace, std::string const& step) {
  run_reading reading(trace, nullptr, step);
  reading.read();
  if (reading.ledger().by_device().empty()) return;
  take_buckets(digest, reading.ledger());
  auto const window = reading.facts().all_windows_ns();
  auto const advice = advise::give_advice(reading.facts(), {});
  auto& findings = digest.findings.emplace();
  for (auto const* list : {&advice.findings, &advice.too_small})
    for (auto const& one : *list)
      findings[std::string(one.rule)] += window > 0 ? one.gain.high_ns / window : 0;
}

}  // namespace gpuprof
