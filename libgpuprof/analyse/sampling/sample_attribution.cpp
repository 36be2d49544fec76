#include "analyse/sampling/sample_attribution.hpp"

#include "analyse/sampling/launch_overlap.hpp"
#include "analyse/sampling/sampled_clocks.hpp"
#include "analyse/sampling/shared_samples.hpp"
#include "analyse/sampling/unseen_work.hpp"

#include <algorithm>

namespace gpuprof {
namespace {

/// 128 MiB of values, and what belongs to them: a minute of ten metrics every 20 us.
constexpr std::uint64_t most_values = std::uint64_t{1} << 25;

}  // namespace

sample_attribution::device& sample_attribution::device_of(device_id id) {
  auto& made = devices_[id];
  if (!made) made = std::make_unique<device>();
  return *made;
}

void sample_attribution::define(metric_record const& metric, std::string_view name) {
  if (!metric.sampled) return;
  auto const next = static_cast<std::uint32_t>(names_.size());
  auto const [at, is_new] = name_index_.try_emplace(std::string(name), next);
  if (is_new) names_.emplace_back(name);
  auto& of = device_of(metric.device);
  // Sampling that starts again may define its metrics again.
  for (std::uint32_t column = 0; column < of.names.size(); ++column)
    if (of.names[column] == at->second) {
      places_[metric.metric] = {&of, column};
      return;
    }
  places_[metric.metric] = {&of, of.samples.define(name)};
  of.names.push_back(at->second);
}

void sample_attribution::add(sampling_window_record const& window) {
  ++facts_.windows;
  facts_.overflows += window.overflows;
}

void sample_attribution::add(metric_sample_record const& sample) {
  auto const found = places_.find(sample.metric);
  if (found == places_.end()) return;
  if (values_ == most_values) {
    ++facts_.not_taken;
    return;
  }
  ++values_;
  found->second.of->samples.add(found->second.column, sample.start, sample.duration, sample.value);
}

void sample_attribution::end_samples() {
  for (auto& [id, of] : devices_) {
    of->samples.finish();
    facts_.intervals += of->samples.size();
  }
}

void sample_attribution::see(copy_record const& copy) {
  if (auto const found = devices_.find(copy.device); found != devices_.end())
    found->second->work.add_copy(copy);
}

void sample_attribution::see(memset_record const& fill) {
  if (auto const found = devices_.find(fill.device); found != devices_.end())
    found->second->work.add_fill(fill);
}

void sample_attribution::attribute() {
  for (auto& [id, of] : devices_) attribute(*of);
  devices_.clear();  // the figures are all that is asked for
  places_.clear();
}

void sample_attribution::attribute(device& of) {
  of.work.finish();
  auto const kinds = of.work.kinds();
  facts_.unseen = std::max(facts_.unseen, unseen_activity(of.samples, of.work).value_or(0));
  figure_grid figures(kinds.size());
  for (auto& row : figures) row.resize(of.samples.columns());
  attribute_by_overlap(of.samples, of.work, figures);
  average_clocks(of.samples, of.work, figures);
  auto const without = tell_apart(of.samples, of.work, figures);
  facts_.not_told_apart += without.not_told_apart;
  facts_.too_few += without.too_few;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    if (kinds[kind].is != work_kind::what::launch) continue;
    auto& known = figures_[kinds[kind].workload];
    known.is_shared = kinds[kind].is_shared();
    known.of.resize(names_.size());
    for (std::size_t column = 0; column < of.names.size(); ++column)
      known.of[of.names[column]] = figures[kind][column];
  }
}

sampled_figure const* sample_attribution::find(workload_id const& workload,
                                               std::string_view metric) const {
  auto const name = name_index_.find(metric);
  auto const known = figures_.find(workload);
  if (name == name_index_.end() || known == figures_.end()) return nullptr;
  auto const& figure = known->second.of[name->second];
  return figure ? &*figure : nullptr;
}

bool sample_attribution::is_shared(workload_id const& workload) const {
  auto const known = figures_.find(workload);
  return known != figures_.end() && known->second.is_shared;
}

}  // namespace gpuprof
