// SPDX-License-Identifier: Apache-2.0
// Names a value inside a row, so that a column can be read from it and written to it.
#pragma once

#include <type_traits>

namespace gpuprof::capture {

/// Reaches a value inside a row: at<&kernel_shape::grid, &extent3::x>.
template <auto First, auto... Rest>
struct accessor {
  template <class Row>
  constexpr auto& operator()(Row& row) const noexcept {
    auto& member = row.*First;
    if constexpr (sizeof...(Rest) > 0) {
      return accessor<Rest...>{}(member);
    } else if constexpr (std::is_class_v<std::remove_reference_t<decltype(member)>> &&
                         requires { member.value; }) {
      return member.value;  // timestamp_ns, duration_ns
    } else {
      return member;
    }
  }
};
template <auto... Path>
inline constexpr accessor<Path...> at{};

}  // namespace gpuprof::capture
