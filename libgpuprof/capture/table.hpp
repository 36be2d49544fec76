// SPDX-License-Identifier: Apache-2.0
// A table of a capture file is a specialization of table<Row> with its number, its name and
// its columns.
#pragma once

#include <type_traits>

namespace gpuprof::capture {

// Names a value inside a row, so that a column can be read and written.

/// Accesses a value inside a row: at<&kernel_shape::grid, &extent3::x>.
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

// A table's number, a column's place in its list and the meaning of both never change. New columns
// are added at the end of a list and new tables get a new number; nothing is removed or reordered.

template <class Row>
struct table;

}  // namespace gpuprof::capture
