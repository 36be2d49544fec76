// SPDX-License-Identifier: Apache-2.0
#include "sweep/sweep_of_captures.hpp"

#include "base/readable.hpp"
#include "host/report/roofline_chart.hpp"
#include "text/padding.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace gpuprof::host::command {
namespace {

constexpr std::size_t max_sizes_named = 4, max_left_out_named = 6;

/// Returns the median DRAM roof, computed from rates and shares: the roof for the actual mix of
/// reads and writes.
std::optional<double> roof_of_the_mix(std::span<roofline_row const> rows) {
  std::vector<double> roofs;
  for (auto const& row : rows)
    if (row.dram_rate && row.shares[dram_roof] && *row.shares[dram_roof] > 0)
      roofs.push_back(*row.dram_rate / *row.shares[dram_roof]);
  if (roofs.empty()) return std::nullopt;
  auto const middle = roofs.begin() + static_cast<std::ptrdiff_t>(roofs.size() / 2);
  std::nth_element(roofs.begin(), middle, roofs.end());
  return *middle;
}

report::roofline_roofs drawn_roofs(std::span<roofline_row const> rows,
                                   measured_roofs const& peaks) {
  auto roofs = report::roofs_of(rows, peaks);
  std::erase_if(roofs.memory, [](auto const& roof) {
    return roof.name != "DRAM" || (!roof.measured && !roof.theory);
  });
  if (auto const mix = roof_of_the_mix(rows); mix && !roofs.memory.empty())
    roofs.memory.front().measured = mix;
  return roofs;
}

/// Collects the captures of a sweep, with notes for readers.
class collection {
 public:
  void take(std::string const& path, swept_capture of) {
    if (all_.points.empty()) {
      all_ = of;
      all_.notes.clear();
    } else {
      all_.points.insert(all_.points.end(), of.points.begin(), of.points.end());
      all_.rows.insert(all_.rows.end(), of.rows.begin(), of.rows.end());
      if (all_.roofs.empty()) all_.roofs = of.roofs;
    }
    programs_[of.program].push_back(path);
    devices_[of.device].push_back(path);
    for (auto const& note : of.notes) notes_.push_back(path + ": " + note);
  }
  void leave_out(std::string const& why) {
    if (left_out_++ < max_left_out_named) notes_.push_back("left out: " + why);
  }

  bool empty() const noexcept { return all_.points.empty(); }
  swept_capture const& all() const noexcept { return all_; }
  std::vector<std::string> notes(std::span<sweep_point const> points) {
    auto out = std::move(notes_);
    if (left_out_ > max_left_out_named)
      out.push_back("left out: " + counted(left_out_ - max_left_out_named, "more captures") +
                    " for such reasons");
    say_several(out, programs_, "different programs");
    say_several(out, devices_, "different GPUs, the roofs are of the first");
    say_equal_sizes(out, points);
    if (!has_sizes(points)) say_categories(out, points);
    for (auto& note : out) note = text::on_one_line(note);
    return out;
  }

 private:
  using captures_by = std::map<std::string, std::vector<std::string>>;
  static void say_several(std::vector<std::string>& out, captures_by const& of,
                          std::string const& what) {
    if (of.size() < 2) return;
    auto text = what + ": ";
    std::size_t shown = 0;
    for (auto const& [name, paths] : of) {
      if (shown == max_sizes_named) {
        text += " and " + std::to_string(of.size() - shown) + " more";
        break;
      }
      text += (shown++ == 0 ? "" : ", ") + (name.empty() ? "(not known)" : name) + " (" +
              paths.front() + ")";
    }
    out.push_back(std::move(text));
  }
  static void say_equal_sizes(std::vector<std::string>& out, std::span<sweep_point const> points) {
    std::string sizes;
    std::size_t count = 0;
    for (auto const& point : points) {
      if (point.captures < 2) continue;
      if (count++ < max_sizes_named)
        sizes +=
            (sizes.empty() ? "" : ", ") + point.label + " (" + std::to_string(point.captures) + ")";
    }
    if (count > max_sizes_named)
      sizes += " and " + std::to_string(count - max_sizes_named) + " more";
    if (count > 0) out.push_back("several captures of a size, their mean is shown: " + sizes);
  }
  static void say_categories(std::vector<std::string>& out, std::span<sweep_point const> points) {
    auto const first =
        std::find_if(points.begin(), points.end(), [](auto const& p) { return !p.size; });
    out.push_back("'" + first->label +
                  "' is no number: labels are categories, in the order given, without a size at "
                  "which the plateau is reached");
  }

  swept_capture all_;
  std::vector<std::string> notes_;
  std::size_t left_out_ = 0;
  captures_by programs_, devices_;
};

std::string subject_of(sweep_question const& question, std::string const& range) {
  std::string kernels;
  for (auto const& name : question.filters.kernels)
    kernels += (kernels.empty() ? "kernel " : ", ") + name;
  if (range.empty()) return kernels.empty() ? "all kernels" : kernels;
  return kernels.empty() ? "range " + range : kernels + " in range " + range;
}

}  // namespace

std::variant<report::sweep, sweep_failure> sweep_of_captures(std::span<std::string const> paths,
                                                             sweep_question const& question,
                                                             std::string const& over) {
  collection captures;
  std::string first_failure;
  for (auto const& path : paths) {
    auto read = read_sweep(path, question);
    if (auto* const failed = std::get_if<sweep_failure>(&read)) {
      if (failed->wrong_options) return *failed;
      if (first_failure.empty()) first_failure = failed->message;
      captures.leave_out(failed->message);
      continue;
    }
    captures.take(path, std::get<swept_capture>(std::move(read)));
  }
  if (captures.empty())
    return sweep_failure{first_failure + (paths.size() > 1
                                              ? "; the same or the like of all " +
                                                    std::to_string(paths.size()) + " captures"
                                              : "")};
  auto const& all = captures.all();
  report::sweep out;
  out.points = in_order(all.points);
  out.found = find_in(out.points);
  out.facts = {.over = over,
               .subject = subject_of(question, all.range),
               .calls = question.counts_ranges() ? "ranges" : "launches",
               .program = all.program,
               .device = all.device,
               .notes = captures.notes(out.points),
               .roofs = drawn_roofs(all.rows, all.roofs)};
  return out;
}

}  // namespace gpuprof::host::command
