// SPDX-License-Identifier: Apache-2.0
// Draws a sweep as a picture: panels of rates one above the other, sizes below, the legend beside
// them.
#include "base/readable.hpp"
#include "host/analysis/sweep/sweep_points.hpp"
#include "host/report/peaks_words.hpp"
#include "host/report/roofline_chart.hpp"
#include "host/report/svg_canvas.hpp"
#include "host/report/sweep_report.hpp"
#include "text/padding.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::report {
namespace {

/// The axes of a sweep picture: sizes from left to right, rates from bottom to top.
namespace sweep_plot {
inline constexpr double left = 86, right = 930, inset = 34;
}  // namespace sweep_plot

/// Logarithmic if all sizes are above 0, else linear; categories have equal distances.
class sweep_x_axis {
 public:
  explicit sweep_x_axis(std::span<sweep_point const> points) {
    bool const sizes = has_sizes(points);
    bool const positive = sizes && std::all_of(points.begin(), points.end(),
                                               [](auto const& p) { return *p.size > 0; });
    for (std::size_t i = 0; i < points.size(); ++i)
      places_.push_back(positive ? std::log10(*points[i].size)
                        : sizes  ? *points[i].size
                                 : static_cast<double>(i));
    if (places_.empty()) return;
    auto const [least, greatest] = std::minmax_element(places_.begin(), places_.end());
    auto const begin = sweep_plot::left + sweep_plot::inset;
    auto const end = sweep_plot::right - sweep_plot::inset;
    auto const first = *least, width = *greatest - *least;
    for (auto& place : places_)
      place = width > 0 ? begin + (place - first) / width * (end - begin) : (begin + end) / 2;
  }
  double x(std::size_t point) const { return places_[point]; }

 private:
  std::vector<double> places_;
};

/// A linear axis begins at 0 and has round steps; a logarithmic one shows decades.
class sweep_y_axis {
 public:
  /// `unit` is the value of 1 on the axis.
  static sweep_y_axis linear(double greatest, double unit, double top, double bottom) {
    auto const step = nice_step(greatest / unit / 5);
    return {0, greatest / unit * 1.06, step, unit, false, top, bottom};
  }
  static sweep_y_axis logarithmic(double least, double greatest, double unit, double top,
                                  double bottom) {
    auto const first = std::floor(std::log10(least / unit));
    auto const last = std::max(std::ceil(std::log10(greatest / unit)), first + 1);
    return {first, last, std::max(1.0, std::ceil((last - first) / 6)), unit, true, top, bottom};
  }

  double y(double value) const {
    auto const place = is_log_ ? std::log10(value / unit_) : value / unit_;
    auto const share = (place - first_) / (last_ - first_);
    return bottom_ - std::clamp(share, 0.0, 1.0) * (bottom_ - top_);
  }
  /// Returns pairs of the value in the axis' unit and its position.
  std::vector<std::pair<double, double>> ticks() const {
    std::vector<std::pair<double, double>> out;
    for (int i = 0; first_ + i * step_ <= last_ * (1 + 1e-9) && i < 20; ++i) {
      auto const place = first_ + i * step_;
      auto const value = is_log_ ? std::pow(10, place) : place;
      out.emplace_back(value, y(value * unit_));
    }
    return out;
  }
  double top() const { return top_; }
  double bottom() const { return bottom_; }

 private:
  sweep_y_axis(double first, double last, double step, double unit, bool is_log, double top,
               double bottom)
      : first_(first),
        last_(last),
        step_(step),
        unit_(unit),
        top_(top),
        bottom_(bottom),
        is_log_(is_log) {}
  /// Returns the smallest of 1, 2 or 5 times a power of ten that is not below `least`.
  static double nice_step(double least) {
    auto const decade = std::pow(10, std::floor(std::log10(std::clamp(least, 1e-30, 1e30))));
    for (double const of : {1.0, 2.0, 5.0})
      if (of * decade >= least * 0.999) return of * decade;
    return 10 * decade;
  }

  double first_, last_, step_, unit_, top_, bottom_;
  bool is_log_;
};

class sweep_panel {
 public:
  /// The references must outlive the panel.
  sweep_panel(sweep const& of, sweep_figure figure, sweep_x_axis const& x, double top,
              double bottom);

  /// `places_of_note` adds lines where the plateau is reached, where the roof is left and where the
  /// bound changes.
  void draw(svg_canvas& out, bool places_of_note) const;

