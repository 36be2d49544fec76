// SPDX-License-Identifier: Apache-2.0
#include "host/advice/joined_advice.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace gpuprof::host::advice {
namespace {

/// Removes digits, so that "copies of 4 bytes" and "copies of 8 bytes" match between two ranks.
std::string without_figures(std::string_view what) {
  std::string words;
  for (auto const c : what)
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 && c != '.' && c != ',') words += c;
  return words;
}

/// The number distinguishes findings that one rank reports twice, for example for two GPUs.
using finding_key =
    std::tuple<std::string, std::string, std::string, std::string, std::string, std::size_t>;

class joiner {
 public:
  void add(advice_of_rank const& rank) {
    std::map<finding_key, std::size_t> seen;
    for (auto const& one : rank.given.findings) add(one, rank, seen, true);
    for (auto const& one : rank.given.too_small) add(one, rank, seen, false);
    for (auto const& one : rank.given.missing) add(one);
  }

  joined_advice finish() {
    joined_advice all;
    for (auto& [joined, is_shown] : findings_)
      (is_shown ? all.findings : all.too_small).push_back(std::move(joined));
    for (auto* const list : {&all.findings, &all.too_small})
      std::stable_sort(list->begin(), list->end(), [](auto const& a, auto const& b) {
        return saved_by_all(a) > saved_by_all(b);
      });
    for (auto& one : missing_) one.how = how_to_record(one.missing);
    all.missing = std::move(missing_);
    return all;
  }

 private:
  struct line {
    joined_finding joined;
    bool is_shown = false;
  };

  static double saved_by_all(joined_finding const& joined) {
    double sum = 0;
    for (auto const& rank : joined.ranks) sum += rank.gain.high_ns;
    auto const alone = joined.one.alone_ns * static_cast<double>(joined.ranks.size());
    return (sum + std::min(sum, alone)) / 2;
  }

  void add(finding const& one, advice_of_rank const& rank, std::map<finding_key, std::size_t>& seen,
           bool is_shown) {
    finding_key key{
        std::string(one.rule), without_figures(one.what), one.range, one.kernel, one.call, 0};
    std::get<5>(key) = seen[key]++;
    auto const [at, is_new] = index_.emplace(std::move(key), findings_.size());
    if (is_new) findings_.emplace_back();
    auto& [joined, any_shown] = findings_[at->second];
    any_shown = any_shown || is_shown;
    if (is_new || one.gain.high_ns > joined.ns.high) joined.one = one;
    auto const share = rank.all_windows_ns > 0 ? 1 / rank.all_windows_ns : 0;
    widen(joined.ns, {one.gain.low_ns, one.gain.high_ns}, is_new);
    widen(joined.share, {one.gain.low_ns * share, one.gain.high_ns * share}, is_new);
    joined.ranks.push_back({rank.rank, one.instances, one.gain, rank.all_windows_ns});
  }

  static void widen(interval& all, interval const& one, bool is_first) {
    all.low = is_first ? one.low : std::min(all.low, one.low);
    all.high = is_first ? one.high : std::max(all.high, one.high);
  }

  void add(not_looked_at const& one) {
    for (auto& known : missing_)
      if (known.of == one.of) {
        known.missing = known.missing | one.missing;
        return;
      }
    missing_.push_back({one.of, one.missing, {}});
  }

  std::vector<line> findings_;
  std::map<finding_key, std::size_t> index_;
  std::vector<rule_without_data> missing_;
};

}  // namespace

joined_advice join(std::span<advice_of_rank const> ranks) {
  joiner all;
  for (auto const& rank : ranks) all.add(rank);
  auto joined = all.finish();
  joined.ranks = ranks.size();
  return joined;
}

namespace {

using bound_times = std::vector<std::pair<bound_by, double>>;

void add(bound_times& times, bound_by const& bound, double ns) {
  auto known = std::find_if(times.begin(), times.end(),
                            [&](auto const& time) { return time.first == bound; });
  if (known == times.end()) known = times.insert(times.end(), {bound, 0});
  known->second += ns;
}

}  // namespace

std::optional<roof_distance> roof_distance_of(run_facts const& facts) {
  double all_ns = 0, known_ns = 0, reached_ns = 0;
  bound_times by_bound;
  for (auto const& kernel : facts.kernels) {
    if (kernel.is_communication) continue;
    all_ns += kernel.total_ns;
    if (!kernel.figures.of_roof) continue;
    known_ns += kernel.total_ns;
    reached_ns += kernel.total_ns * *kernel.figures.of_roof;
    add(by_bound, kernel.figures.bound, kernel.total_ns);
  }
  if (known_ns <= 0) return std::nullopt;
  auto const longest =
      std::max_element(by_bound.begin(), by_bound.end(),
                       [](auto const& a, auto const& b) { return a.second < b.second; });
  return roof_distance{reached_ns / known_ns, known_ns / all_ns, longest->first};
}

}  // namespace gpuprof::host::advice
