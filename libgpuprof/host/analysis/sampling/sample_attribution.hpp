// SPDX-License-Identifier: Apache-2.0
// Derives from samples of whole GPUs what the launches of each workload counted.
#pragma once

#include "host/analysis/sampling/attribution_steps.hpp"
#include "host/analysis/sampling/device_work.hpp"
#include "host/analysis/sampling/sample_series.hpp"
#include "host/analysis/sampling/sampled_figures.hpp"
#include "host/analysis/sampling/shape_pools.hpp"

#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

namespace gpuprof::host {

/// The amount of data used, and the reasons for missing figures.
struct sampling_facts {
  std::uint64_t windows = 0, intervals = 0, overflows = 0;
  std::uint64_t not_recorded = 0;  // intervals in which work without a time of its own may have run
  std::uint64_t not_taken = 0;     // values dropped for lack of room
  std::uint64_t not_told_apart = 0;  // workloads that always ran with the same other work
  std::uint64_t too_few = 0;         // workloads with too few samples
  std::uint64_t too_many = 0;        // workloads beyond the maximum for one fit
  // see unseen_activity(); of the GPU with the highest value; 0: none, or not known
  double unseen = 0;
};

/// The caller must add captures, definitions, windows and samples first, then call end_samples(),
/// add all GPU work and call attribute().
class sample_attribution {
 public:
  static constexpr std::size_t usual_max_unknowns = 900;
  /// tell_apart() describes the unknowns.
  explicit sample_attribution(std::size_t max_unknowns = usual_max_unknowns)
      : max_unknowns_(max_unknowns) {}

  /// Adds a time in which launches were recorded, in order of time; see recorded_time.
  void add_capture(timestamp_ns start, timestamp_ns end) { recorded_.add_capture(start, end); }
  void end_is_unsure(duration_ns length) { recorded_.end_is_unsure(length); }
  /// Ignores metrics that are read around launches.
  void define(metric_record const& metric, std::string_view name);
  void add(sampling_window_record const& window);
  void add(sample_record const& sample);
  void end_samples();
  /// Without it no shapes are joined; see pools_of().
  void use_pools(std::vector<std::uint32_t> pools) { pools_ = std::move(pools); }

  /// `workload` as counted in workload_times.
  void see(kernel_record const& kernel, workload_id const& workload) {
    see_launch(kernel, workload);
  }
  void see(graph_record const& graph, workload_id const& workload) { see_launch(graph, workload); }
  void see(copy_record const& copy);
  void see(memset_record const& fill);
  /// `without_tensor`: kernels that have no tensor-core instructions.
  void attribute(std::set<shape_id> const& without_tensor = {});

  bool has_samples() const noexcept { return facts_.intervals > 0; }
  sampling_facts const& facts() const noexcept { return facts_; }
  sampled_figures const& figures() const noexcept { return figures_; }

 private:
  struct device {
    sample_series samples;
    device_work work{samples};
    recorded_time recorded;
    std::vector<std::uint32_t> names;  // index among the figures, by column
    std::vector<bool> is_unsure;       // by interval; empty: none is
    pooled_work::launches_by_shape pooled_launches;
  };
  struct place {
    device* of = nullptr;
    std::uint32_t column = 0;
  };
  device& device_of(device_id id);
  template <class Record>
  void see_launch(Record const& launch, workload_id const& workload) {
    auto const found = devices_.find(launch.device);
    if (found == devices_.end()) return;
    see_times(*found->second, launch);
    if (auto const shape = raw(workload.shape);
        raw(workload.graph) == 0 && shape < pools_.size() && pools_[shape] != no_pool) {
      auto& of = found->second->pooled_launches[workload.shape];
      ++of.times;
      of.ns += static_cast<double>(launch.duration.value);
    }
    found->second->work.add_launch(workload, launch.correlation, launch.start, launch.duration);
  }
  static void note_unsure(device& of, timestamp_ns start, duration_ns duration);
  template <class Record>
  static void see_times(device& of, Record const& work) {
    of.recorded.see(work.start, work.duration);
    if constexpr (requires { work.time_of; })
      if (raw(work.time_of) != 0) note_unsure(of, work.start, work.duration);
  }
  /// All figures of a GPU, and those of its pools.
  struct found_figures {
    figure_grid figures, pooled;
    pooled_work pools;
  };
  void attribute(device_id id, device& of, std::set<shape_id> const& without_tensor);
  void attribute_tensor(device& of, std::set<shape_id> const& without_tensor,
                        std::span<std::uint32_t const> columns, found_figures& found) const;
  static void set_what_is_known(device const& of, std::vector<bool> const& is_without_tensor,
                                figure_grid& figures);
  void keep_shapes_without_samples(device_id id, device const& of, found_figures const& found,
                                   std::set<shape_id> const& without_tensor);
  void keep(device const& of, found_figures const& found, std::vector<no_figure> const& without);

  std::size_t max_unknowns_;
  std::vector<std::uint32_t> pools_;  // by shape
  recorded_time recorded_;            // template without work
  // each holds references to its own members
  std::map<device_id, std::unique_ptr<device>> devices_;
  std::map<metric_id, place> places_;
  sampled_figures figures_;
  std::uint64_t places_taken_ = 0;  // over all devices
  sampling_facts facts_;
};

}  // namespace gpuprof::host
