// SPDX-License-Identifier: Apache-2.0
// What is known best of a counter for a workload: read around its launches, or else from samples.
#pragma once

#include "host/analysis/launch_metrics.hpp"
#include "host/analysis/sampling/sampled_figures.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host {

/// Where figures are from, the best first.
enum class figure_source : std::uint8_t {
  none,
  exact,    // counted around launches
  sampled,  // samples in time, while nothing else ran
  fitted,   // samples in time, told apart by least squares
  mixed,    // of several workloads, from several of these
};
std::string_view name_of(figure_source source) noexcept;  // "sampled"; "" for none
/// Of figures that are put together.
figure_source both(figure_source a, figure_source b) noexcept;

struct workload_figure {
  double mean = 0;                  // of a launch
  double error = 0;                 // a standard error of the mean; 0: a single reading
  std::optional<double> deviation;  // of readings
  std::uint64_t count = 0;          // readings, or launches in the samples
  figure_source source{};
  bool is_shared = false;  // other launches ran beside these for most of their time
};

/// The first two outlive it and are complete.
class workload_metrics {
 public:
  /// `counted_outside`: workloads for which readings of others hold as well.
  workload_metrics(launch_metrics const& exact, sampled_figures const& sampled,
                   std::map<workload_id, workload_id> counted_outside = {});

  /// Of both, those around launches first, in the order of their definition.
  std::vector<std::string> const& names() const noexcept { return names_; }
  std::optional<workload_figure> find(workload_id const& workload, std::string_view metric) const;
  /// Samples first: around a launch that is read the GPU has just rested, so that its clock is
  /// higher than in the run.
  std::optional<workload_figure> find_in_run(workload_id const& workload,
                                             std::string_view metric) const;

  launch_metrics const& exact() const noexcept { return exact_; }
  /// Whose readings around launches hold for a workload: its own, where it has any.
  /// The answer may be what was asked for, so that must not go away.
  workload_id const& counted_as(workload_id const& workload) const;
  workload_id const& counted_as(workload_id const&& workload) const = delete;
  sampled_figures const& sampled() const noexcept { return sampled_; }

 private:
  std::optional<workload_figure> find_sampled(workload_id const& workload,
                                              std::string_view metric) const;

  launch_metrics const& exact_;
  sampled_figures const& sampled_;
  std::map<workload_id, workload_id> counted_outside_;
  std::vector<std::string> names_;
};

}  // namespace gpuprof::host
