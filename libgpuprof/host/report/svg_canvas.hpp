// SPDX-License-Identifier: Apache-2.0
// Writes the elements of an SVG picture, and finds free positions for its labels.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::report {

struct point {
  double x = 0, y = 0;
};

/// Writes one decimal: a tenth of a pixel.
std::string svg_number(double value);
/// Escapes for text and attributes. Bytes that XML 1.0 does not allow become blanks or U+FFFD.
std::string svg_text(std::string_view text);

/// `style` holds further attributes as written in the element.
class svg_canvas {
 public:
  void text(point at, std::string_view text, std::string_view style = {});
  void line(point from, point to, std::string_view style);
  void frame(point corner, point opposite, std::string_view style);
  /// `title` is shown next to the pointer; lines end with
  /// .
  void circle(point center, double radius, std::string_view color, std::string_view title = {});
  /// Adds elements unchanged: groups, definitions, other canvases.
  void add(std::string_view elements) { out_ += elements; }

  std::string const& elements() const noexcept { return out_; }

 private:
  std::string out_;
};

struct box {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  bool meets(box const& other) const noexcept {
    return x0 < other.x1 && other.x0 < x1 && y0 < other.y1 && other.y0 < y1;
  }
};

/// Finds positions for labels in a chart so that they cover no point and no other label.
class label_room {
 public:
  explicit label_room(box inside) : inside_(inside) {}

  void take(box const& place) { taken_.push_back(place); }
  /// Labels avoid this line if possible.
  void avoid_along(point from, point to);

  bool is_free(box const& place) const;

  struct found_place {
    box place;
    bool is_far = false;  // a line should connect it to its point
  };
  /// Takes a position beside a round point, as near as possible. Returns nothing if there is no
  /// room.
  std::optional<found_place> take_beside(point center, double radius, double width, double height);

 private:
  box inside_;
  std::vector<box> taken_, lines_;
};

}  // namespace gpuprof::host::report
