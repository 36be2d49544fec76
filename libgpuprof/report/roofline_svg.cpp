// The roofline as a chart.
#include "report/overview.hpp"
#include "report/padding.hpp"
#include "report/peaks_words.hpp"
#include "report/roofline_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace gpuprof::report {
namespace {

struct point {
  double x = 0, y = 0;
};

constexpr double width = 1180, height = 720;
constexpr double left = 86, right = 950, top = 92, bottom = 640;  // of the plot
constexpr std::size_t labels_at_most = 12;
constexpr double pi = 3.14159265358979323846;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

/// For text and attributes. Bytes that XML 1.0 has no place for become blanks or U+FFFD.
std::string escaped(std::string_view text) {
  std::string out;
  std::size_t follow = 0;  // bytes of a UTF-8 sequence to come
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto const c = static_cast<unsigned char>(text[i]);
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c < 0x20 || c == 0x7F) {
      out += ' ';
    } else if (c < 0x80) {
      out += text[i];
    } else {
      std::size_t const length = c >= 0xF0 && c <= 0xF4 ? 4 : c >= 0xE0 && c < 0xF0 ? 3 : 2;
      bool good = c >= 0xC2 && c <= 0xF4 && i + length <= text.size();
      for (follow = 1; good && follow < length; ++follow)
        good = (static_cast<unsigned char>(text[i + follow]) & 0xC0) == 0x80;
      if (good) {
        auto const second = static_cast<unsigned char>(text[i + 1]);
        good = !(c == 0xE0 && second < 0xA0) && !(c == 0xED && second >= 0xA0) &&
               !(c == 0xF0 && second < 0x90) && !(c == 0xF4 && second >= 0x90) &&
               !(c == 0xEF && second == 0xBF &&
                 (static_cast<unsigned char>(text[i + 2]) & 0xFE) == 0xBE);
      }
      if (good) {
        out += text.substr(i, length);
        i += length - 1;
      } else {
        out += "\xEF\xBF\xBD";
      }
    }
  }
  return out;
}

