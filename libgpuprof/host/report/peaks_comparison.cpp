// SPDX-License-Identifier: Apache-2.0
#include "host/report/peaks_comparison.hpp"

#include "host/report/peaks_grid.hpp"
#include "host/report/peaks_words.hpp"
#include "text/padding.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace gpuprof::report {
namespace {

bool has_figure(peak_result const* result) noexcept {
  return result != nullptr && result->outcome == peak_outcome::measured && result->burst.is_there();
}

std::string burst_text(peak_result const* result) {
  if (has_figure(result))
    return short_number(result->burst.value / unit_for_reading(result->unit).size);
  return result != nullptr && result->outcome == peak_outcome::failed ? "failed" : "-";
}

/// Empty when fewer than two have a figure.
std::string spread_text(compared_test const& test) {
  std::vector<double> values;
  for (auto const* result : test.on_each)
    if (has_figure(result)) values.push_back(result->burst.value);
  std::sort(values.begin(), values.end());
  if (values.size() < 2) return {};
  auto const middle = values.size() / 2;
  auto const median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return median > 0 ? share_text((values.back() - values.front()) / median) : "";
}

/// Each remark once, with the GPUs it is about unless it is about all.
std::vector<std::string> notes_on(compared_test const& test, std::span<std::string const> labels) {
  std::map<std::string, std::vector<std::size_t>> about;
  for (std::size_t i = 0; i < test.on_each.size(); ++i)
    if (test.on_each[i] != nullptr)
      if (auto note = note_on(*test.on_each[i]); !note.empty()) about[std::move(note)].push_back(i);
  std::vector<std::string> notes;
  for (auto const& [note, gpus] : about) {
    std::string which;
    if (gpus.size() < test.on_each.size())
      for (auto const gpu : gpus) which += (which.empty() ? "" : ", ") + labels[gpu];
    notes.push_back(title_of(test.any()) + (which.empty() ? "" : " (" + which + ")") + ": " + note);
  }
  return notes;
}

/// How many columns of GPUs fit beside titles and spread; at least one.
std::size_t columns_that_fit(peak_group const& group, std::span<std::string const> labels,
                             std::size_t width) {
  constexpr std::size_t gap = 2, spread = 6, least = 6;
  auto titles = width_of(group.title), column = least;
  for (auto const& test : group.tests) titles = std::max(titles, width_of(title_of(test.any())));
  for (auto const& label : labels) column = std::max(column, width_of(label));
  auto const taken = titles + gap + spread;
  return std::max<std::size_t>(1, (width - std::min(width, taken)) / (column + gap));
}

}  // namespace

void write_comparison(peak_group const& group, std::span<std::string const> labels,
                      std::size_t width, text_sink const& out) {
  auto const at_once = columns_that_fit(group, labels, width);
  for (std::size_t first = 0; first < labels.size(); first += at_once) {
    auto const end = std::min(labels.size(), first + at_once);
    grid beside{group.title, {}, {}, {}};
    for (auto i = first; i < end; ++i) beside.columns.push_back({labels[i]});
    beside.columns.push_back({"spread"});
    for (auto const& test : group.tests) {
      grid_line line{title_of(test.any()), {}, {}, {}};
      for (auto i = first; i < end; ++i) line.cells.push_back(burst_text(test.on_each[i]));
      line.cells.push_back(spread_text(test));
      beside.lines.push_back(std::move(line));
      if (end == labels.size())
        for (auto& note : notes_on(test, labels)) beside.notes.push_back(std::move(note));
    }
    write_grid(beside, width, false, out);
  }
}

}  // namespace gpuprof::report
