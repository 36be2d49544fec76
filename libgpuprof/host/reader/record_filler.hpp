// SPDX-License-Identifier: Apache-2.0
// Converts rows of a capture to records of the C++ interface, with the requested fields.
#pragma once

#include <gpuprof/capture.hpp>

#include "capture/layout.hpp"
#include "capture/tables.hpp"
#include "host/reader/capture_contents.hpp"

#include <unordered_map>
#include <utility>
#include <vector>

namespace gpuprof::host {

// Finds the table columns that are needed for the requested fields.

using captured_detail::bit_of;
using captured_detail::field_bits;

/// Returns true if one of the fields is requested.
template <class Record, class... Fields>
bool asks_for(field_bits asked, Fields... fields) noexcept {
  return (asked & (bit_of<Record>(fields) | ...)) != 0;
}

/// These return no columns for fields that come from other tables.
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

/// Used for one pass through a capture. A column that is not decoded has its default value in each
/// row, and so have its fields.
class record_filler {
 public:
  /// `contents` must outlive this object.
  record_filler(capture_contents& contents, capture_query const& query);

  void fill(kernel_record const& row, captured_kernel& to);
  void fill(graph_record const& row, captured_graph& to);
  void fill(copy_record const& row, captured_copy& to);
  void fill(memset_record const& row, captured_fill& to);
  void fill(api_record const& row, captured_call& to);
  void fill(range_begin const& row, captured_range& to);
  void fill(mark_record const& row, captured_mark& to);
  void fill(sync_record const& row, captured_sync& to);
  void fill(memory_record const& row, captured_memory& to);
  void fill(read_launch_record const& row, captured_reading& to);
  void fill(sample_record const& row, captured_sample& to);
  void fill(chip_state_record const& row, captured_chip_state& to);

 private:
  using named_values = std::vector<std::pair<std::string_view, double>>;

  template <class Row>
  void fill_work(Row const& row, captured_work& to);
  std::string_view text(name_id id);
  std::uint32_t os_thread(thread_index thread);
  captured_payload payload_of(payload_kind kind, std::uint64_t bits);
  void read_metrics();
  void read_values();

  capture_contents& contents_;
  bool const shapes_, lengths_of_ranges_;  // true if requested
  exported_names* names_ = nullptr;        // set when a text is first needed
  thread_index last_thread_{};
  std::uint32_t os_number_of_last_ = 0;
  std::unordered_map<metric_id, metric_record> metrics_;
  std::unordered_map<correlation_id, named_values> values_;
};

}  // namespace gpuprof::host
