// SPDX-License-Identifier: Apache-2.0
// Finds room for labels in a chart, so that they lie on no point and on no other label.
#pragma once

#include "host/report/svg_canvas.hpp"

#include <optional>
#include <vector>

namespace gpuprof::report {

struct box {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  bool meets(box const& other) const noexcept {
    return x0 < other.x1 && other.x0 < x1 && y0 < other.y1 && other.y0 < y1;
  }
};

class label_room {
 public:
  explicit label_room(box inside) : inside_(inside) {}

  void take(box const& place) { taken_.push_back(place); }
  /// Labels keep off lines where they can.
  void avoid_along(point from, point to);

  bool is_free(box const& place) const;

  struct found_place {
    box place;
    bool is_far = false;  // a line should lead to it
  };
  /// Beside a round point, as near as there is room; taken then. Nothing when there is none.
  std::optional<found_place> take_beside(point centre, double radius, double width, double height);

 private:
  box inside_;
  std::vector<box> taken_, lines_;
};

}  // namespace gpuprof::report
