// SPDX-License-Identifier: Apache-2.0
#include "support/analyzed.hpp"

namespace gpuprof::test {

analyzed::analyzed(counted_trace const& c, std::map<range_id, range_declaration> const& declared)
    : from(c),
      tree(c.t.begins, c.t.ends, c.t.last),
      open(tree),
      launched(tree, range_scope::process, static_cast<thread_index>(1)),
      labels(c.t.shapes, c.t.text(), kernel_name_style::demangled) {
  auto const text = c.t.text();
  for (auto const& row : c.codes) codes.add(row);
  for (auto const& metric : c.metrics) metrics.define(metric, text(metric.name));
  for (auto const& sample : c.samples) metrics.add(sample);
  for (auto const& value : c.values) metrics.add(value);
  for (auto const& shape : c.t.shapes) metrics.see(shape);
  for (auto const& kernel : c.t.kernels) metrics.see(kernel);
  for (auto const& graph : c.t.graphs) metrics.see(graph);
  for (auto const& copy : c.t.copies) metrics.see(copy);
  for (auto const& fill : c.t.fills) metrics.see(fill);
  metrics.join();
  attribute_samples();
  range_workloads inside(tree, open, launched, declared);
  for (auto const& kernel : c.t.kernels) inside.add(kernel, times.add(kernel));
  for (auto const& graph : c.t.graphs) inside.add(graph, times.add(graph));
  ranges = inside.rows();
  figures.emplace(metrics, sampled.figures(), counted_outside(times, c.t.shapes));
  measured_roofs roofs(c.device);
  for (auto const& peak : c.peaks) roofs.add(peak, text(peak.test));
  devices[c.device.device] = {std::string(text(c.device.chip)), roofs, sm_limits_of(c.device)};
}

analyzed::~analyzed() = default;

roofline analyzed::roofs() const {
  return {*figures, times, devices, from.t.shapes, codes};
}
std::vector<roofline_row> analyzed::by_kernel() const {
  return roofs().by_kernel(labels);
}
std::vector<roofline_row> analyzed::by_signature() const {
  return roofs().by_signature(labels, from.t.shapes);
}
std::vector<roofline_row> analyzed::by_range() const {
  return roofs().by_range(
      ranges, [this](range_key key) { return std::string(from.t.names.text(key.name)); });
}
void analyzed::attribute_samples() {
  auto const text = from.t.text();
  for (auto const& metric : from.metrics) sampled.define(metric, text(metric.name));
  for (auto const& window : from.windows) sampled.add(window);
  for (auto const& row : from.rows) sampled.add(row);
  sampled.end_samples();
  sampled.use_pools(pools_of(from.t.shapes));
  for (auto const& kernel : from.t.kernels) sampled.see(kernel, times.id_of(kernel));
  for (auto const& graph : from.t.graphs) sampled.see(graph, times.id_of(graph));
  for (auto const& copy : from.t.copies) sampled.see(copy);
  for (auto const& fill : from.t.fills) sampled.see(fill);
  sampled.attribute(without_tensor_code(from.t.shapes, codes));
}
workload_id analyzed::workload_of(std::size_t kernel) const {
  return {from.t.kernels[kernel].device, from.t.kernels[kernel].shape, {}};
}

roofline_row const* row_named(std::vector<roofline_row> const& rows, std::string_view name) {
  for (auto const& row : rows)
    if (row.name == name) return &row;
  return nullptr;
}

std::optional<workload_figure> figure_of(analyzed const& a, std::string_view kernel,
                                         std::string_view metric) {
  for (std::size_t i = 0; i < a.from.t.kernels.size(); ++i) {
    auto const& shape = a.from.t.shapes[raw(a.from.t.kernels[i].shape) - 1];
    if (a.from.t.names.text(shape.name) == kernel) return a.figures->find(a.workload_of(i), metric);
  }
  return std::nullopt;
}

}  // namespace gpuprof::test
