// SPDX-License-Identifier: Apache-2.0
#include "host/report/svg_canvas.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace gpuprof::host::report {
namespace {

bool any_meets(std::vector<box> const& boxes, box const& place) {
  return std::any_of(boxes.begin(), boxes.end(), [&](box const& b) { return b.meets(place); });
}

}  // namespace

std::string svg_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string svg_text(std::string_view text) {
  std::string out;
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
      for (std::size_t follow = 1; good && follow < length; ++follow)
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

void svg_canvas::text(point at, std::string_view text, std::string_view style) {
  out_ += "<text x=\"" + svg_number(at.x) + "\" y=\"" + svg_number(at.y) + "\"";
  if (!style.empty()) out_.append(" ").append(style);
  out_ += ">" + svg_text(text) + "</text>\n";
}

void svg_canvas::line(point from, point to, std::string_view style) {
  out_ += "<line x1=\"" + svg_number(from.x) + "\" y1=\"" + svg_number(from.y) + "\" x2=\"" +
          svg_number(to.x) + "\" y2=\"" + svg_number(to.y) + "\" ";
  out_.append(style).append("/>\n");
}

void svg_canvas::frame(point corner, point opposite, std::string_view style) {
  out_ += "<rect x=\"" + svg_number(corner.x) + "\" y=\"" + svg_number(corner.y) + "\" width=\"" +
          svg_number(opposite.x - corner.x) + "\" height=\"" + svg_number(opposite.y - corner.y) +
          "\"";
  if (!style.empty()) out_.append(" ").append(style);
  out_ += "/>\n";
}

void svg_canvas::circle(point center, double radius, std::string_view color,
                        std::string_view title) {
  auto const paint = std::string(color);
  out_ += "<circle cx=\"" + svg_number(center.x) + "\" cy=\"" + svg_number(center.y) + "\" r=\"" +
          svg_number(radius) + "\" fill=\"" + paint + "\" fill-opacity=\"0.55\" stroke=\"" + paint +
          "\" stroke-width=\"1.5\"";
  if (title.empty()) {
    out_ += "/>\n";
    return;
  }
  out_ += "><title>";
  for (std::size_t begin = 0; begin <= title.size();) {
    auto const end = std::min(title.find('\n', begin), title.size());
    if (begin > 0) out_ += "&#10;";
    out_ += svg_text(title.substr(begin, end - begin));
    begin = end + 1;
  }
  out_ += "</title></circle>\n";
}

void label_room::avoid_along(point from, point to) {
  auto const steps = std::max(1.0, std::ceil(std::hypot(to.x - from.x, to.y - from.y) / 4));
  for (double i = 0; i <= steps; ++i) {
    auto const x = from.x + (to.x - from.x) * i / steps;
    auto const y = from.y + (to.y - from.y) * i / steps;
    lines_.push_back({x - 2, y - 2, x + 2, y + 2});
  }
}

bool label_room::is_free(box const& place) const {
  return !any_meets(taken_, place);
}

std::optional<label_room::found_place> label_room::take_beside(point center, double radius,
                                                               double width, double height) {
  for (bool const keep_off_lines : {true, false}) {
    for (double const distance : {3.0, 14.0, 30.0, 50.0, 75.0, 105.0}) {
      auto const r = radius + distance, d = r * 0.7;
      auto const x = center.x, y = center.y;
      point const corners[] = {{x + r, y - height / 2}, {x - r - width, y - height / 2},
                               {x - width / 2, y + r},  {x - width / 2, y - r - height},
                               {x + d, y + d},          {x + d, y - d - height},
                               {x - d - width, y + d},  {x - d - width, y - d - height}};
      for (auto const& corner : corners) {
        box const place{corner.x, corner.y, corner.x + width, corner.y + height};
        bool const is_inside = place.x0 >= inside_.x0 && place.x1 <= inside_.x1 &&
                               place.y0 >= inside_.y0 && place.y1 <= inside_.y1;
        if (!is_inside || !is_free(place)) continue;
        if (keep_off_lines && any_meets(lines_, place)) continue;
        take(place);
        return found_place{place, distance > 10};
      }
    }
  }
  return std::nullopt;
}

}  // namespace gpuprof::host::report
