// SPDX-License-Identifier: Apache-2.0
// Reads the counters of a capture, then all GPU work in one pass.
#pragma once

#include "host/analysis/rank_readings.hpp"
#include "host/analysis/roofline.hpp"
#include "host/analysis/sampling/sample_attribution.hpp"
#include "host/analysis/sampling/sampling_cost.hpp"
#include "host/analysis/selection.hpp"
#include "host/analysis/stack_workloads.hpp"
#include "host/reading/capture_walk.hpp"
#include "host/reading/forward_stacks.hpp"
#include "host/reading/trace_contents.hpp"

#include <memory>
#include <optional>

namespace gpuprof::host {

/// Must not move after join(), because its parts refer to each other.
class roofline_reading {
 public:
  /// Restricts the work to this device and to this selection. Both are optional; samples always
  /// need all work.
  roofline_reading(trace_contents& trace, std::optional<device_id> device, range_scope scope,
                   selection const* wanted = nullptr);
  roofline_reading(roofline_reading const&) = delete;
  roofline_reading& operator=(roofline_reading const&) = delete;

  /// Adds peaks of this GPU that are not in the capture. Call before join().
  void take_peaks(device_id device, gpu_peaks const& peaks);

  /// Lists ranges by `line_of` instead of their names, and reads times even if nothing was counted.
  /// Call before join().
  void group_ranges(range_grouping line_of) { line_of_ = std::move(line_of); }

  /// Counts launches by Python stack, too. `forward`: the backward pass belongs to the stacks of
  /// the forward pass, see forward_stacks. Call before join().
  void look_at_stacks(bool forward) {
    stack_work_.emplace();
    if (forward) forward_.emplace(trace_);
  }

  /// Uses only readings up to the end of this stretch, and samples inside it. Call before join().
  void only_within(time_stretch stretch) { stretch_ = stretch; }

  /// `with_ranges`: the lines of ranges are needed.
  void join(capture_walk& walk, bool with_ranges);
  /// Call after the walk.
  void finish();

  /// Takes over readings of another rank for the same kernels if this rank has none. Returns the
  /// number of kernels changed. Call after finish().
  std::size_t take_readings(roofline_reading const& other, std::uint32_t rank);

  /// Returns true if there are any readings or samples.
  bool has_counters() const noexcept { return exact_.samples() > 0 || sampled_.has_samples(); }
  launch_metrics const& exact() const noexcept { return exact_; }
  sampling_facts const& sampling() const noexcept { return sampled_.facts(); }
  /// Returns why samples are not used in this capture; empty if they are used.
  std::string const& samples_not_used() const noexcept { return samples_not_used_; }
  std::optional<sampling_price> price() const { return cost_.price(); }
  /// Returns the number of graphs that were read as a whole and have kernel records. Call after
  /// finish().
  std::uint64_t graphs_read() const;
  workload_metrics const& metrics() const noexcept { return *metrics_; }
  workload_times const& times() const noexcept { return times_; }
  std::map<device_id, roofline_device> const& devices() const noexcept { return devices_; }
  std::vector<range_work> const& ranges() const noexcept { return ranges_; }
  /// As ranges(), but by place, see range_workloads. Call after join() with ranges.
  std::vector<range_work> ranges_by_place(std::span<std::uint32_t const> place_of_range,
                                          std::span<std::uint32_t const> place_around) const;
  /// Only after look_at_stacks().
  stack_workloads const& stacks() const noexcept { return *stack_work_; }
  /// Returns the machine code of kernels, if it was seen.
  kernel_codes const& codes() const { return trace_.codes(); }

 private:
  identified_kernels kernels() const;
  void combine();
  void read_devices();
  bool declares_work();
  void read_counters();
  void bound_samples();
  void match(capture_walk& walk);
  void sum_up(capture_walk& walk, bool with_ranges);
  std::map<workload_id, double> unlike_all() const;
  bool is_wanted(device_id device) const noexcept { return !device_ || device == *device_; }

  trace_contents& trace_;
  std::optional<device_id> device_;
  range_scope scope_;
  selection const* wanted_;
  range_grouping line_of_;  // empty: listed by name
  time_stretch stretch_;
  launch_metrics exact_;
  sample_attribution sampled_;
  std::string samples_not_used_;
  std::optional<workload_metrics> metrics_;
  workload_times times_{exact_};
  sampling_cost cost_;
  std::map<device_id, roofline_device> devices_;
  bool reads_work_ = false;
  std::optional<range_workloads> range_work_;
  std::vector<range_work> ranges_;
  std::optional<stack_workloads> stack_work_;
  std::optional<forward_stacks> forward_;

  /// Launches of one shape and of any arguments: their time and number, and of them those that the
  /// selection keeps. One shape may be several problems then, such as two products of a model.
  struct mixed_launches {
    double all_ns = 0, all = 0, kept_ns = 0, kept = 0;
  };
  std::map<workload_id, mixed_launches> mixed_;
};

}  // namespace gpuprof::host
