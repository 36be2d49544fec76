// SPDX-License-Identifier: Apache-2.0
// Everything that analyzing a small trace needs, kept together.
#pragma once

#include "host/analysis/roofline.hpp"
#include "host/analysis/sampling/sample_attribution.hpp"
#include "host/analysis/slowed_launches.hpp"
#include "support/counted_trace.hpp"

#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace gpuprof::test {
using namespace host;

struct analyzed {
  counted_trace const& from;
  launch_metrics metrics;
  sample_attribution sampled;
  std::optional<workload_metrics> figures;
  workload_times times{metrics};
  range_tree tree;
  open_ranges open;
  launch_ranges launched;
  std::map<device_id, roofline_device> devices;
  kernel_labels labels;
  std::vector<range_work> ranges;
  kernel_codes codes;

  explicit analyzed(counted_trace const& c,
                    std::map<range_id, range_declaration> const& declared = {});
  analyzed(analyzed const&) = delete;
  ~analyzed();

  roofline roofs() const;
  std::vector<roofline_row> by_kernel() const;
  std::vector<roofline_row> by_signature() const;
  std::vector<roofline_row> by_range() const;
  workload_id workload_of(std::size_t kernel) const;

 private:
  void attribute_samples();
};

roofline_row const* row_named(std::vector<roofline_row> const& rows, std::string_view name);

/// The figure of the first kernel of this name.
std::optional<workload_figure> figure_of(analyzed const& a, std::string_view kernel,
                                         std::string_view metric);

}  // namespace gpuprof::test
