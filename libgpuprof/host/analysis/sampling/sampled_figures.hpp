// SPDX-License-Identifier: Apache-2.0
// What samples in time say of the launches of each workload, as a value.
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
    double ns = 0;         // of its launches
    double shared_ns = 0;  // of these: other launches ran too
  };

  /// The place of this metric among the figures of each workload.
  std::uint32_t define(std::string_view metric);
  /// With a place for each metric.
  of_workload& make(workload_id const& workload);
  /// Takes over what other samples say, of at most this many workloads: means of both, weighted by
  /// launches.
  void take(sampled_figures const& other, std::size_t max_workloads);

  bool empty() const noexcept { return by_workload_.empty(); }
  std::size_t workloads() const noexcept { return by_workload_.size(); }
  /// Names of the metrics, in the order of their definition.
  std::vector<std::string> const& names() const noexcept { return names_; }
  /// nullptr when the samples do not tell.
  sampled_figure const* find(workload_id const& workload, std::string_view metric) const;
  /// Whether other launches ran beside it for most of its time.
  bool is_shared(workload_id const& workload) const;

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t, std::less<>> name_index_;
  std::map<workload_id, of_workload> by_workload_;
};

}  // namespace gpuprof::host
