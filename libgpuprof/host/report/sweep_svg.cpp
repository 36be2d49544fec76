// SPDX-License-Identifier: Apache-2.0
// Draws a sweep as a picture: panels of rates one above the other, sizes below, the legend beside
// them.
#include "host/report/roofline_chart.hpp"
#include "host/report/sweep_panel.hpp"
#include "host/report/sweep_report.hpp"
#include "text/padding.hpp"

#include <algorithm>

namespace gpuprof::host::report {
namespace {

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
