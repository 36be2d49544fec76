// SPDX-License-Identifier: Apache-2.0
// The roofline as a chart: title, grid, points and legend.
#include "base/readable.hpp"
#include "host/report/peaks_words.hpp"
#include "host/report/roofline_chart.hpp"
#include "host/report/roofline_report.hpp"
#include "host/report/svg_canvas.hpp"
#include "text/overview.hpp"
#include "text/padding.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace gpuprof::host::report {
namespace {

bool is_plotted(roofline_row const& line) {
  auto const is_shown = [](std::optional<double> const& value) {
    return value && *value > 0 && std::isfinite(*value);
  };
  return is_shown(line.intensity) && is_shown(line.total_flops);
}

constexpr double width = 1180, height = 720;
using plot::left, plot::right, plot::top, plot::bottom;
constexpr std::size_t max_labels = 12;

struct plotted {
  roofline_row const* line = nullptr;
  point at;
  double radius = 0;
  std::size_t rank = 0;  // rank by time, from 1
};

class chart {
 public:
  chart(std::span<roofline_row const> lines, roofline_lines of, roofline_facts const& facts)
      : lines_(lines), of_(of), facts_(facts), axes_(make_axes()) {}

  std::string text() {
    begin();
    grid();
    place_points();
    if (facts_.roofs != nullptr) {
      auto const names_end = roof_drawing(roofs_, axes_, room_, out_).draw();
      legend_top_ = std::max(legend_top_, names_end + 50);
    }
    draw_points();
    legend();
    out_.add("</svg>\n");
    return out_.elements();
  }

 private:
  /// Leaves room around all points and, if roofs are known, around their bends.
  roofline_axes make_axes() {
    double x0 = 1, x1 = 1, y0 = 1e12, y1 = 1e12;
    bool first = true;
    for (auto const& row : lines_) {
      if (!is_plotted(row)) continue;
      auto const x = *row.intensity, y = *row.total_flops;
      x0 = first ? x : std::min(x0, x);
      x1 = first ? x : std::max(x1, x);
      y0 = first ? y : std::min(y0, y);
      y1 = first ? y : std::max(y1, y);
      first = false;
    }
    x0 /= 4;
    x1 *= 6;
    y0 /= 3;
    y1 *= 3;
    if (facts_.roofs != nullptr) {
      roofs_ = roofs_of(lines_, *facts_.roofs);
      for (auto const& roof : roofs_.compute) {
        auto const peak = std::max(roof.measured.value_or(0), roof.theory.value_or(0));
        y1 = std::max(y1, peak * 2.5);
        for (auto const& memory : roofs_.memory) {
          if (!memory.measured) continue;
          x1 = std::max(x1, peak / *memory.measured * 4);
          x0 = std::min(x0, peak / *memory.measured / 10);
        }
      }
    }
    // A point far from the rest would squeeze all others together, so it is drawn at the edge.
    x0 = std::max(x0, x1 * 1e-9);
    y0 = std::max(y0, y1 * 1e-7);
    return {x0, x1, y0, y1};
  }

  void begin() {
    auto const w = svg_number(width), h = svg_number(height);
    out_.add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + w + " " + h +
             "\" width=\"" + w + "\" height=\"" + h +
             "\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"13\" "
             "fill=\"#1f2937\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    auto title = std::string("Roofline");
    if (!facts_.device.empty()) title += " on " + facts_.device;
    out_.text({left, 36}, title, "font-size=\"22\" font-weight=\"bold\"");
    std::string about = facts_.overview.empty() ? std::string() : facts_.overview.front();
    out_.text({left, 58}, beginning_of(about, 120), "fill=\"#4b5563\"");
    char share[96];
    std::snprintf(share, sizeof share,
                  "FLOP known for %.1f%% of the kernel time, exactly for %.1f%%",
                  facts_.known_share * 100, facts_.exact_share * 100);
    out_.text({left, 77},
              facts_.roofs != nullptr
                  ? std::string(share) + "; solid: measured on this GPU, dashed: theory"
                  : std::string(share) + "; no measured peaks in the capture: no roofs",
              "fill=\"#4b5563\"");
    out_.add("<clipPath id=\"plot\">");
    out_.frame({left, top}, {right, bottom}, "");
    out_.add("</clipPath>\n");
  }

