// SPDX-License-Identifier: Apache-2.0
#include "host/compare/matching.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

namespace gpuprof::host::compare {
namespace {

constexpr double launches_differ = 0.01;  // the last step may be cut off

bool are_alike(double a, double b) {
  return std::abs(a - b) <= launches_differ * std::max(a, b);
}

using kernel_keys = std::vector<kernel_key>;

class matcher {
 public:
  matcher(side_kernels const& base, side_kernels const& fresh) : base_(base), fresh_(fresh) {}

  std::vector<kernel_match> run() {
    match_with_geometry();
    match_names();
    for (auto const& key : std::vector(gone_.begin(), gone_.end())) match_chain(key);
    for (auto const& key : std::vector(gone_.begin(), gone_.end())) match_in_range(key);
    for (auto const& key : gone_) matches_.push_back({match_kind::gone, {key}, {}});
    for (auto const& key : added_) matches_.push_back({match_kind::added, {}, {key}});
    return std::move(matches_);
  }

 private:
  using keys = kernel_keys;

  void match_with_geometry();
  void match_names();
  void match_chain(kernel_key const& first);
  void match_in_range(kernel_key const& was);
  bool are_in_place_of(kernel_key const& was, keys const& candidates);
  keys in_range(std::string const& range) const;
  bool is_only_one_of_range(std::string const& range) const;

  side_kernels const &base_, &fresh_;
  std::set<kernel_key> gone_, added_;
  std::vector<kernel_match> matches_;
};

void matcher::match_with_geometry() {
  for (auto const& [key, _] : base_) {
    if (fresh_.contains(key))
      matches_.push_back({match_kind::same, {key}, {key}});
    else
      gone_.insert(key);
  }
  for (auto const& [key, _] : fresh_)
    if (!base_.contains(key)) added_.insert(key);
}

void matcher::match_names() {
  std::map<std::string, std::pair<keys, keys>> by_name;
  for (auto const& key : gone_) by_name[key.name].first.push_back(key);
  for (auto const& key : added_) by_name[key.name].second.push_back(key);
  for (auto& [_, sides] : by_name) {
    auto& [before, after] = sides;
    if (before.empty() || after.empty()) continue;
    for (auto const& key : before) gone_.erase(key);
    for (auto const& key : after) added_.erase(key);
    matches_.push_back({match_kind::by_name, std::move(before), std::move(after)});
  }
}

matcher::keys matcher::in_range(std::string const& range) const {
  keys found;
  for (auto const& key : added_)
    if (fresh_.at(key).range == range) found.push_back(key);
  return found;
}

bool matcher::is_only_one_of_range(std::string const& range) const {
  return std::count_if(gone_.begin(), gone_.end(),
                       [&](auto const& key) { return base_.at(key).range == range; }) == 1;
}

/// Returns kernels of `among` that ran one after the other, starting after `predecessor`.
kernel_keys chain_behind(std::string const& predecessor, std::set<kernel_key> const& among,
                         side_kernels const& side) {
  kernel_keys chain;
  auto last = predecessor;
  for (bool found = true; found;) {
    found = false;
    for (auto const& key : among) {
      if (side.at(key).predecessor != last) continue;
      if (std::find(chain.begin(), chain.end(), key) != chain.end()) continue;
      chain.push_back(key);
      last = key.name;
      found = true;
      break;
    }
  }
  return chain;
}

bool matcher::are_in_place_of(kernel_key const& was, keys const& candidates) {
  auto const& of = base_.at(was);
  if (candidates.empty() || of.launches <= 0) return false;
  auto const first = fresh_.at(candidates.front()).launches;
  double all = 0;
  for (auto const& key : candidates) {
    auto const launches = fresh_.at(key).launches;
    if (!are_alike(launches, first)) return false;
    all += launches;
  }
  auto const multiple = first / of.launches;
  auto const is_renamed = candidates.size() == 1;
  if (std::round(multiple) < 1 || !are_alike(multiple, std::round(multiple))) return false;
  if (is_renamed && !are_alike(multiple, 1)) return false;
  for (auto const& key : candidates) added_.erase(key);
  gone_.erase(was);
  matches_.push_back(
      {is_renamed ? match_kind::renamed : match_kind::split, {was}, candidates, all / of.launches});
  return true;
}

/// If several kernels disappeared and as many came in their place, pairs them in order. If only one
/// disappeared, it was renamed or split.
void matcher::match_chain(kernel_key const& first) {
  if (!gone_.contains(first)) return;
  auto const& predecessor = base_.at(first).predecessor;
  auto const went = chain_behind(predecessor, gone_, base_);
  auto const came = chain_behind(predecessor, added_, fresh_);
  if (went.empty() || went.front() != first) return;
  if (went.size() == 1) {
    are_in_place_of(first, came);
  } else if (went.size() == came.size()) {
    for (std::size_t i = 0; i < went.size(); ++i) are_in_place_of(went[i], {came[i]});
  }
}

void matcher::match_in_range(kernel_key const& was) {
  auto const& range = base_.at(was).range;
  if (is_only_one_of_range(range)) are_in_place_of(was, in_range(range));
}

}  // namespace

side_kernels kernels_of(std::span<run_digest const> side, bool by_step) {
  side_kernels found;
  for (auto const& run : side) {
    auto const steps = by_step && run.step ? static_cast<double>(run.step->count) : 1;
    for (auto const& [key, line] : run.kernels) {
      auto& of = found[key];
      of.launches +=
          static_cast<double>(line.durations.count()) / steps / static_cast<double>(side.size());
      of.range = line.range;
      of.predecessor = line.predecessor;
    }
  }
  return found;
}

std::vector<kernel_match> match_kernels(side_kernels const& base, side_kernels const& fresh) {
  return matcher(base, fresh).run();
}

}  // namespace gpuprof::host::compare
