// SPDX-License-Identifier: Apache-2.0
// What a capture says about itself and its names, ranges, threads and devices, read when first
// asked.
#pragma once

#include "capture/reader.hpp"
#include "host/analysis/kernel_labels.hpp"
#include "host/analysis/launch_ranges.hpp"
#include "host/analysis/range_tree.hpp"
#include "text/overview.hpp"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

namespace gpuprof::host {

/// Which calls of the CUDA runtime and driver a capture holds. Where those that block alone were
/// recorded, a launch without a call says nothing.
enum class captured_calls { none, blocking, all };

/// Does not move once made: what it gives out refers to it.
class trace_contents {
 public:
  explicit trace_contents(capture::reader file);
  trace_contents(trace_contents const&) = delete;
  trace_contents& operator=(trace_contents const&) = delete;

  capture::reader& file() noexcept { return file_; }
  text_of_name const& text() const noexcept { return text_; }

  std::vector<kernel_shape> const& shapes();
  kernel_labels const& labels(kernel_name_style style);
  range_tree const& ranges();
  open_ranges const& open();
  launch_ranges const& launched(range_scope scope);

  /// Start of the first capture: 0 on the axis of reports and time filters.
  timestamp_ns origin() const noexcept { return origin_; }
  /// The end of the last capture; without one (the program was killed) the last thing known.
  timestamp_ns last_moment();
  /// In order; the last one may have no end.
  std::vector<window_record> const& windows() const noexcept { return windows_; }
  std::string fact(std::string_view key) const;
  captured_calls calls() const;
  std::uint64_t counter(std::string_view name) const;  // 0: not there
  /// "holds no hardware counters" where it holds none: why, and what to do.
  std::string without_counters() const;
  /// Those of a family, "counters", without its name.
  std::vector<std::pair<std::string, std::uint64_t>> counters_of(std::string_view family) const;
  std::uint32_t process_id() const;
  std::map<std::uint32_t, std::string> device_names() const;  // by device_id
  /// The GPUs that have done something. Reads the work for it where no walk has, and several GPUs
  /// are described.
  std::set<device_id> const& devices_at_work();
  std::vector<device_record> const& devices() const noexcept { return devices_; }
  /// By device_id: "2026-03-01T12:00:00Z", the latest of each. Of the peaks in the capture.
  std::map<std::uint32_t, std::string> peaks_measured_at();
  std::uint32_t os_thread(thread_index thread) const;
  thread_index thread_of(std::uint32_t os_thread) const;  // 0: not known

  /// Ask last: only reading shows damage inside the file.
  text::overview overview();
  /// Likewise: what was lost while recording and what is missing from the file, a line each; none:
  /// nothing.
  std::vector<std::string> missing();

 private:
  std::string peaks_line();
  std::string labels_line() const;
  template <class Row>
  void find_devices_at_work();

  capture::reader file_;
  text_of_name text_;
  std::vector<window_record> windows_;
  std::vector<std::pair<name_id, name_id>> facts_;
  std::vector<device_record> devices_;
  std::map<thread_index, std::uint32_t> os_threads_;
  std::unordered_map<std::uint32_t, thread_index> threads_;
  std::map<std::string, std::uint64_t, std::less<>> counters_;
  std::optional<std::vector<kernel_shape>> shapes_;
  std::array<std::optional<kernel_labels>, 3> labels_;
  std::optional<std::set<device_id>> devices_at_work_;
  std::optional<range_tree> ranges_;
  std::optional<open_ranges> open_;
  std::array<std::optional<launch_ranges>, 2> launched_;  // by scope
  timestamp_ns origin_;
};

}  // namespace gpuprof::host
