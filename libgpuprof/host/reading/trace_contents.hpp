// SPDX-License-Identifier: Apache-2.0
// The general contents of a capture: its facts, names, ranges, threads and devices. Some are read
// on first use.
#pragma once

#include "capture/reader.hpp"
#include "host/analysis/kernel_codes.hpp"
#include "host/analysis/kernel_labels.hpp"
#include "host/analysis/launch_ranges.hpp"
#include "host/analysis/range_tree.hpp"
#include "text/overview.hpp"

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

namespace gpuprof::host {

/// The CUDA runtime and driver calls in a capture. If only blocking calls were recorded, a launch
/// without a call means nothing.
enum class captured_calls { none, blocking, all };

/// Must not move, because results refer to it.
class trace_contents {
 public:
  explicit trace_contents(capture::reader file);
  trace_contents(trace_contents const&) = delete;
  trace_contents& operator=(trace_contents const&) = delete;

  capture::reader& file() noexcept { return file_; }
  /// The stacks of the capture, indexed by stack_id; the first is none. Frames of native code have
  /// the path of their binary as file, and a function: see native_names.hpp.
  std::vector<stack_record> const& stacks();
  text_of_name const& text() const noexcept { return text_; }

  std::vector<kernel_shape> const& shapes();
  kernel_labels const& labels(kernel_name_style style);
  /// The machine code of kernels, where it was seen.
  kernel_codes const& codes();
  /// Without operators of PyTorch (`--pytorch ops`), which are no parts of a program's structure:
  /// what they launch belongs to the range around them.
  range_tree const& ranges();
  /// All ranges, also operators; helper threads are not joined.
  range_tree read_ranges();
  /// Call first: ranges() will have operators too.
  void show_operators() noexcept { with_operators_ = true; }
  open_ranges const& open();
  launch_ranges const& launched(range_scope scope);

  /// Start of the first capture window: the origin of time in reports and time filters.
  timestamp_ns origin() const noexcept { return origin_; }
  /// Returns the end of the last capture window. If it has none (the program was killed), returns
  /// the last known time.
  timestamp_ns last_moment();
  /// In order of start. The last one may have no end.
  std::vector<window_record> const& windows() const noexcept { return windows_; }
  std::string fact(std::string_view key) const;
  captured_calls calls() const;
  std::uint64_t counter(std::string_view name) const;  // 0 if it does not exist
  /// Returns "holds no hardware counters", the reason and what to do.
  std::string without_counters() const;
  /// Returns the counters of a family such as "counters", without the family in their names.
  std::vector<std::pair<std::string, std::uint64_t>> counters_of(std::string_view family) const;
  std::uint32_t process_id() const;
  std::map<std::uint32_t, std::string> device_names() const;  // indexed by device_id
  /// The GPUs that have done something. Reads the work for it where no walk has, and several GPUs
  /// are described.
  std::set<device_id> const& devices_at_work();
  std::vector<device_record> const& devices() const noexcept { return devices_; }
  /// Returns by device_id when the peaks in the capture were last measured: "2026-03-01T12:00:00Z".
  std::map<std::uint32_t, std::string> peaks_measured_at();
  std::uint32_t os_thread(thread_index thread) const;
  thread_index thread_of(std::uint32_t os_thread) const;  // 0: not known

  /// Returns what tracing added to each launch: the run's quick launches minus the measured
  /// launch_throughput. Returns nothing without peaks or launches.
  std::optional<double> ns_a_launch();
  /// Returns the counters of families "cost" and "memory" with their whole names.
  std::vector<std::pair<std::string, std::uint64_t>> costs() const;

  /// Call last, because damage inside the file only shows when it is read.
  text::overview overview();
  /// Returns what was lost while recording and what is missing from the file, one line each. Call
  /// last.
  std::vector<std::string> missing();

 private:
  std::string_view text_of(name_id name) const noexcept;
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
  std::deque<std::string> added_texts_;  // which the file does not have
  std::optional<std::vector<stack_record>> stacks_;
  std::optional<std::vector<kernel_shape>> shapes_;
  std::optional<kernel_codes> codes_;
  std::array<std::optional<kernel_labels>, 4> labels_;
  std::optional<std::set<device_id>> devices_at_work_;
  std::optional<std::optional<double>> ns_a_launch_;
  std::optional<timestamp_ns> last_moment_;  // if the last window has no end
  std::optional<range_tree> ranges_;
  bool with_operators_ = false;
  std::optional<open_ranges> open_;
  std::array<std::optional<launch_ranges>, 2> launched_;  // indexed by scope
  timestamp_ns origin_;
};

}  // namespace gpuprof::host
