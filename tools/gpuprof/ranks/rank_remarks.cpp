// SPDX-License-Identifier: Apache-2.0
#include "ranks/rank_remarks.hpp"

#include "base/readable.hpp"

#include <algorithm>

namespace gpuprof::host::command {
namespace {

using amounts = std::vector<text::overview::amount>;

void add_amounts(amounts& to, amounts const& from) {
  for (auto const& more : from) {
    auto const known =
        std::find_if(to.begin(), to.end(), [&](auto const& a) { return a.what == more.what; });
    if (known != to.end())
      known->count += more.count;
    else
      to.push_back(more);
  }
}

}  // namespace

void joined_heading::add(text::overview const& one, ranked_capture const& capture) {
  ++ranks_;
  if (all_.program.empty()) all_.program = one.program;
  for (auto const& gpu : one.devices) {
    auto const place = capture.host + "\n" + std::to_string(gpu.device);
    auto& known = gpus_.try_emplace(gpu.uuid.empty() ? place : gpu.uuid, gpu).first->second;
    known.has_worked = known.has_worked || gpu.has_worked;
  }
  all_.seconds = std::max(all_.seconds, one.seconds);
  all_.windows = std::max(all_.windows, one.windows);
  add_amounts(all_.records, one.records);
  add_amounts(all_.losses, one.losses);
  all_.ways_to_lose_less.insert(one.ways_to_lose_less.begin(), one.ways_to_lose_less.end());
  for (auto const& loss : one.other_losses) losses_.add(loss, capture.label);
  for (auto const& remark : one.remarks) remarks_.add(remark, capture.label);
}

std::vector<std::string> joined_heading::lines() const {
  auto about = all_;
  about.program +=
      (about.program.empty() ? "" : " ") + std::string("as ") + counted(ranks_, "ranks");
  for (auto const& [_, gpu] : gpus_) about.devices.push_back(gpu);
  about.other_losses = losses_.lines(ranks_);
  about.costs = {"of each rank, in the report of its capture alone"};
  about.remarks = remarks_.lines(ranks_);
  return overview_lines(about);
}

}  // namespace gpuprof::host::command
