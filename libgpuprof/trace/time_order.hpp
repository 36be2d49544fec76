// SPDX-License-Identifier: Apache-2.0
// When a record of a trace happened, for every kind of record that has a time.
#pragma once

#include "model/records.hpp"

namespace gpuprof {

/// The member that says when such a record began.
template <class Row>
constexpr auto time_member() noexcept {
  if constexpr (requires(Row row) { row.start; })
    return &Row::start;
  else if constexpr (requires(Row row) { row.opened; })
    return &Row::opened;
  else if constexpr (requires(Row row) { row.realtime; })
    return &Row::realtime;
  else
    return &Row::time;
}

template <class Row>
timestamp_ns time_of(Row const& row) noexcept {
  return row.*time_member<Row>();
}

}  // namespace gpuprof
