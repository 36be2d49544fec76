// SPDX-License-Identifier: Apache-2.0
// Which columns of a table the fields need that a program asks for.
#pragma once

#include <gpuprof/capture.hpp>

#include "capture/column_set.hpp"
#include "capture/tables.hpp"

namespace gpuprof::host {

using captured_detail::bit_of;
using captured_detail::field_bits;

/// True if one of the fields is among those that are asked for.
template <class Record, class... Fields>
bool asks_for(field_bits asked, Fields... fields) noexcept {
  return (asked & (bit_of<Record>(fields) | ...)) != 0;
}

/// None for fields that are in other tables.
capture::column_set<kernel_record> kernel_columns(field_bits asked);
capture::column_set<graph_record> graph_columns(field_bits asked);
capture::column_set<copy_record> copy_columns(field_bits asked);
capture::column_set<memset_record> fill_columns(field_bits asked);
capture::column_set<api_record> call_columns(field_bits asked);
capture::column_set<range_begin> range_columns(field_bits asked);
capture::column_set<mark_record> mark_columns(field_bits asked);
capture::column_set<sync_record> sync_columns(field_bits asked);
capture::column_set<memory_record> memory_columns(field_bits asked);
capture::column_set<read_launch_record> reading_columns(field_bits asked);
capture::column_set<sample_record> sample_columns(field_bits asked);
capture::column_set<chip_state_record> chip_state_columns(field_bits asked);

}  // namespace gpuprof::host
