// SPDX-License-Identifier: Apache-2.0
// All metrics of a chip by name, and suggestions for names that are not among them.
#pragma once

#include "guest/metrics/planning/host_profiler.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::guest {

struct base_metric {
  std::string name;  // without suffix
  metric_type type = metric_type::counter;
  bool by_ranges = false, by_sampling = false;  // the engines that know it
};

struct unusable_metric {
  std::string name;
  std::string reason;   // "GH100 has no metric of this name"
  std::string nearest;  // a metric that exists; empty if none is similar
};

class metric_catalog {
 public:
  /// `sampling` is null on a chip that cannot be sampled. Both must be for the same chip. Takes 10
  /// ms.
  static result<metric_catalog> read(host_profiler const& ranges, host_profiler const* sampling);

  std::string const& chip() const noexcept { return chip_; }
  /// Sorted by name.
  std::span<base_metric const> metrics() const noexcept { return metrics_; }
  std::vector<std::string> const& suffixes(metric_type type) const noexcept;

  /// Returns the base metric of `name`, which may have a suffix, or null.
  base_metric const* base_of(std::string_view name) const noexcept;
  /// Explains why no engine accepts a metric.
  unusable_metric explain(std::string const& name) const;

 private:
  base_metric const* find(std::string_view base) const noexcept;
  std::string nearest(std::string_view name) const;

  std::string chip_;
  std::vector<base_metric> metrics_;
  std::array<std::vector<std::string>, 3> suffixes_;
};

/// Returns the usual suffix for base metrics of this type, such as ".sum".
std::string_view usual_suffix(metric_type type) noexcept;

}  // namespace gpuprof::guest
