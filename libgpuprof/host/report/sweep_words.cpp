// SPDX-License-Identifier: Apache-2.0
// Summarizes a sweep in sentences.
#include "base/readable.hpp"
#include "host/report/peaks_words.hpp"
#include "host/report/roofline_chart.hpp"
#include "host/report/sweep_report.hpp"
#include "text/padding.hpp"

namespace gpuprof::host::report {
namespace {

std::string size_words(sweep const& of, std::size_t point) {
  return text::on_one_line(of.points[point].label);
}

std::string of_roof_words(std::optional<double> share) {
  return share ? ", at " + share_text(*share) + " of the roof" : "";
}

std::string plateau_line(sweep const& of) {
  auto const& plateau = *of.found.plateau;
  return "plateau: " + figure_text(plateau.value, of.found.judged) +
         of_roof_words(plateau.of_roof) + ", the median of " +
         counted(plateau.points.size(), "sizes") + " within " +
         std::to_string(static_cast<int>(plateau_width * 100)) + " % of the greatest, " +
         figure_text(plateau.greatest, of.found.judged) + " at " + size_words(of, plateau.fastest);
}

std::string roof_line(sweep const& of) {
  auto const& found = of.found;
  if (!found.leaves_roof)
    return "leaves the roof: nowhere up to " + size_words(of, of.points.size() - 1);
  return "leaves the roof: at " + size_words(of, *found.leaves_roof) +
         of_roof_words(of.points[*found.leaves_roof].of_roof) +
         ", below 0.9 of the plateau's share";
}

std::string knee_line(sweep const& of) {
  auto const& turns = of.found.turns;
  auto const side = [&](std::size_t point, bool is_compute) {
    return std::string(is_compute ? "compute" : "memory") + "-bound (" +
           std::string(name_of(of.points[point].bound)) + ") at " + size_words(of, point);
  };
  auto const& first = turns.front();
  auto const from = side(first.from, !first.to_compute), to = side(first.to, first.to_compute);
  if (turns.size() == 1) return "knee: from " + from + " to " + to;
  return "knee: none, the bound changes " + std::to_string(turns.size()) +
         " times between memory and computing, first from " + from + " to " + to;
}

}  // namespace

std::string figure_text(double value, sweep_figure figure) {
  return figure == sweep_figure::bytes ? byte_rate_text(value) : rate_text(value);
}

std::vector<std::string> findings_in_words(sweep const& of) {
  std::vector<std::string> lines;
  auto const& found = of.found;
  if (found.plateau) {
    lines.push_back(plateau_line(of));
    if (found.reached)
      lines.emplace_back("reached: 90 % of it first at " + size_words(of, *found.reached));
    if (found.is_ordered && found.plateau->of_roof) lines.push_back(roof_line(of));
    if (found.still_rises)
      lines.emplace_back("the greatest size is the fastest, alone: a greater one may be faster");
  } else if (of.points.size() == 1) {
    lines.emplace_back("no plateau: one size shows none; add captures of other sizes");
  } else if (found.judged == sweep_figure::none) {
    lines.emplace_back(
        "no plateau: neither FLOP nor DRAM bytes are known; gpuprof profile --metrics auto counts "
        "them, gpuprof::scoped_range declares them");
  } else {
    lines.emplace_back("no plateau: rates are known for one size alone");
  }
  if (!found.turns.empty()) lines.push_back(knee_line(of));
  return lines;
}

}  // namespace gpuprof::host::report
