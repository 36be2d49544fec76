// SPDX-License-Identifier: Apache-2.0
// Interface for finished records: they go to the capture file and to live consumers in the program.
#pragma once

#include "model/kernel_code.hpp"
#include "model/records.hpp"

#include <span>
#include <utility>
#include <vector>

namespace gpuprof {

// Results of the counters: readings around launches, and windows of samples.

/// Counters of one launch, or of several launches with one pass each.
struct counter_reading {
  std::vector<read_launch_record> launches;  // one for each pass
  std::vector<reading_value_record> values;  // of the last launch
};

/// Sampling windows and the samples in them, metric by metric.
struct sampling_results {
  std::vector<sampling_window_record> windows;
  std::vector<sample_record> samples;
};

// The records that sinks get one at a time. A window comes twice: without an end when it opens, and
// after it has closed.
#define GPUPROF_SINGLE_RECORDS(RECORD) \
  RECORD(window_record)                \
  RECORD(range_begin)                  \
  RECORD(range_end)                    \
  RECORD(mark_record)                  \
  RECORD(stack_record)                 \
  RECORD(kernel_shape)                 \
  RECORD(graph_record)                 \
  RECORD(copy_record)                  \
  RECORD(memset_record)                \
  RECORD(api_record)                   \
  RECORD(sync_record)                  \
  RECORD(memory_record)                \
  RECORD(unified_memory_record)        \
  RECORD(context_record)               \
  RECORD(device_record)                \
  RECORD(peak_record)                  \
  RECORD(kernel_code_record)           \
  RECORD(metric_record)                \
  RECORD(counter_reading)              \
  RECORD(sampling_results)             \
  RECORD(hold_record)                  \
  RECORD(pause_record)                 \
  RECORD(chip_state_record)            \
  RECORD(thread_sample_record)         \
  RECORD(source_line_record)           \
  RECORD(binary_record)

/// Gets records in the order of the capture file: shapes before their kernels, ranges before the
/// work launched in them, metrics before their values. A sink ignores records that it does not
/// need. Called by one thread only.
class record_sink {
 public:
  virtual ~record_sink() = default;
#define GPUPROF_RECORD(record) \
  virtual void add(record const&) {}
  GPUPROF_SINGLE_RECORDS(GPUPROF_RECORD)
#undef GPUPROF_RECORD
  virtual void add(std::span<kernel_record const>) {}
};

/// Passes all records to several sinks, in order.
class record_sinks : public record_sink {
 public:
  explicit record_sinks(std::vector<record_sink*> to = {}) : to_(std::move(to)) {}
  void also(record_sink& another) { to_.push_back(&another); }

#define GPUPROF_RECORD(record)          \
  void add(record const& of) override { \
    hand(of);                           \
  }
  GPUPROF_SINGLE_RECORDS(GPUPROF_RECORD)
#undef GPUPROF_RECORD
  void add(std::span<kernel_record const> kernels) override {
    hand(kernels);
  }

 private:
  template <class Record>
  void hand(Record const& record) {
    for (auto* const sink : to_) sink->add(record);
  }

  std::vector<record_sink*> to_;
};

}  // namespace gpuprof