  void grid() {
    auto const tick = [&](double value, double at, bool is_decade, bool upright) {
      bool const visible = upright ? at >= left && at <= right : at >= top && at <= bottom;
      if (!visible) return;
      auto const style = std::string("stroke=\"") + (is_decade ? "#d7dbe0" : "#f0f2f4") + "\"";
      if (upright)
        out_.line({at, top}, {at, bottom}, style);
      else
        out_.line({left, at}, {right, at}, style);
      if (!is_decade) return;
      char text[32];
      std::snprintf(text, sizeof text, "%g", value);
      if (upright)
        out_.text({at, bottom + 20}, text, "text-anchor=\"middle\"");
      else
        out_.text({left - 8, at + 4}, text, "text-anchor=\"end\"");
    };
    for (int i = 9; i >= 1; --i) {  // decades last, so that they are on top
      for (int decade = axes_.first_x(); decade <= axes_.last_x(); ++decade)
        tick(std::pow(10, decade), axes_.x(i * std::pow(10, decade)), i == 1, true);
      for (int decade = axes_.first_y(); decade <= axes_.last_y(); ++decade)
        tick(std::pow(10, decade - 12), axes_.y(i * std::pow(10, decade)), i == 1, false);
    }
    out_.frame({left, top}, {right, bottom}, "fill=\"none\" stroke=\"#9aa2ad\"");
    out_.text({(left + right) / 2, bottom + 46}, "arithmetic intensity: FLOP per byte of DRAM",
              "text-anchor=\"middle\" font-size=\"14\"");
    out_.text({0, 0}, "TFLOP/s",
              "text-anchor=\"middle\" font-size=\"14\" transform=\"translate(24 " +
                  svg_number((top + bottom) / 2) + ") rotate(-90)\"");
  }

  void place_points() {
    std::size_t rank = 0;
    for (auto const& row : lines_) {
      if (!is_plotted(row)) {
        ++without_place_;
        continue;
      }
      auto const x = std::clamp(axes_.x(*row.intensity), left, right);
      auto const y = std::clamp(axes_.y(*row.total_flops), top, bottom);
      shown_.push_back({&row, {x, y}, 4 + 22 * std::sqrt(std::min(1.0, row.time_share)), ++rank});
    }
    for (auto const& p : shown_)
      room_.take({p.at.x - p.radius, p.at.y - p.radius, p.at.x + p.radius, p.at.y + p.radius});
  }

  void draw_points() {
    svg_canvas texts;  // lines to labels go below the points, labels above
    for (auto const& p : shown_)
      if (p.rank <= max_labels) label(p, texts);
    // Greatest first, so that small points are on top.
    for (auto const& p : shown_) draw(p);
    out_.add(texts.elements());
  }

  void draw(plotted const& p) {
    auto const& row = *p.line;
    char facts[256];
    std::snprintf(facts, sizeof facts, "%.1f%% of kernel time, %s FLOP/B", row.time_share * 100,
                  short_number(*row.intensity).c_str());
    std::string tip = row.name + "\n" + (row.flops_are_limit ? "at most " : "") +
                      rate_text(*row.total_flops) + ", " + facts;
    if (row.of_roof)
      tip += "\nbound by " + std::string(name_of(row.bound)) + ", at " + share_text(*row.of_roof) +
             " of the roof";
    if (row.flops_are_limit) draw_way_down(p);
    out_.circle(p.at, p.radius, color_of(row.bound), tip);
  }

