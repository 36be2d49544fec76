// SPDX-License-Identifier: Apache-2.0
#include "host/report/label_room.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof::report {
namespace {

bool any_meets(std::vector<box> const& boxes, box const& place) {
  return std::any_of(boxes.begin(), boxes.end(), [&](box const& b) { return b.meets(place); });
}

}  // namespace

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

std::optional<label_room::found_place> label_room::take_beside(point centre, double radius,
                                                               double width, double height) {
  for (bool const keep_off_lines : {true, false}) {
    for (double const distance : {3.0, 14.0, 30.0, 50.0, 75.0, 105.0}) {
      auto const r = radius + distance, d = r * 0.7;
      auto const x = centre.x, y = centre.y;
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

}  // namespace gpuprof::report
