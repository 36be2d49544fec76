// SPDX-License-Identifier: Apache-2.0
#include "host/replay/step_paths.hpp"

#include <algorithm>
#include <numeric>

namespace gpuprof::host::replay {
namespace {

constexpr std::size_t one_of_slowest = 100;     // steps
constexpr std::size_t max_beside_the_path = 5;  // subjects with a long time that is not on the path

/// Times of GPU work, calls and ranges, by name. The last range stands for CPU work outside.
struct sums_by_name {
  std::vector<path_sum> works, calls, ranges;

  explicit sums_by_name(recorded_steps const& of)
      : works(of.work_names.size()),
        calls(of.call_names.size()),
        ranges(of.range_names.size() + 1) {}

  path_sum* find(path_part part, std::uint32_t name) {
    switch (part) {
      case path_part::kernels:
      case path_part::copies:
        return name < works.size() ? &works[name] : nullptr;
      case path_part::calls:
        return name < calls.size() ? &calls[name] : nullptr;
      case path_part::cpu_work:
        return name == nothing ? &ranges.back() : &ranges[name];
      case path_part::start:
      case path_part::unexplained:
        break;
    }
    return nullptr;
  }
};

struct group_of_steps {
  path_of_group sums;
  sums_by_name names;
};

/// Path and time of work belong to the step that launched it, so a program that launches ahead of
/// its GPU has steps as long as the GPU takes.
class division_by_step {
 public:
  division_by_step(step_edit const& edit, replayed_steps const& replayed)
      : edit_(edit),
        graph_(edit.graph()),
        replayed_(replayed),
        path_(stretches_of(edit, replayed)),
        of_point_(graph_.points().size(), nothing),
        of_item_(graph_.items().size(), nothing) {
    find_steps();
    for (auto const& one : path_.path)
      if (auto const step = step_of(one); step != nothing)
        length_ns_[step] += one.end_ns - one.begin_ns;
    // What ran before the first step cuts off the begin of the step that comes after it.
    std::uint32_t first = 0;
    if (replayed_.begin_ns > 0 && !path_.path.empty())
      if (auto const cut = step_of(path_.path.back()); cut != nothing) first = cut + 1;
    for (auto step = first; step < length_ns_.size(); ++step) by_length_.push_back(step);
    std::stable_sort(by_length_.begin(), by_length_.end(),
                     [&](auto a, auto b) { return length_ns_[a] < length_ns_[b]; });
  }

  std::size_t steps() const noexcept { return by_length_.size(); }

  group_of_steps median() const { return sum_up((steps() - 1) / 2, 1); }
  group_of_steps slowest() const {
    auto const count = std::max<std::size_t>(1, steps() / one_of_slowest);
    return sum_up(steps() - count, count);
  }

 private:
  void find_steps() {
    auto step = nothing;
    for (std::uint32_t q = 0; q < graph_.points().size(); ++q) {
      auto const& point = graph_.points()[q];
      if (point.kind == point_kind::step_begin && point.lane == 0) {
        step = static_cast<std::uint32_t>(length_ns_.size());
        length_ns_.push_back(0);
      }
      of_point_[q] = step;
      for (auto const item : point.items) of_item_[item] = step;
    }
  }

  /// CPU work between two steps belongs to the first of them.
  std::uint32_t step_of_work(std::uint32_t q) const noexcept {
    auto const& point = graph_.points()[q];
    auto const begins = point.kind == point_kind::step_begin && point.lane == 0;
    return !begins ? of_point_[q] : of_point_[q] == 0 ? nothing : of_point_[q] - 1;
  }
  std::uint32_t step_of(path_stretch const& one) const noexcept {
    if (one.element == nothing) return nothing;
    if (one.is_item) return of_item_[one.element];
    return one.part == path_part::cpu_work ? step_of_work(one.element) : of_point_[one.element];
  }

  /// A replay may shift elements by some nanoseconds.
  std::int64_t shift_ns(path_stretch const& one) const noexcept {
    return one.is_item
               ? graph_.items()[one.element].start_ns - replayed_.items[one.element].begin_ns
               : graph_.points()[one.element].begin_ns - replayed_.points[one.element].begin_ns;
  }

  std::vector<path_stretch> path_of(std::uint32_t step) const {
    std::vector<path_stretch> made;
    for (auto at = path_.path.rbegin(); at != path_.path.rend(); ++at) {
      if (step_of(*at) != step) continue;
      auto const shift = shift_ns(*at);
      made.push_back(*at);
      made.back().begin_ns += shift;
      made.back().end_ns += shift;
    }
    return made;
  }