  /// Draws a line to where the point would be if the fewest possible lanes computed: fewer FLOP for
  /// the same bytes.
  void draw_way_down(plotted const& p) {
    has_limits_ = true;
    auto const low = p.line->flops_low().value_or(0);
    auto const share = std::max(low / *p.line->total_flops, 1e-3);
    point const least{axes_.x(*p.line->intensity * share), axes_.y(*p.line->total_flops * share)};
    out_.line(p.at, {std::clamp(least.x, left, right), std::clamp(least.y, top, bottom)},
              "stroke=\"" + std::string(color_of(p.line->bound)) +
                  "\" stroke-width=\"2\" stroke-dasharray=\"2 3\"");
  }

  void label(plotted const& p, svg_canvas& texts) {
    auto const text = label_of(*p.line);
    auto const found =
        room_.take_beside(p.at, p.radius, 6.8 * static_cast<double>(text::width_of(text)) + 4, 15);
    if (!found) return;
    auto const& place = found->place;
    if (found->is_far)
      out_.line(p.at,
                {std::clamp(p.at.x, place.x0, place.x1), std::clamp(p.at.y, place.y0, place.y1)},
                "stroke=\"#6b7280\" stroke-width=\"0.8\"");
    texts.text({place.x0 + 2, place.y1 - 3.5}, text,
               "font-size=\"12\" paint-order=\"stroke\" stroke=\"#ffffff\" stroke-width=\"3\"");
  }

  void legend() {
    std::vector<bound_by> kinds;
    for (auto const& row : lines_)
      if (is_plotted(row) && std::none_of(kinds.begin(), kinds.end(), [&](bound_by const& k) {
            return legend_of(k) == legend_of(row.bound);
          }))
        kinds.push_back(row.bound);
    auto const x = right + 14;
    auto y = std::max(legend_top_, bottom - 40 - 20 * static_cast<double>(kinds.size() + 4));
    if (!kinds.empty() && facts_.roofs != nullptr) {
      out_.text({x, y}, "bound by", "font-weight=\"bold\"");
      for (auto const& kind : kinds) {
        y += 20;
        out_.circle({x + 7, y - 4}, 6, color_of(kind));
        out_.text({x + 22, y}, legend_of(kind));
      }
      y += 30;
    }
    out_.text({x, y}, "size: share of kernel time", "fill=\"#4b5563\"");
    if (has_limits_) {
      y += 16;
      out_.text({x, y}, "dotted: upper limit,", "fill=\"#4b5563\"");
      y += 16;
      out_.text({x, y}, "lanes may have been off", "fill=\"#4b5563\"");
    }
    if (without_place_ > 0) {
      auto const is_of_kernels =
          of_ == roofline_lines::kernels || of_ == roofline_lines::signatures;
      out_.text({x, y + 20},
                counted(without_place_, is_of_kernels ? "kernels" : std::string(plural_of(of_))) +
                    " without a place here:",
                "fill=\"#4b5563\"");
      out_.text({x, y + 36}, "no FLOP, or not known", "fill=\"#4b5563\"");
    }
  }

  std::span<roofline_row const> lines_;
  roofline_lines of_;
  roofline_facts const& facts_;
  roofline_roofs roofs_;
  roofline_axes axes_;  // declared after the members that it depends on
  svg_canvas out_;
  std::vector<plotted> shown_;
  label_room room_{{left, top, right, bottom}};
  double legend_top_ = top + 20;
  bool has_limits_ = false;
  std::size_t without_place_ = 0;
};

}  // namespace

bool has_points(std::span<roofline_row const> lines) {
  return std::any_of(lines.begin(), lines.end(), is_plotted);
}

void write_roofline_svg(std::span<roofline_row const> lines, roofline_lines of,
                        roofline_facts const& facts, text::text_sink const& out) {
  out(chart(lines, of, facts).text());
}

}  // namespace gpuprof::host::report
