// SPDX-License-Identifier: Apache-2.0
#include "host/report/roofline_chart.hpp"

#include "host/report/peaks_words.hpp"
#include "text/padding.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

namespace gpuprof::host::report {

std::string beginning_of(std::string_view name, std::size_t characters) {
  auto plain = text::on_one_line(name);
  if (text::width_of(plain) <= characters) return plain;
  std::string out;
  std::size_t kept = 0;
  for (char const c : plain) {
    bool const begins = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (begins && ++kept >= characters) break;
    out += c;
  }
  return out + "\xE2\x80\xA6";
}

// Keeps template arguments as far as they fit.
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
  return beginning_of(name, 32) + share;
}

char const* color_of(bound_by const& bound) noexcept {
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

namespace {

using plot::left, plot::right;

std::vector<compute_roof> compute_roofs(std::span<roofline_row const> lines,
                                        measured_roofs const& peaks) {
  std::vector<compute_roof> made;
  for (std::size_t p = 0; p < precision_count; ++p) {
    bool const used = std::any_of(lines.begin(), lines.end(), [&](auto const& line) {
      return line.flops[p] && line.total_flops && *line.flops[p] > 0.01 * *line.total_flops;
    });
    auto const of = static_cast<precision>(p);
    compute_roof roof{std::string(name_of(of)), peaks.burst(key_of(of)), peaks.theory(key_of(of))};
    if (used && (roof.measured || roof.theory)) made.push_back(std::move(roof));
  }
  std::sort(made.begin(), made.end(), [](compute_roof const& a, compute_roof const& b) {
    return a.measured.value_or(0) > b.measured.value_or(0);
  });
  return made;
}

/// A rotated text fills little of its bounding rectangle, so it is covered with a row of small
/// boxes.
std::vector<box> boxes_along(point from, double length, double angle) {
  std::vector<box> boxes;
  for (double along = 0; along < length; along += 10)
    boxes.push_back({from.x + along * std::cos(angle) - 12, from.y - along * std::sin(angle) - 20,
                     from.x + along * std::cos(angle) + 12, from.y - along * std::sin(angle)});
  return boxes;
}

}  // namespace

roofline_roofs roofs_of(std::span<roofline_row const> lines, measured_roofs const& peaks) {
  return {{{"DRAM", peaks.burst("dram_read"), peaks.theory("dram_read"), "#0b6fb8"},
           {"L2", peaks.burst("l2_read"), {}, "#0a8f86"}},
          compute_roofs(lines, peaks)};
}

double roof_drawing::draw() {
  auto const ceiling = highest_compute();
  out_.add("<g clip-path=\"url(#plot)\">\n");
  draw_memory_roofs(ceiling);
  draw_compute_roofs();
  out_.add("</g>\n");
  name_memory_roofs(ceiling);
  return name_compute_roofs();
}

double roof_drawing::highest_compute() const {
  double highest = 0;
  for (auto const& roof : roofs_.compute)
    highest = std::max({highest, roof.measured.value_or(0), roof.theory.value_or(0)});
  return highest > 0 ? highest : 1e30;
}

void roof_drawing::draw_memory_roofs(double ceiling) {
  for (auto const& memory : roofs_.memory) {
    auto const stroke = "stroke=\"" + std::string(memory.color) + "\" stroke-width=\"";
    if (memory.theory)
      memory_line(*memory.theory, ceiling, stroke + "1.2\" stroke-dasharray=\"6 5\"");
    if (memory.measured) memory_line(*memory.measured, ceiling, stroke + "2.4\"");
  }
}

void roof_drawing::draw_compute_roofs() {
  double fastest = 0;
  for (auto const& memory : roofs_.memory) fastest = std::max(fastest, memory.measured.value_or(0));
  for (auto const& roof : roofs_.compute) {
    auto const start = [&](double peak) {
      return fastest > 0 ? axes_.x(std::max(peak / fastest, axes_.least_x())) : left;
    };
    if (roof.theory)
      out_.line({start(*roof.theory), axes_.y(*roof.theory)}, {right, axes_.y(*roof.theory)},
                "stroke=\"#374151\" stroke-width=\"1.2\" stroke-dasharray=\"6 5\"");
    if (roof.measured)
      out_.line({start(*roof.measured), axes_.y(*roof.measured)}, {right, axes_.y(*roof.measured)},
                "stroke=\"#374151\" stroke-width=\"2.4\"");
    for (auto const peak : {roof.measured, roof.theory})
      if (peak) room_.avoid_along({start(*peak), axes_.y(*peak)}, {right, axes_.y(*peak)});
  }
}

void roof_drawing::memory_line(double bytes, double ceiling, std::string const& style) {
  auto const x0 = axes_.least_x(), x1 = std::min(ceiling / bytes, axes_.greatest_x());
  if (x1 <= x0) return;
  point const from{axes_.x(x0), axes_.y(bytes * x0)}, to{axes_.x(x1), axes_.y(bytes * x1)};
  out_.line({from.x, from.y}, {to.x, to.y}, style);
  room_.avoid_along(from, to);
}

void roof_drawing::name_memory_roofs(double ceiling) {
  for (auto const& memory : roofs_.memory)
    if (memory.measured) name_along(memory, *memory.measured, ceiling);
}

/// Writes the name along the line, in the lower part that is visible.
void roof_drawing::name_along(memory_roof const& roof, double bytes, double ceiling) {
  double const x0 = std::max(left, axes_.x(axes_.least_y() / bytes));
  auto const x1 = std::min(right, axes_.x(ceiling / bytes));
  if (x1 - x0 < 150) return;
  auto const text = roof.name + " " + byte_rate_text(bytes);
  auto const length = 7.6 * static_cast<double>(text.size());
  bool const below = roof.theory.has_value();  // the theory line lies above
  auto const angle = -axes_.slope_angle() / 180 * std::numbers::pi;
  auto const furthest = x1 - length * std::cos(angle);
  for (auto x = x0 + 30; x < furthest; x += 20) {
    auto const value = axes_.least_x() *
                       std::pow(axes_.greatest_x() / axes_.least_x(), (x - left) / (right - left));
    auto const y = axes_.y(value * bytes) + (below ? 20 : 0);
    auto const boxes = boxes_along({x, y}, length, angle);
    if (!std::all_of(boxes.begin(), boxes.end(), [&](box const& b) { return room_.is_free(b); }))
      continue;
    for (auto const& b : boxes) room_.take(b);
    out_.text({0, below ? -3.0 : -7.0}, text,
              "font-weight=\"bold\" paint-order=\"stroke\" stroke=\"#ffffff\" stroke-width=\"3\" "
              "fill=\"" +
                  std::string(roof.color) + "\" transform=\"translate(" + svg_number(x) + " " +
                  svg_number(y) + ") rotate(" + svg_number(axes_.slope_angle()) + ")\"");
    return;
  }
}

/// Puts the names right of the plot and shifts them so that they do not overlap.
double roof_drawing::name_compute_roofs() {
  double last = -100;
  for (auto const& roof : roofs_.compute) {
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
  return last;
}

}  // namespace gpuprof::host::report