  /// Sums over this number of steps, from this place in the order of their lengths.
  group_of_steps sum_up(std::size_t from, std::size_t count) const {
    group_of_steps made{{}, sums_by_name(graph_.recorded())};
    made.sums.steps = count;
    made.sums.longest = path_of(by_length_[from + count - 1]);
    auto const share = 1 / static_cast<double>(count);
    std::vector<bool> chosen(length_ns_.size());
    for (auto i = from; i < from + count; ++i) {
      chosen[by_length_[i]] = true;
      made.sums.length_ns += share * static_cast<double>(length_ns_[by_length_[i]]);
    }
    auto const is_chosen = [&](std::uint32_t step) { return step != nothing && chosen[step]; };
    for (auto const& one : path_.path) {
      if (!is_chosen(step_of(one))) continue;
      auto const add = [&](path_sum& to) {
        to.path_ns += share * static_cast<double>(one.end_ns - one.begin_ns);
        to.count += share;
      };
      add(made.sums.parts[static_cast<std::size_t>(one.part)]);
      if (auto* const name = made.names.find(one.part, one.name)) add(*name);
    }
    for (auto const& one : path_.inferred)
      if (is_chosen(step_of(one)))
        made.sums.inferred_ns += share * static_cast<double>(one.end_ns - one.begin_ns);
    auto const add_total = [&](std::uint32_t step, std::int64_t ns, path_part part,
                               std::uint32_t name) {
      if (!is_chosen(step)) return;
      auto const of_step = share * static_cast<double>(ns);
      made.sums.parts[static_cast<std::size_t>(part)].total_ns += of_step;
      if (auto* const one = made.names.find(part, name)) one->total_ns += of_step;
    };
    for (std::uint32_t i = 0; i < graph_.items().size(); ++i) {
      auto const& item = graph_.items()[i];
      if (edit_.gone_items()[i] == 0)
        add_total(of_item_[i], edit_.length_ns()[i],
                  item.kind == work_kind::copy ? path_part::copies : path_part::kernels, item.name);
    }
    for (std::uint32_t q = 0; q < graph_.points().size(); ++q) {
      if (edit_.kept_points()[q] == 0) continue;
      auto const& point = graph_.points()[q];
      auto const& moment = replayed_.points[q];
      // As on the path: a thread beside that of the steps works from the begin of the step.
      auto const work_ns = moment.by == constraint::step
                               ? moment.begin_ns - replayed_.points[moment.from].begin_ns
                               : edit_.work_ns()[q];
      add_total(step_of_work(q), work_ns, path_part::cpu_work,
                point.range == nothing ? nothing : graph_.recorded().ranges[point.range].name);
      if (point.kind == point_kind::call)
        add_total(of_point_[q], moment.end_ns - moment.begin_ns, path_part::calls, point.name);
    }
    return made;
  }

  step_edit const& edit_;
  step_graph const& graph_;
  replayed_steps const& replayed_;
  stretches_of_path const path_;
  std::vector<std::uint32_t> of_point_, of_item_;  // step; nothing: before the first
  std::vector<std::int64_t> length_ns_;            // of each step, on the path
  std::vector<std::uint32_t> by_length_;           // the shortest first
};

double greatest_share(path_subject const& of, step_paths const& in) {
  auto const share = [](path_sum const& sum, path_of_group const& group) {
    return group.length_ns > 0 ? sum.path_ns / group.length_ns : 0;
  };
  return std::max(share(of.median, in.median), share(of.slowest, in.slowest));
}

void add_names(step_paths& to, subject_kind kind, std::vector<std::string> const& names,
               std::vector<path_sum> const& median, std::vector<path_sum> const& slowest) {
  for (std::size_t i = 0; i < median.size(); ++i)
    if (median[i].path_ns > 0 || slowest[i].path_ns > 0 ||
        (kind == subject_kind::work && (median[i].total_ns > 0 || slowest[i].total_ns > 0)))
      to.subjects.push_back(
          {kind, i < names.size() ? names[i] : std::string{}, median[i], slowest[i]});
}

void keep_greatest(step_paths& of, std::size_t count) {
  auto& all = of.subjects;
  std::stable_sort(all.begin(), all.end(), [&](auto const& a, auto const& b) {
    auto const share_a = greatest_share(a, of), share_b = greatest_share(b, of);
    return share_a != share_b ? share_a > share_b : a.median.total_ns > b.median.total_ns;
  });
  auto const is_on_path = [](auto const& one) {
    return one.median.path_ns > 0 || one.slowest.path_ns > 0;
  };
  auto const on_path =
      static_cast<std::size_t>(std::find_if_not(all.begin(), all.end(), is_on_path) - all.begin());
  auto const kept = std::min(count, on_path);
  auto rest = std::vector<path_subject>(all.begin() + static_cast<std::ptrdiff_t>(kept), all.end());
  all.resize(kept);
  std::erase_if(rest, [](auto const& one) { return one.kind != subject_kind::work; });
  std::stable_sort(rest.begin(), rest.end(), [](auto const& a, auto const& b) {
    return a.median.total_ns > b.median.total_ns;
  });
  rest.resize(std::min(rest.size(), max_beside_the_path));
  all.insert(all.end(), rest.begin(), rest.end());
}

}  // namespace

step_paths step_paths_of(step_edit const& edit, replayed_steps const& replayed, std::size_t count) {
  division_by_step const division(edit, replayed);
  step_paths made;
  made.steps = division.steps();
  if (made.steps == 0) return made;
  auto const median = division.median(), slowest = division.slowest();
  made.median = median.sums;
  made.slowest = slowest.sums;
  auto const& recorded = edit.graph().recorded();
  add_names(made, subject_kind::work, recorded.work_names, median.names.works, slowest.names.works);
  add_names(made, subject_kind::call, recorded.call_names, median.names.calls, slowest.names.calls);
  add_names(made, subject_kind::range, recorded.range_names, median.names.ranges,
            slowest.names.ranges);
  keep_greatest(made, count);
  return made;
}

}  // namespace gpuprof::host::replay
