// SPDX-License-Identifier: Apache-2.0
#include "host/report/sweep_panel.hpp"

#include "base/readable.hpp"
#include "host/report/peaks_words.hpp"
#include "host/report/roofline_chart.hpp"
#include "text/padding.hpp"

#include <algorithm>
#include <cstdio>

namespace gpuprof::host::report {
namespace {

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

}  // namespace

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

}  // namespace gpuprof::host::report
