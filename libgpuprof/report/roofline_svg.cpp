// SPDX-License-Identifier: Apache-2.0
// The roofline as a chart.
#include "base/readable.hpp"
#include "report/label_room.hpp"
#include "report/peaks_words.hpp"
#include "report/roofline_axes.hpp"
#include "report/roofline_report.hpp"
#include "report/svg_canvas.hpp"
#include "tables/overview.hpp"
#include "tables/padding.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

namespace gpuprof::report {
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
/// "gemm<float>(...)": what tells kernels apart comes first, so the end may go.
std::string shortened(std::string_view name, std::size_t characters) {
  auto plain = on_one_line(name);
  if (width_of(plain) <= characters) return plain;
  std::string out;
  std::size_t kept = 0;
  for (char const c : plain) {
    bool const begins = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (begins && ++kept >= characters) break;
    out += c;
  }
  return out + "\xE2\x80\xA6";
}

/// What tells kernels apart: no return type, no parameters, no namespaces; template arguments stay
/// as far as there is room.
std::string label_of(roofline_row const& line) {
  std::string_view name = line.name;
  if (name.ends_with(')') && !name.starts_with('[')) {
    auto at = name.size();
    for (int depth = 0; at-- > 0;) {
      depth += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
      if (depth == 0) break;
    }
    if (at > 0 && at < name.size()) name = name.substr(0, at);
  }
  if (name.starts_with("void ")) name.remove_prefix(5);
  auto const arguments = std::min(name.find('<'), name.size());
  if (auto const scope = name.substr(0, arguments).rfind("::"); scope != std::string_view::npos)
    name.remove_prefix(scope + 2);
  char share[16];
  std::snprintf(share, sizeof share, line.time_share < 0.0995 ? "  %.1f%%" : "  %.0f%%",
                line.time_share * 100);
  return shortened(name, 32) + share;
}

char const* colour_of(bound_by const& bound) noexcept {
  switch (bound.what) {
    case bound_by::kind::dram:
      return "#0b6fb8";
    case bound_by::kind::l2:
      return "#0a8f86";
    case bound_by::kind::compute:
      return bound.of >= precision::tensor_fp64 ? "#6a3fb5" : "#c2541b";
    case bound_by::kind::latency:
      return "#b3264a";
    case bound_by::kind::unknown:
      break;
  }
  return "#6b7280";
}

std::string legend_of(bound_by const& bound) {
  if (bound.what == bound_by::kind::unknown) return "not known";
  if (bound.what != bound_by::kind::compute) return std::string(name_of(bound));
  return bound.of >= precision::tensor_fp64 ? "tensor cores" : "CUDA cores";
}

std::string rate_text(double flops) {
  if (flops >= 1e12) return short_number(flops / 1e12) + " TFLOP/s";
  if (flops >= 1e9) return short_number(flops / 1e9) + " GFLOP/s";
  return short_number(flops / 1e6) + " MFLOP/s";
}
std::string byte_rate_text(double bytes) {
  if (bytes >= 1e12) return short_number(bytes / 1e12) + " TB/s";
  return short_number(bytes / 1e9) + " GB/s";
}

struct plotted {
  roofline_row const* line = nullptr;
  point at;
  double radius = 0;
  std::size_t rank = 0;  // by time, from 1
};

struct compute_roof {
  std::string name;
  std::optional<double> measured, theory;
};

struct memory_roof {
  std::string name;
  std::optional<double> measured, theory;  // bytes per second
  char const* colour = "";
};

/// The peaks of those precisions that a line has work in.
std::vector<compute_roof> compute_roofs(std::span<roofline_row const> lines,
                                        measured_roofs const& roofs) {
  std::vector<compute_roof> made;
  for (std::size_t p = 0; p < precision_count; ++p) {
    bool const used = std::any_of(lines.begin(), lines.end(), [&](auto const& line) {
      return line.flops[p] && line.total_flops && *line.flops[p] > 0.01 * *line.total_flops;
    });
    auto const of = static_cast<precision>(p);
    compute_roof roof{std::string(name_of(of)), roofs.burst(key_of(of)), roofs.theory(key_of(of))};
    if (used && (roof.measured || roof.theory)) made.push_back(std::move(roof));
  }
  std::sort(made.begin(), made.end(), [](compute_roof const& a, compute_roof const& b) {
    return a.measured.value_or(0) > b.measured.value_or(0);
  });
  return made;
}

class chart {
 public:
  chart(std::span<roofline_row const> lines, roofline_lines of, roofline_facts const& facts)
      : lines_(lines), of_(of), facts_(facts), axes_(make_axes()) {}