 private:
  struct level {
    double value = 0;
    std::string name, color, style;
    bool spans_all = true;  // else it spans only the plateau
  };
  std::optional<double> value_of(std::size_t point) const;
  std::optional<value_range> range_of(std::size_t point) const;
  std::string text_of(double value) const;
  std::vector<level> roofs() const;
  std::vector<level> levels() const;
  double greatest_value() const;
  double greatest_shown() const;  // of values and roofs together
  sweep_y_axis axis_between(double top, double bottom) const;
  void draw_grid(svg_canvas& out) const;
  void draw_plateau(svg_canvas& out) const;
  void draw_levels(svg_canvas& out) const;
  void draw_places(svg_canvas& out) const;
  void draw_points(svg_canvas& out) const;
  std::string about(std::size_t point) const;

  sweep const& of_;
  sweep_figure figure_;
  sweep_x_axis const& x_;
  std::string unit_;
  sweep_y_axis y_;
};

/// A roof this many times higher than all values would squeeze them to the bottom.
constexpr double highest_roof = 10;
constexpr double name_height = 15, character_width = 6.8;
constexpr std::size_t name_characters = 34, many_points = 24;

std::string stroke(std::string const& color, char const* width, char const* dashes = "") {
  auto style = "stroke=\"" + color + "\" stroke-width=\"" + width + "\"";
  if (*dashes != '\0') style += " stroke-dasharray=\"" + std::string(dashes) + "\"";
  return style;
}

readable_unit unit_of(sweep_figure figure, double greatest) {
  if (figure == sweep_figure::none)
    return greatest >= 1e6 ? readable_unit{"ms per call", 1e6} : readable_unit{"us per call", 1e3};
  auto const* const what = figure == sweep_figure::flops ? "FLOP/s" : "B/s";
  if (greatest >= 1e12) return {std::string("T") + what, 1e12};
  return {std::string("G") + what, 1e9};
}

/// Returns the values to draw: FLOP, bytes, or the time of a call (none) if no rate is known.
std::vector<sweep_figure> panels_of(sweep const& of) {
  std::vector<sweep_figure> out;
  for (auto const figure : {sweep_figure::flops, sweep_figure::bytes})
    if (std::any_of(of.points.begin(), of.points.end(),
                    [&](auto const& point) { return figure_of(point, figure).has_value(); }))
      out.push_back(figure);
  if (out.empty()) out.push_back(sweep_figure::none);
  return out;
}

sweep_panel::sweep_panel(sweep const& of, sweep_figure figure, sweep_x_axis const& x, double top,
                         double bottom)
    : of_(of), figure_(figure), x_(x), y_(axis_between(top, bottom)) {
  unit_ = unit_of(figure_, greatest_shown()).name;
}

std::optional<double> sweep_panel::value_of(std::size_t point) const {
  auto const& p = of_.points[point];
  auto const value = figure_ == sweep_figure::none ? p.time_per_call : figure_of(p, figure_);
  return value && *value > 0 ? value : std::nullopt;
}

std::optional<value_range> sweep_panel::range_of(std::size_t point) const {
  auto const& p = of_.points[point];
  return figure_ == sweep_figure::none    ? p.times_per_call
         : figure_ == sweep_figure::flops ? p.all_flops
                                          : p.all_bytes;
}

std::string sweep_panel::text_of(double value) const {
  return figure_ == sweep_figure::none ? readable_time(value) : figure_text(value, figure_);
}

double sweep_panel::greatest_value() const {
  double greatest = 0;
  for (std::size_t i = 0; i < of_.points.size(); ++i) {
    greatest = std::max(greatest, value_of(i).value_or(0));
    if (auto const range = range_of(i)) greatest = std::max(greatest, range->greatest);
  }
  return greatest > 0 ? greatest : 1;
}

std::vector<sweep_panel::level> sweep_panel::roofs() const {
  std::vector<level> out;
  auto const add = [&](auto const& roof, std::string const& color) {
    if (roof.measured)
      out.push_back({*roof.measured, roof.name + " roof", color, stroke(color, "2.2")});
    if (roof.theory)
      out.push_back({*roof.theory, roof.name + " theory", color, stroke(color, "1.1", "6 5")});
  };
  if (figure_ == sweep_figure::flops)
    for (auto const& roof : of_.facts.roofs.compute)
      add(roof, roof.name.starts_with("tensor") ? "#6a3fb5" : "#c2541b");
  if (figure_ == sweep_figure::bytes)
    for (auto const& roof : of_.facts.roofs.memory) add(roof, roof.color);
  std::erase_if(out,
                [&](level const& roof) { return roof.value > highest_roof * greatest_value(); });
  return out;
}

double sweep_panel::greatest_shown() const {
  auto greatest = greatest_value();
  for (auto const& roof : roofs()) greatest = std::max(greatest, roof.value);
  return greatest;
}

sweep_y_axis sweep_panel::axis_between(double top, double bottom) const {
  auto const greatest = greatest_shown();
  auto const unit = unit_of(figure_, greatest).size;
  if (figure_ != sweep_figure::none) return sweep_y_axis::linear(greatest, unit, top, bottom);
  auto least = greatest;
  for (std::size_t i = 0; i < of_.points.size(); ++i)
    least = std::min(least, value_of(i).value_or(greatest));
  return sweep_y_axis::logarithmic(least, greatest, unit, top, bottom);
}

std::vector<sweep_panel::level> sweep_panel::levels() const {
  auto out = roofs();
  if (figure_ == of_.found.judged && of_.found.plateau)
    out.push_back(
        {of_.found.plateau->value, "plateau", "#1f2937", stroke("#1f2937", "1.4", "2 3"), false});
  std::sort(out.begin(), out.end(),
            [](level const& a, level const& b) { return a.value > b.value; });
  return out;
}

void sweep_panel::draw(svg_canvas& out, bool places_of_note) const {
  draw_grid(out);
  if (figure_ == of_.found.judged && of_.found.plateau) draw_plateau(out);
  draw_levels(out);
  if (places_of_note) draw_places(out);
  draw_points(out);
}

void sweep_panel::draw_grid(svg_canvas& out) const {
  for (auto const& [value, at] : y_.ticks()) {
    out.line({sweep_plot::left, at}, {sweep_plot::right, at}, "stroke=\"#e5e8ec\"");
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    out.text({sweep_plot::left - 8, at + 4}, text, "text-anchor=\"end\"");
  }
  for (std::size_t i = 0; i < of_.points.size(); ++i)
    out.line({x_.x(i), y_.top()}, {x_.x(i), y_.bottom()}, "stroke=\"#f0f2f4\"");
  out.frame({sweep_plot::left, y_.top()}, {sweep_plot::right, y_.bottom()},
            "fill=\"none\" stroke=\"#9aa2ad\"");
  out.text({0, 0}, unit_,
           "text-anchor=\"middle\" font-size=\"14\" transform=\"translate(24 " +
               svg_number((y_.top() + y_.bottom()) / 2) + ") rotate(-90)\"");
}

/// The band of all values that are near enough to the greatest.
void sweep_panel::draw_plateau(svg_canvas& out) const {
  auto const& plateau = *of_.found.plateau;
  auto const from = x_.x(plateau.points.front()), to = x_.x(plateau.points.back());
  out.frame({from - 12, y_.y(plateau.greatest)},
            {to + 12, y_.y(plateau.greatest * (1 - plateau_width))},
            "fill=\"#f5c542\" fill-opacity=\"0.35\"");
}

/// Names are written right of the plot, at the height of their lines if there is room.
void sweep_panel::draw_levels(svg_canvas& out) const {
  auto next = y_.top() - 6;
  for (auto const& each : levels()) {
    auto const at = y_.y(each.value);
    auto const from =
        each.spans_all ? sweep_plot::left : x_.x(of_.found.plateau->points.front()) - 12;
    out.line({from, at}, {sweep_plot::right, at}, each.style);
    auto const name_at = std::max(at + 4, next + name_height);
    next = name_at;
    out.line({sweep_plot::right, at}, {sweep_plot::right + 7, name_at - 4},
             stroke(each.color, "0.8"));
    out.text({sweep_plot::right + 10, name_at},
             beginning_of(each.name, name_characters) + " " + text_of(each.value),
             "font-size=\"12\" fill=\"" + each.color + "\"" +
                 (each.spans_all ? "" : " font-weight=\"bold\""));
  }
}

/// The names of these places are written above the plot, in two rows if they would overlap.
void sweep_panel::draw_places(svg_canvas& out) const {
  struct place {
    double x = 0;
    std::string name;
  };
  std::vector<place> places;
  auto const& found = of_.found;
  auto const label = [&](std::size_t point) { return beginning_of(of_.points[point].label, 16); };
  if (found.turns.size() == 1)
    places.push_back(
        {(x_.x(found.turns[0].from) + x_.x(found.turns[0].to)) / 2,
         found.turns[0].to_compute ? "knee: memory | compute" : "knee: compute | memory"});
  if (found.reached)
    places.push_back({x_.x(*found.reached), "90 % of the plateau at " + label(*found.reached)});
  if (found.leaves_roof)
    places.push_back({x_.x(*found.leaves_roof), "leaves the roof at " + label(*found.leaves_roof)});
  std::sort(places.begin(), places.end(), [](place const& a, place const& b) { return a.x < b.x; });
  double ends[2] = {0, 0};
  svg_canvas names;  // drawn above all lines
  for (auto const& each : places) {
    auto const half = character_width * static_cast<double>(text::width_of(each.name)) / 2;
    auto const middle = std::clamp(each.x, sweep_plot::left + half, sweep_plot::right + 60 - half);
    std::size_t const line = middle - half > ends[0] ? 0 : 1;
    ends[line] = middle + half + 10;
    auto const text_at = y_.top() - 8 - static_cast<double>(line) * 16;
    out.line({each.x, text_at + 4}, {each.x, y_.bottom()}, stroke("#4b5563", "1", "2 3"));
    names.text({middle, text_at}, each.name,
               "text-anchor=\"middle\" font-size=\"12\" fill=\"#374151\" paint-order=\"stroke\" "
               "stroke=\"#ffffff\" stroke-width=\"4\"");
  }
  out.add(names.elements());
}

void sweep_panel::draw_points(svg_canvas& out) const {
  bool const many = of_.points.size() > many_points;
  for (std::size_t i = 1; i < of_.points.size() && of_.found.is_ordered; ++i) {
    auto const before = value_of(i - 1), here = value_of(i);
    if (before && here)
      out.line({x_.x(i - 1), y_.y(*before)}, {x_.x(i), y_.y(*here)}, stroke("#6b7280", "1.6"));
  }
  for (std::size_t i = 0; i < of_.points.size(); ++i) {
    auto const value = value_of(i);
    if (!value) continue;
    if (auto const range = range_of(i)) {
      auto const x = x_.x(i), low = y_.y(range->least), high = y_.y(range->greatest);
      out.line({x, low}, {x, high}, stroke("#1f2937", "1.4"));
      for (auto const end : {low, high})
        out.line({x - 5, end}, {x + 5, end}, stroke("#1f2937", "1.4"));
    }
    out.circle({x_.x(i), y_.y(*value)}, many ? 3.5 : 5.5, color_of(of_.points[i].bound), about(i));
  }
}

std::string sweep_panel::about(std::size_t point) const {
  auto const& p = of_.points[point];
  auto text = of_.facts.over + " " + beginning_of(p.label, 64);
  if (p.flops) text += "\n" + rate_text(*p.flops) + " " + std::string(name_of(p.flops_from));
  if (p.bytes) text += "\n" + byte_rate_text(*p.bytes) + " " + std::string(name_of(p.bytes_from));
  if (p.time_per_call) text += "\n" + readable_time(*p.time_per_call) + " per call";
  if (p.of_roof)
    text += "\nbound by " + std::string(name_of(p.bound)) + ", at " + share_text(*p.of_roof) +
            " of the roof";
  return text;
}

constexpr double picture_width = 1180, first_top = 142, panel_gap = 34, below = 62;
constexpr double axis_character_width = 7.4;

class picture {
 public:
  explicit picture(sweep const& of)
      : of_(of),
        x_(of.points),
        figures_(panels_of(of)),
        panel_height_(figures_.size() == 1 ? 400 : 270) {}

