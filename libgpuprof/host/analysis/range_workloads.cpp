// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/range_workloads.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace gpuprof::host {
namespace {

using tallies_by_workload = std::unordered_map<std::uint32_t, launch_tally>;

std::vector<tallied_workload> in_order(tallies_by_workload const& tallies) {
  std::vector<tallied_workload> all;
  for (auto const& [workload, tally] : tallies) all.push_back({workload, tally});
  std::sort(all.begin(), all.end(),
            [](auto const& a, auto const& b) { return a.workload < b.workload; });
  return all;
}

}  // namespace

range_workloads::range_workloads(range_tree const& tree, open_ranges const& open,
                                 launch_ranges const& launched,
                                 std::map<range_id, range_declaration> const& declared,
                                 range_grouping const& line_of)
    : tree_(tree),
      open_(open),
      launched_(launched),
      paths_(number_paths(tree, launched.scope(), line_of)),
      has_work_(tree.size()) {
  for (auto const& [id, work] : declared) {
    auto const range = tree.index_of(id);
    if (range == no_range) continue;
    flops_.declare(range, work.flops, tree.size());
    bytes_.declare(range, work.bytes, tree.size());
  }
}

void range_workloads::declared_amounts::declare(std::uint32_t range, double amount,
                                                std::size_t ranges) {
  if (!(amount > 0)) return;
  amounts.resize(ranges);
  own_ns.resize(ranges);
  amounts[range] = amount;
}

/// Returns true if the launch is inside any range.
bool range_workloads::add(std::uint32_t innermost, timestamp_ns launched,
                          workload_times::seen const& seen, std::uint64_t ns) {
  if (innermost != no_range) {
    has_work_[innermost] = true;
    cells_.add(paths_.of_range[innermost], seen, ns);
    note_declared(flops_, innermost, ns);
    note_declared(bytes_, innermost, ns);
  }
  if (launched.value == 0) return innermost != no_range;
  auto const open = open_.at(launched);
  for (std::size_t i = 0; i < open.size(); ++i) {
    has_work_[open[i]] = true;
    auto const path = paths_.of_range[open[i]];
    bool const again = std::any_of(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(i),
                                   [&](std::uint32_t r) { return paths_.of_range[r] == path; });
    if (!again) cells_.add(path, seen, ns);
  }
  return innermost != no_range || !open.empty();
}

void range_workloads::note_declared(declared_amounts& of, std::uint32_t range, std::uint64_t ns) {
  if (of.amounts.empty()) return;
  while (range != no_range && !(of.amounts[range] > 0)) range = outer(range);
  if (range != no_range) of.own_ns[range] += ns;
}

std::uint32_t range_workloads::declaring_around(declared_amounts const& of,
                                                std::uint32_t range) const {
  do {
    range = outer(range);
  } while (range != no_range && !(of.amounts[range] > 0));
  return range;
}

/// `each_line(range, add)` must call add(line) for each line that counts the range. A range's
/// declaration includes those of the ranges inside it, so a line with the outer range skips the
/// inner ones.
template <class Lines>
void range_workloads::add_declared(Lines const& each_line) const {
  auto const add_all = [&](declared_amounts const& of, double range_work::*amount,
                           std::uint64_t range_work::*ns) {
    auto all_ns = of.own_ns;
    std::vector<range_work*> lines_around;
    for (auto i = static_cast<std::uint32_t>(all_ns.size()); i-- > 0;) {  // inner ranges come last
      if (all_ns[i] == 0) continue;
      lines_around.clear();
      if (auto const declarer = declaring_around(of, i); declarer != no_range) {
        all_ns[declarer] += all_ns[i];
        each_line(declarer, [&](range_work& line) { lines_around.push_back(&line); });
      }
      each_line(i, [&](range_work& line) {
        if (std::ranges::find(lines_around, &line) != lines_around.end()) return;
        line.*amount += of.amounts[i];
        line.*ns += all_ns[i];
      });
    }
  };
  add_all(flops_, &range_work::declared_flops, &range_work::declared_ns);
  add_all(bytes_, &range_work::declared_bytes, &range_work::declared_bytes_ns);
}

std::vector<range_work> range_workloads::by_place(
    std::span<std::uint32_t const> place_of_range,
    std::span<std::uint32_t const> place_around) const {
  std::vector<std::uint32_t> place_of_path(paths_.all.size(), no_range);
  for (std::uint32_t i = 0; i < paths_.of_range.size(); ++i)
    place_of_path[paths_.of_range[i]] = place_of_range[i];
  std::vector<tallies_by_workload> tallies(place_around.size());
  for (auto const& cell : cells_.all())
    for (auto at = cell.place == outside ? no_range : place_of_path[cell.place]; at != no_range;
         at = place_around[at])
      tallies[at][cell.workload] += cell.tally;
  std::vector<range_work> rows(place_around.size());
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    rows[i].key.name = static_cast<name_id>(i);
    rows[i].workloads = in_order(tallies[i]);
  }
  add_declared([&](std::uint32_t range, auto const& add) {
    for (auto at = place_of_range[range]; at != no_range; at = place_around[at]) add(rows[at]);
  });
  std::erase_if(rows, [](auto const& row) { return row.workloads.empty(); });
  return rows;
}

std::vector<range_work> range_workloads::rows() const {
  std::map<range_key, range_work> lines;
  auto const each_key_above = [&](std::uint32_t path, auto f) {
    std::set<range_key> done;  // nested ranges of one name count once
    for (auto at = path; at != no_range; at = paths_.all[at].parent)
      if (done.insert(paths_.all[at].key).second) f(paths_.all[at].key);
  };
  std::map<range_key, tallies_by_workload> tallies;
  tallies_by_workload of_outside;
  for (auto const& cell : cells_.all())
    if (cell.place == outside)
      of_outside[cell.workload] += cell.tally;
    else
      each_key_above(cell.place,
                     [&](range_key const& key) { tallies[key][cell.workload] += cell.tally; });
  for (auto const& [key, of_key] : tallies) {
    auto& line = lines[key];
    line.key = key;
    line.workloads = in_order(of_key);
  }
  auto has_work = has_work_;
  for (auto i = static_cast<std::uint32_t>(has_work.size()); i-- > 0;)  // enclosing ones come first
    if (has_work[i] && outer(i) != no_range) has_work[outer(i)] = true;
  for (std::uint32_t i = 0; i < has_work.size(); ++i)
    if (has_work[i]) {
      auto const& key = paths_.all[paths_.of_range[i]].key;
      auto const line = lines.find(key);
      if (line == lines.end()) continue;
      ++line->second.instances;
      auto inside = outer(i);
      while (inside != no_range && paths_.all[paths_.of_range[inside]].key != key)
        inside = outer(inside);
      if (inside == no_range) line->second.length_ns += nanoseconds(tree_[i].duration());
    }
  add_declared([&](std::uint32_t range, auto const& add) {
    each_key_above(paths_.of_range[range], [&](range_key const& key) { add(lines[key]); });
  });
  std::vector<range_work> rows;
  for (auto& [key, line] : lines) rows.push_back(std::move(line));
  if (rows.empty() || of_outside.empty()) return rows;
  auto& last = rows.emplace_back();
  last.is_outside = true;
  last.workloads = in_order(of_outside);
  return rows;
}

}  // namespace gpuprof::host