/// "gemm<float>(...)": what tells kernels apart comes first, so the end may go.
std::string shortened(std::string_view name, std::size_t characters) {
  auto const plain = on_one_line(name);
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

/// Logarithmic axes.
class axes {
 public:
  axes(double least_x, double greatest_x, double least_y, double greatest_y)
      : x1_(std::log10(greatest_x)),
        x0_(std::min(std::log10(least_x), x1_ - 3)),
        y1_(std::log10(greatest_y)),
        y0_(std::min(std::log10(least_y), y1_ - 3)) {}

  double x(double value) const {
    return left + (std::log10(value) - x0_) / (x1_ - x0_) * (right - left);
  }
  double y(double value) const {
    return bottom - (std::log10(value) - y0_) / (y1_ - y0_) * (bottom - top);
  }
  double least_x() const { return std::pow(10, x0_); }
  double greatest_x() const { return std::pow(10, x1_); }
  double least_y() const { return std::pow(10, y0_); }
  /// The decades that begin at or before the first and the last place of an axis.
  int first_x() const { return static_cast<int>(std::floor(x0_)); }
  int last_x() const { return static_cast<int>(std::floor(x1_)); }
  int first_y() const { return static_cast<int>(std::floor(y0_)); }
  int last_y() const { return static_cast<int>(std::floor(y1_)); }
  double slope_angle() const {
    return -std::atan2((bottom - top) / (y1_ - y0_), (right - left) / (x1_ - x0_)) * 180 / pi;
  }

 private:
  double x1_, x0_, y1_, y0_;
};

std::string rate_text(double flops) {
  if (flops >= 1e12) return short_number(flops / 1e12) + " TFLOP/s";
  if (flops >= 1e9) return short_number(flops / 1e9) + " GFLOP/s";
  return short_number(flops / 1e6) + " MFLOP/s";
}
std::string byte_rate_text(double bytes) {
  if (bytes >= 1e12) return short_number(bytes / 1e12) + " TB/s";
  return short_number(bytes / 1e9) + " GB/s";
}

struct box {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  bool meets(box const& other) const {
    return x0 < other.x1 && other.x0 < x1 && y0 < other.y1 && other.y0 < y1;
  }
  bool inside_plot() const { return x0 >= left && x1 <= right && y0 >= top && y1 <= bottom; }
};

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
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  static bool is_plotted(roofline_row const& line) {
    return line.intensity && line.total_flops && *line.intensity > 0 && *line.total_flops > 0;
  }

  /// Room around all points and, where roofs are known, the places where they bend.
  axes make_axes() {
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
    out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(width) + " " +
           number(height) + "\" width=\"" + number(width) + "\" height=\"" + number(height) +
           "\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"13\" "
           "fill=\"#1f2937\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
    auto title = std::string("Roofline");
    if (!facts_.device.empty()) title += " on " + facts_.device;
    text_at(left, 36, title, "font-size=\"22\" font-weight=\"bold\"");
    std::string about = facts_.overview.empty() ? std::string() : facts_.overview.front();
    text_at(left, 58, shortened(about, 120), "fill=\"#4b5563\"");
    char share[96];
    std::snprintf(share, sizeof share, "FLOP counted for %.1f%% of the kernel time",
                  facts_.counted_share * 100);
    text_at(left, 77,
            facts_.roofs != nullptr
                ? std::string(share) + "; solid: measured on this GPU, dashed: theory"
                : std::string(share) + "; no measured peaks in the capture: no roofs",
            "fill=\"#4b5563\"");
    out_ += "<clipPath id=\"plot\"><rect x=\"" + number(left) + "\" y=\"" + number(top) +
            "\" width=\"" + number(right - left) + "\" height=\"" + number(bottom - top) +
            "\"/></clipPath>\n";
  }

  void text_at(double x, double y, std::string_view text, std::string const& more = {}) {
    out_ += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\"" + (more.empty() ? "" : " ") +
            more + ">" + escaped(text) + "</text>\n";
  }

  void line(double x0, double y0, double x1, double y1, std::string const& style) {
    out_ += "<line x1=\"" + number(x0) + "\" y1=\"" + number(y0) + "\" x2=\"" + number(x1) +
            "\" y2=\"" + number(y1) + "\" " + style + "/>\n";
  }

  void grid() {
    auto const tick = [&](double value, double at, bool is_decade, bool upright) {
      bool const visible = upright ? at >= left && at <= right : at >= top && at <= bottom;
      if (!visible) return;
      auto const style = std::string("stroke=\"") + (is_decade ? "#d7dbe0" : "#f0f2f4") + "\"";
      if (upright)
        line(at, top, at, bottom, style);
      else
        line(left, at, right, at, style);
      if (!is_decade) return;
      char text[32];
      std::snprintf(text, sizeof text, "%g", value);
      if (upright)
        text_at(at, bottom + 20, text, "text-anchor=\"middle\"");
      else
        text_at(left - 8, at + 4, text, "text-anchor=\"end\"");
    };
    for (int i = 9; i >= 1; --i) {  // decades last, on top
      for (int decade = axes_.first_x(); decade <= axes_.last_x(); ++decade)
        tick(std::pow(10, decade), axes_.x(i * std::pow(10, decade)), i == 1, true);
      for (int decade = axes_.first_y(); decade <= axes_.last_y(); ++decade)
        tick(std::pow(10, decade - 12), axes_.y(i * std::pow(10, decade)), i == 1, false);
    }
    out_ += "<rect x=\"" + number(left) + "\" y=\"" + number(top) + "\" width=\"" +
            number(right - left) + "\" height=\"" + number(bottom - top) +
            "\" fill=\"none\" stroke=\"#9aa2ad\"/>\n";
    text_at((left + right) / 2, bottom + 46, "arithmetic intensity: FLOP per byte of DRAM",
            "text-anchor=\"middle\" font-size=\"14\"");
    text_at(0, 0, "TFLOP/s",
            "text-anchor=\"middle\" font-size=\"14\" transform=\"translate(24 " +
                number((top + bottom) / 2) + ") rotate(-90)\"");
  }

  double highest_compute() const {
    double highest = 0;
    for (auto const& roof : compute_)
      highest = std::max({highest, roof.measured.value_or(0), roof.theory.value_or(0)});
    return highest > 0 ? highest : 1e30;
  }

  /// Memory roofs rise to the highest compute roof; compute roofs begin where DRAM or L2 let them.
  void roofs() {
    out_ += "<g clip-path=\"url(#plot)\">\n";
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
        line(start(*roof.theory), axes_.y(*roof.theory), right, axes_.y(*roof.theory),
             "stroke=\"#374151\" stroke-width=\"1.2\" stroke-dasharray=\"6 5\"");
      if (roof.measured)
        line(start(*roof.measured), axes_.y(*roof.measured), right, axes_.y(*roof.measured),
             "stroke=\"#374151\" stroke-width=\"2.4\"");
      for (auto const peak : {roof.measured, roof.theory})
        if (peak) avoid_along({start(*peak), axes_.y(*peak)}, {right, axes_.y(*peak)});
    }
    out_ += "</g>\n";
    name_memory_roofs(ceiling);
    name_compute_roofs();
  }

  void memory_line(double bytes, double ceiling, std::string const& style) {
    auto const x0 = axes_.least_x(), x1 = std::min(ceiling / bytes, axes_.greatest_x());
    if (x1 <= x0) return;
    point const from{axes_.x(x0), axes_.y(bytes * x0)}, to{axes_.x(x1), axes_.y(bytes * x1)};
    line(from.x, from.y, to.x, to.y, style);
    avoid_along(from, to);
  }

  /// Labels keep off lines where they can.
  void avoid_along(point from, point to) {
    auto const steps = std::ceil(std::hypot(to.x - from.x, to.y - from.y) / 4);
    for (double i = 0; i <= steps; ++i) {
      auto const x = from.x + (to.x - from.x) * i / std::max(steps, 1.0);
      auto const y = from.y + (to.y - from.y) * i / std::max(steps, 1.0);
      lines_drawn_.push_back({x - 2, y - 2, x + 2, y + 2});
    }
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
      auto const angle = -axes_.slope_angle() / 180 * pi;
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
        bool const is_free = std::none_of(boxes.begin(), boxes.end(), [&](box const& b) {
          return std::any_of(taken_.begin(), taken_.end(),
                             [&](box const& other) { return other.meets(b); });
        });
        if (!is_free) continue;
        taken_.insert(taken_.end(), boxes.begin(), boxes.end());
        text_at(0, below ? -3 : -7, text,
                "font-weight=\"bold\" paint-order=\"stroke\" stroke=\"#ffffff\" stroke-width=\"3\" "
                "fill=\"" +
                    std::string(memory.colour) + "\" transform=\"translate(" + number(x) + " " +
                    number(y) + ") rotate(" + number(axes_.slope_angle()) + ")\"");
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
      line(right, axes_.y(peak), right + 10, y - 4, "stroke=\"#9aa2ad\"");
      text_at(right + 14, y, roof.name + (roof.measured ? "" : " (theory)"),
              "font-weight=\"bold\"");
      auto detail = rate_text(peak);
      if (roof.measured && roof.theory) detail += ", theory " + short_number(*roof.theory / 1e12);
      text_at(right + 14, y + 14, detail, "fill=\"#4b5563\" font-size=\"12\"");
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
      taken_.push_back(
          {p.at.x - p.radius, p.at.y - p.radius, p.at.x + p.radius, p.at.y + p.radius});
  }

  void draw_points() {
    std::string texts;
    for (auto const& p : shown_)
      if (p.rank <= labels_at_most) label(p, texts);  // draws lines to labels: below the points
    // The greatest first, so that small ones lie on top.
    for (auto const& p : shown_) draw(p);
    out_ += texts;
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
    std::string title;
    for (std::size_t begin = 0; begin <= tip.size();) {
      auto const end = std::min(tip.find('\n', begin), tip.size());
      if (begin > 0) title += "&#10;";
      title += escaped(std::string_view(tip).substr(begin, end - begin));
      begin = end + 1;
    }
    out_ += "<circle cx=\"" + number(p.at.x) + "\" cy=\"" + number(p.at.y) + "\" r=\"" +
            number(p.radius) + "\" fill=\"" + colour_of(row.bound) +
            "\" fill-opacity=\"0.55\" stroke=\"" + colour_of(row.bound) +
            "\" stroke-width=\"1.5\"><title>" + title + "</title></circle>\n";
  }

  /// Beside its point where there is room, else further away with a line to it, else not at all.
  void label(plotted const& p, std::string& texts) {
    auto const text = label_of(*p.line);
    auto const w = 6.8 * static_cast<double>(width_of(text)) + 4, h = 15.0;
    for (bool const keep_off_lines : {true, false}) {
      for (double const distance : {3.0, 14.0, 30.0, 50.0, 75.0, 105.0}) {
        auto const r = p.radius + distance, d = r * 0.7;
        point const corners[] = {{p.at.x + r, p.at.y - h / 2}, {p.at.x - r - w, p.at.y - h / 2},
                                 {p.at.x - w / 2, p.at.y + r}, {p.at.x - w / 2, p.at.y - r - h},
                                 {p.at.x + d, p.at.y + d},     {p.at.x + d, p.at.y - d - h},
                                 {p.at.x - d - w, p.at.y + d}, {p.at.x - d - w, p.at.y - d - h}};
        for (auto const& corner : corners) {
          box const place{corner.x, corner.y, corner.x + w, corner.y + h};
          auto const meets = [&](box const& b) { return b.meets(place); };
          if (!place.inside_plot() || std::any_of(taken_.begin(), taken_.end(), meets)) continue;
          if (keep_off_lines && std::any_of(lines_drawn_.begin(), lines_drawn_.end(), meets))
            continue;
          taken_.push_back(place);
          if (distance > 10)
            line(p.at.x, p.at.y, std::clamp(p.at.x, place.x0, place.x1),
                 std::clamp(p.at.y, place.y0, place.y1), "stroke=\"#6b7280\" stroke-width=\"0.8\"");
          out_.swap(texts);
          text_at(corner.x + 2, corner.y + h - 3.5, text,
                  "font-size=\"12\" paint-order=\"stroke\" stroke=\"#ffffff\" stroke-width=\"3\"");
          out_.swap(texts);
          return;
        }
      }
    }
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
      text_at(x, y, "bound by", "font-weight=\"bold\"");
      for (auto const& kind : kinds) {
        y += 20;
        out_ += "<circle cx=\"" + number(x + 7) + "\" cy=\"" + number(y - 4) +
                "\" r=\"6\" fill=\"" + colour_of(kind) + "\" fill-opacity=\"0.55\" stroke=\"" +
                colour_of(kind) + "\" stroke-width=\"1.5\"/>\n";
        text_at(x + 22, y, legend_of(kind));
      }
      y += 30;
    }
    text_at(x, y, "size: share of kernel time", "fill=\"#4b5563\"");
    if (without_place_ > 0) {
      std::string const what = of_ == roofline_lines::ranges ? "ranges" : "kernels";
      text_at(x, y + 20,
              counted(without_place_, what) + " without a place here:", "fill=\"#4b5563\"");
      text_at(x, y + 36, "no FLOP, or not counted", "fill=\"#4b5563\"");
    }
  }

  std::span<roofline_row const> lines_;
  roofline_lines of_;
  roofline_facts const& facts_;
  std::vector<memory_roof> memory_;
  std::vector<compute_roof> compute_;
  axes axes_;  // after what it takes into account
  std::string out_;
  std::vector<plotted> shown_;
  std::vector<box> taken_, lines_drawn_;
  double legend_top_ = top + 20;
  std::size_t without_place_ = 0;
};

}  // namespace

void write_roofline_svg(std::span<roofline_row const> lines, roofline_lines of,
                        roofline_facts const& facts, text_sink const& out) {
  out(chart(lines, of, facts).text());
}

}  // namespace gpuprof::report