  std::string text() {
    begin();
    auto top = first_top;
    for (auto const figure : figures_) {
      // If no value is judged, there is only one panel.
      bool const is_judged = figure == of_.found.judged || figures_.size() == 1;
      sweep_panel(of_, figure, x_, top, top + panel_height_).draw(out_, is_judged);
      top += panel_height_ + panel_gap;
    }
    sizes(top - panel_gap);
    legend(top - panel_gap);
    out_.add("</svg>\n");
    return out_.elements();
  }

 private:
  double height() const {
    auto const panels = static_cast<double>(figures_.size());
    return first_top + panels * panel_height_ + (panels - 1) * panel_gap + below;
  }

  void begin() {
    auto const w = svg_number(picture_width), h = svg_number(height());
    out_.add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + w + " " + h +
             "\" width=\"" + w + "\" height=\"" + h +
             "\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"13\" "
             "fill=\"#1f2937\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    auto title = "Sweep of " + of_.facts.subject + " over " + of_.facts.over;
    if (!of_.facts.device.empty()) title += " on " + of_.facts.device;
    out_.text({sweep_plot::left, 36}, beginning_of(title, 90),
              "font-size=\"22\" font-weight=\"bold\"");
    auto const findings = findings_in_words(of_);
    auto y = 60.0;
    for (std::size_t i = 0; i < std::min<std::size_t>(findings.size(), 1); ++i, y += 18)
      out_.text({sweep_plot::left, y}, beginning_of(findings[i], 150), "fill=\"#4b5563\"");
    out_.text({sweep_plot::left, y}, roofs_text(), "fill=\"#4b5563\"");
  }

