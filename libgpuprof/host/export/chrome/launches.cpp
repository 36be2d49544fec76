// SPDX-License-Identifier: Apache-2.0
#include "host/export/chrome/launches.hpp"

#include "host/analysis/api_summary.hpp"

#include <cmath>

namespace gpuprof::host::chrome {
namespace {

// As HolisticTraceAnalysis matches them.
constexpr std::string_view launches = "cudaLaunchKernel";

template <class Row, class Take>
void each(capture::reader& file, Take take) {
  file.for_each<Row>([&](std::span<Row const> rows) {
    for (auto const& row : rows) take(row);
  });
}

}  // namespace

launch_readings::launch_readings(export_job& job, event_writer& to, quoted_names& names,
                                 cpu_rows& rows)
    : job_(job), to_(to), names_(names), rows_(rows) {
  auto& file = job.trace.file();
  if (file.row_count<reading_value_record>() == 0) return;
  auto& metrics = metrics_.emplace();
  each<metric_record>(file,
                      [&](auto const& row) { metrics.define(row, job.names.text(row.name)); });
  each<read_launch_record>(file, [&](auto const& row) { metrics.add(row); });
  each<reading_value_record>(file, [&](auto const& row) { metrics.add(row); });
  auto const see = [&](auto const& row) { metrics.see(row); };
  each<kernel_record>(file, see);
  each<graph_record>(file, see);
  each<copy_record>(file, see);
  each<memset_record>(file, see);
  metrics.join();
}

bool launch_readings::awaits(api_record const& call) {
  if (!any() || call.domain != api_domain::runtime) return false;
  auto const [at, is_new] = is_launch_.try_emplace(call.name);
  if (is_new) at->second = job_.names.text(call.name).starts_with(launches);
  return at->second;
}

std::string const& launch_readings::values_of(workload_id const& workload) {
  auto const [at, is_new] = values_.try_emplace(workload);
  if (!is_new) return at->second;
  for (auto const& name : metrics_->names()) {
    auto const* const mean = metrics_->find(workload, name);
    if (mean == nullptr || mean->count() == 0 || !std::isfinite(mean->mean())) continue;
    at->second += fmt::format("{}{}:{}", at->second.empty() ? "" : ",", quoted(name), mean->mean());
  }
  return at->second;
}

/// The range that it was launched in, where readers look for PyTorch's operators.
std::string launch_readings::operation_of(kernel_record const& kernel) {
  auto const range = job_.trace.launched(range_scope::process).innermost(kernel);
  if (range == no_range) return quoted(job_.names.kernel_of(kernel.shape).base);
  auto const name = job_.trace.ranges()[range].name;
  auto const& known = names_.of_operator(name);
  return known.empty() ? names_.of(name) : known;
}

void launch_readings::write(launch_calls::call const& call, kernel_record const& kernel) {
  write(call, operation_of(kernel), quoted(job_.names.kernel_of(kernel.shape).demangled),
        values_of({kernel.device, kernel.shape, {}}));
}

void launch_readings::write(launch_calls::call const& call) {
  auto const name = quoted("a launch whose kernel is not recorded");
  write(call, name, name, {});
}

void launch_readings::write(launch_calls::call const& call, std::string_view operation,
                            std::string_view name, std::string_view values) {
  track const thread{rows_.process(), call.row};
  append(to_.begin_slice({"cpu_op", operation, thread, {call.start}, call.length}),
         R"("made by gpuprof":"for the counters of this launch")");
  to_.end_slice();
  auto const beside =
      rows_.beside(call.row, further_use::readings, {call.start}, {call.start + call.length});
  append(to_.begin_slice({"cuda_profiler_range", name, beside, {call.start}, call.length}), values);
  to_.end_slice();
}

}  // namespace gpuprof::host::chrome
