// SPDX-License-Identifier: Apache-2.0
// Writes the elements of an SVG picture.
#pragma once

#include <string>
#include <string_view>

namespace gpuprof::report {

struct point {
  double x = 0, y = 0;
};

/// One decimal: a tenth of a pixel.
std::string svg_number(double value);
/// For text and attributes. Bytes that XML 1.0 has no place for become blanks or U+FFFD.
std::string svg_text(std::string_view text);

/// `style` is further attributes, as they stand in the element.
class svg_canvas {
 public:
  void text(point at, std::string_view text, std::string_view style = {});
  void line(point from, point to, std::string_view style);
  void frame(point corner, point opposite, std::string_view style);
  /// `title` appears beside the pointer; lines end with \n.
  void circle(point centre, double radius, std::string_view colour, std::string_view title = {});
  /// Elements as they are: groups, definitions, other canvases.
  void add(std::string_view elements) { out_ += elements; }

  std::string const& elements() const noexcept { return out_; }

 private:
  std::string out_;
};

}  // namespace gpuprof::report
