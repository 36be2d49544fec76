// SPDX-License-Identifier: Apache-2.0
#include "host/report/peaks_table.hpp"

#include "base/readable.hpp"
#include "host/report/peaks_comparison.hpp"
#include "host/report/peaks_grid.hpp"
#include "host/report/peaks_groups.hpp"
#include "host/report/peaks_words.hpp"
#include "text/overview.hpp"
#include "text/padding.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof::report {
namespace {

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
    append_part(line, "driver " + on_one_line(gpu.key.driver_version));
  auto measured = "measured " + on_one_line(gpu.measured_at);
  if (gpu.seconds > 0) measured += " in " + short_number(gpu.seconds) + " s";
  if (!gpu.measured_at.empty()) append_part(line, measured);
  std::string oldest;  // these texts sort as their times do
  for (auto const& result : gpu.results)
    if (!result.measured_at.empty() && (oldest.empty() || result.measured_at < oldest))
      oldest = result.measured_at;
  if (!oldest.empty()) append_part(line, "some tests earlier, since " + on_one_line(oldest));
  return line;
}

void write_header(gpu_peaks const& gpu, std::string const& label, std::size_t width,
                  text_sink const& out) {
  auto line = on_one_line(gpu.name.empty() ? "a GPU without a name" : gpu.name);
  std::string identity = on_one_line(gpu.key.uuid);
  if (!gpu.pci_bus.empty()) append_part(identity, on_one_line(gpu.pci_bus));
  if (gpu.compute_major != 0)
    append_part(identity, "compute capability " + std::to_string(gpu.compute_major) + "." +
                              std::to_string(gpu.compute_minor));
  if (!label.empty()) line.insert(0, label + ": ");
  write_wrapped(identity.empty() ? line : line + " (" + identity + ")", 0, width, out);
  for (auto const& fact : {chip_line(gpu), time_line(gpu)})
    if (!fact.empty()) write_wrapped(fact, 2, width, out);
  for (auto const& remark : gpu.remarks)
    write_wrapped("note: " + on_one_line(remark), 2, width, out);
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
  // What the chip did is worth most where it had to last.
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
                 text_sink const& out) {
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

}  // namespace gpuprof::report
