// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/workload_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gpuprof::host {

std::string_view name_of(figure_source source) noexcept {
  switch (source) {
    case figure_source::exact:
      return "exact";
    case figure_source::sampled:
      return "sampled";
    case figure_source::fitted:
      return "fitted";
    case figure_source::mixed:
      return "mixed";
    case figure_source::none:
      break;
  }
  return "";
}

figure_source both(figure_source a, figure_source b) noexcept {
  if (a == figure_source::none || a == b) return b;
  return b == figure_source::none ? a : figure_source::mixed;
}

workload_metrics::workload_metrics(launch_metrics const& exact, sampled_figures const& sampled,
                                   std::map<workload_id, workload_id> counted_outside,
                                   std::map<workload_id, double> unlike)
    : exact_(exact),
      sampled_(sampled),
      counted_outside_(std::move(counted_outside)),
      unlike_(std::move(unlike)),
      names_(exact.names()) {
  for (auto const& name : sampled.names())
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
}

workload_id const& workload_metrics::counted_as(workload_id const& workload) const {
  if (counted_outside_.empty() || exact_.has_workload(workload)) return workload;
  auto const other = counted_outside_.find(workload);
  return other == counted_outside_.end() ? workload : other->second;
}

std::optional<workload_figure> workload_metrics::find(workload_id const& workload,
                                                      std::string_view metric) const {
  if (auto const* const read = exact_.find(counted_as(workload), metric))
    return workload_figure{
        read->mean(),         read->deviation() / std::sqrt(static_cast<double>(read->count())),
        read->deviation(),    read->count(),
        figure_source::exact, false};
  auto found = find_sampled(workload, metric);
  if (auto const unlike = unlike_.find(workload); found && unlike != unlike_.end())
    found->error = std::hypot(found->error, found->mean * unlike->second);
  return found;
}

std::optional<workload_figure> workload_metrics::find_in_run(workload_id const& workload,
                                                             std::string_view metric) const {
  auto const sampled = find_sampled(workload, metric);
  return sampled ? sampled : find(workload, metric);
}

std::optional<workload_figure> workload_metrics::find_sampled(workload_id const& workload,
                                                              std::string_view metric) const {
  if (auto const* const seen = sampled_.find(workload, metric))
    return workload_figure{seen->mean,
                           seen->error,
                           std::nullopt,
                           seen->launches,
                           seen->is_fitted ? figure_source::fitted : figure_source::sampled,
                           sampled_.is_shared(workload)};
  return std::nullopt;
}

}  // namespace gpuprof::host
