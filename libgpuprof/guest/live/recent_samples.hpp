// SPDX-License-Identifier: Apache-2.0
// Combines PM samples with the GPU work of the same time, for some windows while the program runs.
#pragma once

#include "host/analysis/sampling/sampled_figures.hpp"
#include "model/records.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::guest {

// One window of samples and all GPU work of its time. It is evaluated only when a snapshot is
// taken.

using namespace host;  // the arithmetic of reports

/// A kernel, a copy or a fill, with the properties that are needed to divide samples among them.
struct sampled_work {
  enum class kind : std::uint8_t { kernel, graph, copy, fill };
  timestamp_ns start;
  duration_ns duration;
  std::uint32_t workload = 0;  // shape or graph
  correlation_id correlation{};
  float bytes = 0;
  std::uint16_t device = 0;
  kind is{};
  copy_kind direction{};
  timestamp_ns end() const noexcept { return start + duration; }
};

/// A value without references: can be used on any thread.
struct sampled_window {
  struct defined_metric {
    metric_record record;
    std::string name;
  };
  struct stretch {
    timestamp_ns start, end;
  };

  sampling_window_record window;
  std::vector<sample_record> samples;
  std::vector<sampled_work> work;       // of its GPU
  std::vector<defined_metric> metrics;  // of its GPU
  std::vector<stretch> captures;        // when launches were recorded
  std::size_t max_unknowns = 0;

  /// Takes 10 to 30 ms with 50 workloads. The limit on unknowns allows much larger fits.
  sampled_figures divide() const;

  std::size_t bytes() const noexcept {
    return samples.size() * sizeof(sample_record) + work.size() * sizeof(sampled_work);
  }
};

/// For one thread. Work may come before the samples of its window or after them. Both are kept
/// until they can be combined.
class recent_samples {
 public:
  struct capacity {
    std::size_t work = 200'000;        // 6.4 MB; 0: samples are ignored
    std::size_t values = 1u << 17;     // 4 MB; for one window, and for windows that are still open
    std::size_t unknowns = 150;        // 50 workloads per window; see sampled_window::divide()
    duration_ns pause{1'000'000'000};  // between windows of a GPU; times the number of GPUs
  };
  recent_samples() : recent_samples(capacity{}) {}
  explicit recent_samples(capacity limits) : limits_(limits), room_(limits.work) {}

  /// Ignores metrics that are read around launches.
  void define(metric_record const& metric, std::string_view name);
  /// The times in which launches are recorded, see `recorded_time`.
  void open_capture(timestamp_ns start);
  void close_capture(timestamp_ns end);

  /// `is_graph`: the kernel counts as part of its graph, which is one workload.
  void add(kernel_record const& kernel, bool is_graph) {
    push({kernel.start,
          kernel.duration,
          is_graph ? raw(kernel.graph) : raw(kernel.shape),
          kernel.correlation,
          0,
          static_cast<std::uint16_t>(raw(kernel.device)),
          is_graph ? sampled_work::kind::graph : sampled_work::kind::kernel,
          {}});
  }
  void add(copy_record const& copy) {
    push({copy.start,
          copy.duration,
          0,
          {},
          static_cast<float>(copy.bytes),
          static_cast<std::uint16_t>(raw(copy.device)),
          sampled_work::kind::copy,
          copy.kind});
  }
  void add(memset_record const& fill) {
    push({fill.start,
          fill.duration,
          0,
          {},
          static_cast<float>(fill.bytes),
          static_cast<std::uint16_t>(raw(fill.device)),
          sampled_work::kind::fill,
          {}});
  }
  /// Adds windows that have ended, and samples of these and of windows that are still open.
  void add(std::span<sampling_window_record const> windows, std::span<sample_record const> samples);

  /// Records of work were lost at an unknown time: windows that wait are dropped.
  void lose_records();
  /// From now on, some work has no record: samples are no longer used.
  void give_up();
  bool has_given_up() const noexcept { return has_given_up_; }

  /// The caller has added all GPU work that began up to this moment. Returns one window that ended
  /// by then, each only once. It chooses the GPU whose last window is longest ago.
  std::optional<sampled_window> take_complete(timestamp_ns complete_until);

  /// Numbers of windows that were taken, and that were skipped: because there were too many, or
  /// because work of their time is missing.
  std::uint64_t taken() const noexcept { return taken_; }
  std::uint64_t passed_over() const noexcept { return passed_over_; }

 private:
  struct sampled_gpu {
    device_id id{};
    bool is_waiting = false;
    sampling_window_record window;       // the window that waits
    std::vector<sample_record> samples;  // samples of `window`
    timestamp_ns earliest_next;          // start of the next window to take
    timestamp_ns last_end;               // latest end of the windows that came
  };
  void push(sampled_work const& work) {
    if (work_.size() == room_) return replace_oldest(work);
    if (work_.empty()) work_.reserve(room_);
    work_.push_back(work);
  }
  void replace_oldest(sampled_work const& work) {
    if (room_ == 0) return;
    auto& place = work_[oldest_];
    gone_until_ = std::max(gone_until_, place.end());
    place = work;
    if (++oldest_ == work_.size()) oldest_ = 0;
  }
  sampled_gpu* find(device_id device) noexcept;
  bool is_gone(sampling_window_record const& window) const noexcept {
    return window.start < gone_until_;
  }
  void take(sampling_window_record const& window, std::span<sample_record const> samples);
  void keep_open(std::span<sample_record const> samples);
  sampled_window take(sampled_gpu& gpu);
  std::vector<sampled_work> work_around(sampling_window_record const& window) const;

  capacity const limits_;
  std::size_t room_;                // number of entries for work
  std::vector<sampled_work> work_;  // work of all GPUs; a ring buffer once it is full
  std::size_t oldest_ = 0;
  timestamp_ns gone_until_;  // latest end of the work that was dropped
  std::vector<sampled_gpu> gpus_;
  std::vector<sampled_window::defined_metric> defined_;
  std::unordered_map<std::uint32_t, std::size_t> gpu_of_metric_;  // index into gpus_
  std::vector<sample_record> open_;                               // of windows that have not ended
  std::vector<sampled_window::stretch> captures_;                 // the latest captures
  bool has_given_up_ = false;
  std::uint64_t taken_ = 0, passed_over_ = 0;
};

}  // namespace gpuprof::guest
