// SPDX-License-Identifier: Apache-2.0
#include "host/report/peaks_table.hpp"

#include "base/readable.hpp"
#include "host/report/peaks_words.hpp"
#include "model/peaks.hpp"
#include "text/overview.hpp"
#include "text/padding.hpp"
#include "text/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::host::report {
namespace {

enum class grid_column_kind { to_the_left, to_the_right, bar };

struct grid_column {
  std::string header;
  grid_column_kind kind = grid_column_kind::to_the_right;
};

struct grid_line {
  std::string title;
  std::vector<std::string> cells;  // one per column, empty for the bar; or none at all
  std::optional<double> bar;       // 1: full bar
  std::string instead;             // text shown if there are no cells
};

struct grid {
  std::string title;  // heading above the line titles
  std::vector<grid_column> columns;
  std::vector<grid_line> lines;
  std::vector<std::string> notes;  // shown below the lines
};

constexpr std::size_t gap = 2;
constexpr std::size_t grid_share_width = 5;  // "| 97%"
constexpr std::size_t least_bar = 8, greatest_bar = 27;

/// Draws at most `width` characters, in steps of an eighth of a block.
std::string bar_of(double share, std::size_t width, bool blocks) {
  static constexpr char const* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  auto const full = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
  std::string bar;
  if (!blocks) return bar.append(static_cast<std::size_t>(std::lround(full)), '#');
  auto const steps = static_cast<std::size_t>(std::lround(full * 8));
  for (std::size_t i = 0; i < steps / 8; ++i) bar += "█";
  return bar += eighths[steps % 8];
}

std::string bar_cell(std::optional<double> share, std::size_t width, bool blocks) {
  if (!share || !std::isfinite(*share)) return {};
  std::string text;
  text::append_padded(text, bar_of(*share, width - grid_share_width, blocks),
                      width - grid_share_width, false);
  char percent[16];
  std::snprintf(percent, sizeof percent, "|%3.0f%%", *share * 100);
  return text + percent;
}

bool is_used(grid const& what, std::size_t column) {
  return std::any_of(what.lines.begin(), what.lines.end(), [&](grid_line const& line) {
    if (what.columns[column].kind == grid_column_kind::bar) return line.bar.has_value();
    return !line.cells.empty() && !line.cells[column].empty();
  });
}

struct measured_widths {
  std::size_t title = 0;
  std::vector<std::size_t> columns;  // 0: left out
};

measured_widths widths_of(grid const& what, std::size_t width) {
  measured_widths widths{text::width_of(what.title), {}};
  for (auto const& line : what.lines)
    widths.title = std::max(widths.title, text::width_of(line.title));
  auto taken = widths.title;
  std::optional<std::size_t> bar;
  for (std::size_t c = 0; c < what.columns.size(); ++c) {
    auto& columns_width = widths.columns.emplace_back(0);
    if (!is_used(what, c)) continue;
    columns_width = text::width_of(what.columns[c].header);
    for (auto const& line : what.lines)
      if (!line.cells.empty())
        columns_width = std::max(columns_width, text::width_of(line.cells[c]));
    taken += gap;
    if (what.columns[c].kind == grid_column_kind::bar)
      bar = c;
    else
      taken += columns_width;
  }
  if (bar)
    widths.columns[*bar] = std::clamp(width - std::min(width, taken), least_bar, greatest_bar);
  return widths;
}

void end_line(std::string& line, text::text_sink const& out) {
  while (line.ends_with(' ')) line.pop_back();
  line += '\n';
  out(line);
  line.clear();
}

/// Wraps text to lines of at most `width` characters, all with `indent` blanks in front.
void write_wrapped(std::string_view text, std::size_t indent, std::size_t width,
                   text::text_sink const& out) {
  std::string line(indent, ' ');
  auto is_empty = true;
  while (!text.empty()) {
    auto const end = std::min(text.find(' '), text.size());
    auto const word = text.substr(0, end);
    if (!is_empty && text::width_of(line) + 1 + text::width_of(word) > width) {
      end_line(line, out);
      line.assign(indent, ' ');
      is_empty = true;
    }
    if (!is_empty) line += ' ';
    line += word;
    is_empty = false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  end_line(line, out);
}

/// Leaves out columns that are empty in every line. The bar takes the remaining width, within
/// limits.
void write_grid(grid const& what, std::size_t width, bool blocks, text::text_sink const& out) {
  auto const widths = widths_of(what, width);
  std::string line;
  auto const append_cells = [&](auto const& text_of) {
    for (std::size_t c = 0; c < what.columns.size(); ++c) {
      if (widths.columns[c] == 0) continue;
      line.append(gap, ' ');
      text::append_padded(line, text_of(c), widths.columns[c],
                          what.columns[c].kind == grid_column_kind::to_the_right);
    }
    end_line(line, out);
  };

  text::append_padded(line, what.title, widths.title, false);
  append_cells([&](std::size_t c) { return what.columns[c].header; });
  line.append(widths.title, '-');
  append_cells([&](std::size_t c) { return std::string(widths.columns[c], '-'); });
  for (auto const& entry : what.lines) {
    if (entry.cells.empty()) {
      std::string text;
      write_wrapped(entry.instead, widths.title + gap, width,
                    [&](std::string_view piece) { text += piece; });
      text::append_padded(line, entry.title, widths.title, false);
      out(line + text.substr(widths.title));  // the title replaces the indent
      line.clear();
      continue;
    }
    text::append_padded(line, entry.title, widths.title, false);
    append_cells([&](std::size_t c) {
      return what.columns[c].kind == grid_column_kind::bar
                 ? bar_cell(entry.bar, widths.columns[c], blocks)
                 : entry.cells[c];
    });
  }
  for (auto const& note : what.notes) write_wrapped(note, gap, width, out);
}

/// The tests of one or several GPUs by group, each once.
///
/// A test with its result on each GPU; nullptr if it was not requested there.
struct compared_test {
  std::vector<peak_result const*> on_each;
  peak_result const& any() const;
};

struct peak_group {
  std::string title;  // "Tensor cores, TFLOP/s"
  std::vector<compared_test> tests;
};

struct named_group {
  std::string name;
  std::vector<compared_test> tests;
};

/// Copies to peers are one test with a separate title for each peer.
bool is_same_test(peak_result const& a, peak_result const& b) {
  return a.test == b.test && a.title == b.title;
}

void add(named_group& group, peak_result const& result, std::size_t gpu, std::size_t gpus) {
  auto found = std::find_if(group.tests.begin(), group.tests.end(), [&](compared_test const& test) {
    return test.on_each[gpu] == nullptr && is_same_test(test.any(), result);
  });
  if (found == group.tests.end())
    found = group.tests.insert(group.tests.end(), {std::vector<peak_result const*>(gpus, nullptr)});
  found->on_each[gpu] = &result;
}

std::string units_in(std::vector<compared_test> const& tests) {
  std::vector<std::string> names;
  for (auto const& test : tests) {
    auto name = unit_for_reading(test.any().unit).name;
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  std::string text;
  for (auto const& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

peak_result const& compared_test::any() const {
  return **std::find_if(on_each.begin(), on_each.end(), [](auto const* r) { return r != nullptr; });
}

/// Returns groups and their tests in the order of first occurrence. Borrows `gpus`.
std::vector<peak_group> groups_of(std::span<gpu_peaks const> gpus) {
  std::vector<named_group> groups;
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu)
    for (auto const& result : gpus[gpu].results) {
      auto found = std::find_if(groups.begin(), groups.end(),
                                [&](named_group const& g) { return g.name == result.group; });
      if (found == groups.end()) found = groups.insert(groups.end(), {result.group, {}});
      add(*found, result, gpu, gpus.size());
    }
  std::vector<peak_group> titled;
  for (auto& group : groups) {
    auto const name = group.name.empty() ? "Tests" : group_title(group.name);
    auto const units = units_in(group.tests);
    titled.push_back({name + ", " + units, std::move(group.tests)});
  }
  return titled;
}

bool has_figure(peak_result const* result) noexcept {
  return result != nullptr && result->outcome == peak_outcome::measured && result->burst.is_there();
}

std::string burst_text(peak_result const* result) {
  if (has_figure(result))
    return short_number(result->burst.value / unit_for_reading(result->unit).size);
  return result != nullptr && result->outcome == peak_outcome::failed ? "failed" : "-";
}

/// Empty if fewer than two GPUs have a value.
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

/// Returns each remark once, with the GPUs that it applies to unless these are all.
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

/// Returns how many GPU columns fit besides titles and spread; at least one.
std::size_t columns_that_fit(peak_group const& group, std::span<std::string const> labels,
                             std::size_t width) {
  constexpr std::size_t gap = 2, spread = 6, least = 6;
  auto titles = text::width_of(group.title), column = least;
  for (auto const& test : group.tests)
    titles = std::max(titles, text::width_of(title_of(test.any())));
  for (auto const& label : labels) column = std::max(column, text::width_of(label));
  auto const taken = titles + gap + spread;
  return std::max<std::size_t>(1, (width - std::min(width, taken)) / (column + gap));
}

/// Compares tests of several GPUs side by side.
///
/// Writes a column of bursts for each GPU and one for the spread between them: (greatest - least) /
/// median. GPUs that do not fit on the line follow below.
void write_comparison(peak_group const& group, std::span<std::string const> labels,
                      std::size_t width, text::text_sink const& out) {
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

void append_part(std::string& line, std::string const& part) {
  if (!line.empty()) line += ", ";
  line += part;
}

std::string chip_line(gpu_peaks const& gpu) {
  auto const& key = gpu.key;
  std::string line;
  if (key.sm_count != 0) append_part(line, counted(key.sm_count, "SMs"));
  if (key.max_sm_clock_mhz != 0)
    append_part(line, "up to " + std::to_string(key.max_sm_clock_mhz) + " MHz");
  if (key.application_sm_clock_mhz != 0)
    append_part(line, "held at " + std::to_string(key.application_sm_clock_mhz) +
                          " MHz by application clocks");
  if (key.power_limit_w != 0)
    append_part(line, "power limit " + std::to_string(key.power_limit_w) + " W");
  if (key.memory_bytes != 0)
    append_part(line, readable_bytes(static_cast<double>(key.memory_bytes)) + " of memory");
  if (key.max_memory_clock_mhz != 0)
    append_part(line, "up to " + std::to_string(key.max_memory_clock_mhz) + " MHz");
  if (key.memory_bytes != 0) append_part(line, key.ecc ? "with ECC" : "without ECC");
  return line;
}

std::string time_line(gpu_peaks const& gpu) {
  std::string line;
  if (!gpu.key.driver_version.empty())
    append_part(line, "driver " + text::on_one_line(gpu.key.driver_version));
  auto measured = "measured " + text::on_one_line(gpu.measured_at);
  if (gpu.seconds > 0) measured += " in " + short_number(gpu.seconds) + " s";
  if (!gpu.measured_at.empty()) append_part(line, measured);
  std::string oldest;  // the texts sort in the order of their times
  for (auto const& result : gpu.results)
    if (!result.measured_at.empty() && (oldest.empty() || result.measured_at < oldest))
      oldest = result.measured_at;
  if (!oldest.empty()) append_part(line, "some tests earlier, since " + text::on_one_line(oldest));
  return line;
}

void write_header(gpu_peaks const& gpu, std::string const& label, std::size_t width,
                  text::text_sink const& out) {
  auto line = text::on_one_line(gpu.name.empty() ? "a GPU without a name" : gpu.name);
  std::string identity = text::on_one_line(gpu.key.uuid);
  if (!gpu.pci_bus.empty()) append_part(identity, text::on_one_line(gpu.pci_bus));
  if (gpu.compute_major != 0)
    append_part(identity, "compute capability " + std::to_string(gpu.compute_major) + "." +
                              std::to_string(gpu.compute_minor));
  if (!label.empty()) line.insert(0, label + ": ");
  write_wrapped(identity.empty() ? line : line + " (" + identity + ")", 0, width, out);
  for (auto const& fact : {chip_line(gpu), time_line(gpu)})
    if (!fact.empty()) write_wrapped(fact, 2, width, out);
  for (auto const& remark : gpu.remarks)
    write_wrapped("note: " + text::on_one_line(remark), 2, width, out);
}

std::string peak_text(peak_figure const& figure, readable_unit const& unit) {
  return figure.is_there() ? short_number(figure.value / unit.size) : "";
}

std::string whole_text(double value) {
  return value > 0 ? std::to_string(std::llround(value)) : "";
}

grid_line line_of(peak_result const& result) {
  if (result.outcome != peak_outcome::measured) return {title_of(result), {}, {}, note_on(result)};
  auto const unit = unit_for_reading(result.unit);
  // The state of the chip in the sustained run says most.
  auto const& chip = result.sustained.is_there() ? result.sustained.chip : result.burst.chip;
  auto const has_theory = result.theory > 0;
  auto const has_clock_share = result.per_clock.is_there() && result.per_clock_theory > 0;
  grid_line line{title_of(result), {}, {}, {}};
  if (has_theory && result.burst.is_there()) line.bar = result.burst.value / result.theory;
  line.cells = {
      peak_text(result.per_clock, {}),
      has_clock_share ? share_text(result.per_clock.value / result.per_clock_theory) : "",
      peak_text(result.burst, unit),
      peak_text(result.sustained, unit),
      has_theory ? short_number(result.theory / unit.size) : "",
      "",
      whole_text(chip.sm_clock_mhz),
      whole_text(chip.watts),
      whole_text(chip.temperature_c),
      result.burst.is_there() ? share_text(result.burst.spread) : "",
      limit_words(result.burst.chip.limiters | result.sustained.chip.limiters),
  };
  return line;
}

grid grid_of(peak_group const& group) {
  auto const all_are_times = std::all_of(group.tests.begin(), group.tests.end(),
                                         [](auto const& test) { return test.any().unit == "s"; });
  using enum grid_column_kind;
  grid made{group.title,
            {{"per clk"},
             {"of max"},
             {all_are_times ? "median" : "burst"},
             {"sustained"},
             {"theory"},
             {"of theory", bar},
             {"MHz"},
             {"W"},
             {"C"},
             {"spread"},
             {"limits", to_the_left}},
            {},
            {}};
  for (auto const& test : group.tests) {
    auto const& result = test.any();
    made.lines.push_back(line_of(result));
    if (result.outcome == peak_outcome::measured && !result.remark.empty())
      made.notes.push_back(title_of(result) + ": " + note_on(result));
  }
  return made;
}

constexpr std::string_view explanations[] = {
    "per clk: FLOP, op or B in one clock of one SM (DRAM: one memory clock); of max: of what the "
    "chip can do in it.",
    "burst: best of several runs of 0.5 to 2 ms; spread: between them; sustained: end of a run of "
    "150 ms or more.",
    "theory: at the greatest clocks; bar: burst against it; MHz, W, C (degrees): while sustained "
    "where that was measured, else in bursts.",
};

}  // namespace

void write_peaks(std::span<gpu_peaks const> gpus, peaks_layout const& layout,
                 text::text_sink const& out) {
  auto const is_alone = gpus.size() == 1;
  auto labels = layout.labels;
  while (labels.size() < gpus.size()) labels.push_back("GPU " + std::to_string(labels.size()));
  for (std::size_t i = 0; i < gpus.size(); ++i)
    write_header(gpus[i], is_alone ? "" : labels[i], layout.width, out);
  for (auto const& group : groups_of(gpus)) {
    out("\n");
    if (is_alone)
      write_grid(grid_of(group), layout.width, layout.blocks, out);
    else
      write_comparison(group, labels, layout.width, out);
  }
  if (gpus.empty() || !is_alone) return;
  out("\n");
  for (auto const line : explanations) write_wrapped(line, 0, layout.width, out);
}

}  // namespace gpuprof::host::report