  std::string roofs_text() const {
    auto const& roofs = of_.facts.roofs;
    if (figures_.front() == sweep_figure::none) return "GPU time of a call; no rates are known";
    std::string text = roofs.compute.empty() && roofs.memory.empty()
                           ? "no measured peaks: no roofs; gpuprof peaks measures them"
                           : "roofs: solid measured on this GPU, dashed theory";
    if (std::any_of(of_.points.begin(), of_.points.end(), [](auto const& p) {
          return (p.flops && p.flops_from == flop_source::declared) ||
                 p.bytes_from == byte_source::declared;
        }))
      text += "; rates of what ranges declare, not of what was counted";
    return text;
  }

  /// Writes as many labels as fit; the last size always has one.
  void sizes(double bottom) {
    auto const count = of_.points.size();
    if (count == 0) return;
    auto const label = [&](std::size_t i) { return beginning_of(of_.points[i].label, 18); };
    auto const half = [&](std::size_t i) {
      return axis_character_width * static_cast<double>(text::width_of(label(i))) / 2;
    };
    auto const last = count - 1;
    auto const room_ends = x_.x(last) - half(last) - 8;
    double end = 0;
    for (std::size_t i = 0; i < count; ++i) {
      auto const from = x_.x(i) - half(i), to = x_.x(i) + half(i);
      out_.line({x_.x(i), bottom}, {x_.x(i), bottom + 5}, "stroke=\"#9aa2ad\"");
      if (i != last && (from < end || to > room_ends)) continue;
      out_.text({x_.x(i), bottom + 20}, label(i), "text-anchor=\"middle\"");
      end = to + 8;
    }
    out_.text({(sweep_plot::left + sweep_plot::right) / 2, bottom + 46},
              beginning_of(of_.facts.over, 60), "text-anchor=\"middle\" font-size=\"14\"");
  }

