// SPDX-License-Identifier: Apache-2.0
#include "analyze/fact_texts.hpp"
#include "collective_kernels.hpp"
#include "host/analysis/kernel_kind.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace gpuprof::host::command {
namespace {

/// Key that distinguishes lines of the roofline.
using geometry = std::tuple<std::string, extent3, extent3>;

class figure_lines {
 public:
  figure_lines(trace_contents& trace, roofline_reading const& counters) {
    if (!counters.has_counters()) return;
    roofline const roofs(counters.metrics(), counters.times(), counters.devices(), trace.shapes(),
                         counters.codes());
    for (auto& row : roofs.by_signature(trace.labels(kernel_name_style::demangled), trace.shapes()))
      rows_[{row.name, row.grid, row.block}].push_back(std::move(row));
  }
  roofline_row const* of(std::string const& name, kernel_shape const& shape) const {
    auto const found = rows_.find({name, shape.grid, shape.block});
    if (found == rows_.end()) return nullptr;
    for (auto const& row : found->second)
      if (!row.arguments || *row.arguments == shape.arguments) return &row;
    return nullptr;
  }

 private:
  std::map<geometry, std::vector<roofline_row>> rows_;
};

void take_metrics(advice::kernel_facts& kernel, roofline_reading const& counters) {
  workload_id const id{kernel.device, kernel.shape.id, {}};
  for (auto const& name : counters.metrics().names())
    if (auto const figure = counters.metrics().find(id, name); figure && !figure->is_shared)
      kernel.metrics[name] = figure->mean;
}

/// Ranges may enclose launches of one size only. Declarations for fewer than half of the launches
/// are not used for the kernel.
std::optional<double> of_a_launch(declared_launches::declaration const& of,
                                  std::uint64_t launches) {
  if (2 * of.launches < launches) return std::nullopt;
  return of.flops / static_cast<double>(of.launches);
}

}  // namespace

std::vector<advice::kernel_facts> read_kernels(trace_contents& trace, timeline_pass const& pass,
                                               roofline_reading const& counters,
                                               declared_launches const& declared) {
  std::map<std::uint32_t, kernel_shape const*> shapes;
  for (auto const& shape : trace.shapes()) shapes[raw(shape.id)] = &shape;
  auto const& labels = trace.labels(kernel_name_style::demangled);
  auto const collectives = find_collectives(trace);
  figure_lines const lines(trace, counters);
  auto const declarations = declared.by_kernel();
  std::vector<advice::kernel_facts> kernels;
  for (auto const& [key, times] : pass.kernels()) {
    auto const shape = shapes.find(static_cast<std::uint32_t>(key));
    auto& one = kernels.emplace_back();
    one.device = static_cast<device_id>(key >> 32);
    if (shape != shapes.end()) one.shape = *shape->second;
    one.name = labels.text(labels.label_of(one.shape.id));
    one.work = work_of(one.name, trace.codes().find(one.shape.name));
    one.range = text_of_range(trace, times.ranges.longest());
    one.is_communication = raw(one.shape.id) < collectives.size() && collectives[raw(one.shape.id)];
    one.launches = times.launches;
    one.total_ns = times.total_ns;
    one.alone_ns = times.alone_ns;
    one.followed_ns = std::min(times.followed_ns, times.total_ns);
    if (auto const of = declarations.find(key); of != declarations.end())
      one.declared_flop = of_a_launch(of->second, times.launches);
    if (auto const* const row = lines.of(one.name, one.shape)) one.figures = *row;
    if (counters.has_counters()) take_metrics(one, counters);
  }
  std::sort(kernels.begin(), kernels.end(),
            [](auto const& a, auto const& b) { return a.total_ns > b.total_ns; });
  return kernels;
}

}  // namespace gpuprof::host::command