  std::string text() {
    begin();
    grid();
    place_points();
    if (facts_.roofs != nullptr) roofs();
    draw_points();
    legend();
    out_.add("</svg>\n");
    return out_.elements();
  }

 private:
  /// Room around all points and, where roofs are known, the places where they bend.
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
    x0 /= 4, x1 *= 6, y0 /= 3, y1 *= 3;
    if (facts_.roofs != nullptr) {
      memory_ = {
          {"DRAM", facts_.roofs->burst("dram_read"), facts_.roofs->theory("dram_read"), "#0b6fb8"},
          {"L2", facts_.roofs->burst("l2_read"), {}, "#0a8f86"}};
      compute_ = compute_roofs(lines_, *facts_.roofs);
      for (auto const& roof : compute_) {
        auto const peak = std::max(roof.measured.value_or(0), roof.theory.value_or(0));
        y1 = std::max(y1, peak * 2.5);
        for (auto const& memory : memory_) {
          if (!memory.measured) continue;
          x1 = std::max(x1, peak / *memory.measured * 4);
          x0 = std::min(x0, peak / *memory.measured / 10);
        }
      }
    }
    // Far off the rest, a point would squeeze all others together; it stays, at the edge.
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
    out_.text({left, 58}, shortened(about, 120), "fill=\"#4b5563\"");
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
    for (int i = 9; i >= 1; --i) {  // decades last, on top
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

  double highest_compute() const {
    double highest = 0;
    for (auto const& roof : compute_)
      highest = std::max({highest, roof.measured.value_or(0), roof.theory.value_or(0)});
    return highest > 0 ? highest : 1e30;
  }

  /// Memory roofs rise to the highest compute roof; compute roofs begin where DRAM or L2 let them.
  void roofs() {
    out_.add("<g clip-path=\"url(#plot)\">\n");
    auto const ceiling = highest_compute();
    double fastest = 0;
    for (auto const& memory : memory_) {
      auto const stroke = "stroke=\"" + std::string(memory.colour) + "\" stroke-width=\"";
      if (memory.theory)
        memory_line(*memory.theory, ceiling, stroke + "1.2\" stroke-dasharray=\"6 5\"");
      if (!memory.measured) continue;
      memory_line(*memory.measured, ceiling, stroke + "2.4\"");
      fastest = std::max(fastest, *memory.measured);
    }
    for (auto const& roof : compute_) {
      auto const start = [&](double peak) {
        return fastest > 0 ? axes_.x(std::max(peak / fastest, axes_.least_x())) : left;
      };
      if (roof.theory)
        out_.line({start(*roof.theory), axes_.y(*roof.theory)}, {right, axes_.y(*roof.theory)},
                  "stroke=\"#374151\" stroke-width=\"1.2\" stroke-dasharray=\"6 5\"");
      if (roof.measured)
        out_.line({start(*roof.measured), axes_.y(*roof.measured)},
                  {right, axes_.y(*roof.measured)}, "stroke=\"#374151\" stroke-width=\"2.4\"");
      for (auto const peak : {roof.measured, roof.theory})
        if (peak) room_.avoid_along({start(*peak), axes_.y(*peak)}, {right, axes_.y(*peak)});
    }
    out_.add("</g>\n");
    name_memory_roofs(ceiling);
    name_compute_roofs();
  }

  void memory_line(double bytes, double ceiling, std::string const& style) {
    auto const x0 = axes_.least_x(), x1 = std::min(ceiling / bytes, axes_.greatest_x());
    if (x1 <= x0) return;
    point const from{axes_.x(x0), axes_.y(bytes * x0)}, to{axes_.x(x1), axes_.y(bytes * x1)};
    out_.line({from.x, from.y}, {to.x, to.y}, style);
    room_.avoid_along(from, to);
  }

  /// Along the line, in the lower part that is in the picture.
  void name_memory_roofs(double ceiling) {
    for (auto const& memory : memory_) {
      if (!memory.measured) continue;
      auto const bytes = *memory.measured;
      double x0 = std::max(left, axes_.x(axes_.least_y() / bytes));
      auto const x1 = std::min(right, axes_.x(ceiling / bytes));
      if (x1 - x0 < 150) continue;
      auto const text = memory.name + " " + byte_rate_text(bytes);
      auto const length = 7.6 * static_cast<double>(text.size());
      bool const below = memory.theory.has_value();  // whose line is above
      auto const angle = -axes_.slope_angle() / 180 * std::numbers::pi;
      auto const furthest = x1 - length * std::cos(angle);
      for (auto x = x0 + 30; x < furthest; x += 20) {
        auto const value = axes_.least_x() * std::pow(axes_.greatest_x() / axes_.least_x(),
                                                      (x - left) / (right - left));
        auto const y = axes_.y(value * bytes) + (below ? 20 : 0);
        // A turned text fills its rectangle badly: a string of small boxes does better.
        std::vector<box> boxes;
        for (double along = 0; along < length; along += 10)
          boxes.push_back({x + along * std::cos(angle) - 12, y - along * std::sin(angle) - 20,
                           x + along * std::cos(angle) + 12, y - along * std::sin(angle)});
        if (!std::all_of(boxes.begin(), boxes.end(),
                         [&](box const& b) { return room_.is_free(b); }))
          continue;
        for (auto const& b : boxes) room_.take(b);
        out_.text(
            {0, below ? -3.0 : -7.0}, text,
            "font-weight=\"bold\" paint-order=\"stroke\" stroke=\"#ffffff\" stroke-width=\"3\" "
            "fill=\"" +
                std::string(memory.colour) + "\" transform=\"translate(" + svg_number(x) + " " +
                svg_number(y) + ") rotate(" + svg_number(axes_.slope_angle()) + ")\"");
        break;
      }
    }
  }

  /// Right of the plot, pushed apart where they would touch.
  void name_compute_roofs() {
    double last = -100;
    for (auto const& roof : compute_) {
      auto const peak = roof.measured ? *roof.measured : *roof.theory;
      auto const y = std::max(axes_.y(peak) + 4, last + 30);
      last = y;
      out_.line({right, axes_.y(peak)}, {right + 10, y - 4}, "stroke=\"#9aa2ad\"");
      out_.text({right + 14, y}, roof.name + (roof.measured ? "" : " (theory)"),
                "font-weight=\"bold\"");
      auto detail = rate_text(peak);
      if (roof.measured && roof.theory) detail += ", theory " + short_number(*roof.theory / 1e12);
      out_.text({right + 14, y + 14}, detail, "fill=\"#4b5563\" font-size=\"12\"");
    }
    legend_top_ = std::max(legend_top_, last + 50);
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
    // The greatest first, so that small ones lie on top.
    for (auto const& p : shown_) draw(p);
    out_.add(texts.elements());
  }

  void draw(plotted const& p) {
    auto const& row = *p.line;
    char facts[256];
    std::snprintf(facts, sizeof facts, "%.1f%% of kernel time, %s FLOP/B", row.time_share * 100,
                  short_number(*row.intensity).c_str());
    std::string tip = row.name + "\n" + rate_text(*row.total_flops) + ", " + facts;
    if (row.of_roof)
      tip += "\nbound by " + std::string(name_of(row.bound)) + ", at " + share_text(*row.of_roof) +
             " of the roof";
    out_.circle(p.at, p.radius, colour_of(row.bound), tip);
  }

  void label(plotted const& p, svg_canvas& texts) {
    auto const text = label_of(*p.line);
    auto const found =
        room_.take_beside(p.at, p.radius, 6.8 * static_cast<double>(width_of(text)) + 4, 15);
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
        out_.circle({x + 7, y - 4}, 6, colour_of(kind));
        out_.text({x + 22, y}, legend_of(kind));
      }
      y += 30;
    }
    out_.text({x, y}, "size: share of kernel time", "fill=\"#4b5563\"");
    if (without_place_ > 0) {
      std::string const what = of_ == roofline_lines::ranges   ? "ranges"
                               : of_ == roofline_lines::graphs ? "graphs"
                                                               : "kernels";
      out_.text({x, y + 20},
                counted(without_place_, what) + " without a place here:", "fill=\"#4b5563\"");
      out_.text({x, y + 36}, "no FLOP, or not known", "fill=\"#4b5563\"");
    }
  }

  std::span<roofline_row const> lines_;
  roofline_lines of_;
  roofline_facts const& facts_;
  std::vector<memory_roof> memory_;
  std::vector<compute_roof> compute_;
  roofline_axes axes_;  // after what it takes into account
  svg_canvas out_;
  std::vector<plotted> shown_;
  label_room room_{{left, top, right, bottom}};
  double legend_top_ = top + 20;
  std::size_t without_place_ = 0;
};

}  // namespace

bool has_points(std::span<roofline_row const> lines) {
  return std::any_of(lines.begin(), lines.end(), is_plotted);
}

void write_roofline_svg(std::span<roofline_row const> lines, roofline_lines of,
                        roofline_facts const& facts, text_sink const& out) {
  out(chart(lines, of, facts).text());
}

}  // namespace gpuprof::report
