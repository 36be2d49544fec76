// SPDX-License-Identifier: Apache-2.0
// The results of sampling: the figures of each workload's launches.
#pragma once

#include "host/analysis/launch_metrics.hpp"
#include "host/analysis/sampling/sampled_figure.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host {

class sampled_figures {
 public:
  struct of_workload {
    std::vector<std::optional<sampled_figure>> by_name;
    double ns = 0;         // total time of its launches
    double shared_ns = 0;  // part of it in which other launches ran too
  };

  /// Returns the index of this metric among the figures of each workload.
  std::uint32_t define(std::string_view metric);
  /// Adds a workload with an entry for each metric.
  of_workload& make(workload_id const& workload);
  /// Takes over the figures of `other` for at most `max_workloads` workloads. Averages figures that
  /// both have, weighted by launches.
  void take(sampled_figures const& other, std::size_t max_workloads);

  bool empty() const noexcept { return by_workload_.empty(); }
  std::size_t workloads() const noexcept { return by_workload_.size(); }
  /// Names of the metrics, in the order of their definition.
  std::vector<std::string> const& names() const noexcept { return names_; }
  /// Returns nullptr if the samples give no figure.
  sampled_figure const* find(workload_id const& workload, std::string_view metric) const;
  /// Returns true if other launches ran at the same time for most of its time.
  bool is_shared(workload_id const& workload) const;

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t, std::less<>> name_index_;
  std::map<workload_id, of_workload> by_workload_;
};

}  // namespace gpuprof::host
