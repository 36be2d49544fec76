// SPDX-License-Identifier: Apache-2.0
// Returns the best known value of a counter for a workload: from readings around its launches, else
// from samples.
#pragma once

#include "host/analysis/launch_metrics.hpp"
#include "host/analysis/sampling/sampled_figures.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host {

/// The source of a value, best first.
enum class figure_source : std::uint8_t {
  none,
  exact,    // read around launches
  sampled,  // samples over time, while no other work ran
  fitted,   // samples over time, separated by least squares
  mixed,    // several workloads with different sources
};
std::string_view name_of(figure_source source) noexcept;  // "sampled"; "" for none
/// Returns the source of a combination of two values.
figure_source both(figure_source a, figure_source b) noexcept;

struct workload_figure {
  double mean = 0;                  // per launch
  double error = 0;                 // one standard error of the mean; 0: a single reading
  std::optional<double> deviation;  // of readings
  std::uint64_t count = 0;          // readings, or launches in the samples
  figure_source source{};
  bool is_shared = false;  // other launches ran at the same time for most of their time
};

/// The first two arguments must outlive this object and must be complete.
class workload_metrics {
 public:
  /// `counted_outside` maps workloads to others whose readings hold for them as well. `unlike`: of
  /// workloads that may be several problems, by how much, as a share, the launches that are asked
  /// for may differ from all launches, which the samples counted.
  workload_metrics(launch_metrics const& exact, sampled_figures const& sampled,
                   std::map<workload_id, workload_id> counted_outside = {},
                   std::map<workload_id, double> unlike = {});

  /// Names of both sources in order of definition, those read around launches first.
  std::vector<std::string> const& names() const noexcept { return names_; }
  std::optional<workload_figure> find(workload_id const& workload, std::string_view metric) const;
  /// Prefers samples: before a launch that is read the GPU was idle, so its clock is higher than in
  /// the run.
  std::optional<workload_figure> find_in_run(workload_id const& workload,
                                             std::string_view metric) const;

  launch_metrics const& exact() const noexcept { return exact_; }
  /// Returns the workload whose readings apply: the workload itself if it has any. The result may
  /// refer to the argument, so that must stay alive.
  workload_id const& counted_as(workload_id const& workload) const;
  workload_id const& counted_as(workload_id const&& workload) const = delete;
  sampled_figures const& sampled() const noexcept { return sampled_; }

 private:
  std::optional<workload_figure> find_sampled(workload_id const& workload,
                                              std::string_view metric) const;

  launch_metrics const& exact_;
  sampled_figures const& sampled_;
  std::map<workload_id, workload_id> counted_outside_;
  std::map<workload_id, double> unlike_;
  std::vector<std::string> names_;
};

}  // namespace gpuprof::host