  void legend(double bottom) {
    std::vector<bound_by> kinds;
    for (auto const& point : of_.points)
      if (std::none_of(kinds.begin(), kinds.end(),
                       [&](bound_by const& k) { return legend_of(k) == legend_of(point.bound); }))
        kinds.push_back(point.bound);
    bool const any_known = std::any_of(kinds.begin(), kinds.end(), [](bound_by const& k) {
      return k.what != bound_by::kind::unknown;
    });
    bool const any_range = std::any_of(of_.points.begin(), of_.points.end(),
                                       [](auto const& p) { return p.captures > 1; });
    auto const x = sweep_plot::right + 14;
    auto y = bottom - 8 - 20 * static_cast<double>(kinds.size()) - (any_range ? 24 : 0);
    if (any_known) {
      out_.text({x, y}, "bound by", "font-weight=\"bold\"");
      for (auto const& kind : kinds) {
        y += 20;
        out_.circle({x + 7, y - 4}, 5.5, color_of(kind));
        out_.text({x + 22, y}, legend_of(kind));
      }
    }
    if (any_range)
      out_.text({x, bottom - 4}, "bars: several captures of a size", "fill=\"#4b5563\"");
  }

  sweep const& of_;
  sweep_x_axis x_;
  std::vector<sweep_figure> figures_;
  double panel_height_;
  svg_canvas out_;
};

}  // namespace

void write_sweep_svg(sweep const& of, text::text_sink const& out) {
  out(picture(of).text());
}

}  // namespace gpuprof::host::report
