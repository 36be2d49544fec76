// SPDX-License-Identifier: Apache-2.0
// Defines what is read on one device: metrics in groups, their ids in the capture, and how to
// evaluate them.
#pragma once

#include "guest/counters/launches/context_readings.hpp"
#include "guest/counters/launches/prepared_counters.hpp"
#include "model/record_sink.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::guest {

struct device_options {
  std::vector<std::string> words;  // sets and metrics by name; empty: the set roofline
  bool one_pass = false;           // around every launch, so that all give the same metrics
};

/// Used by the worker's thread only.
class device_counters {
 public:
  using intern = std::function<name_id(std::string const&)>;

  /// Needs a GPU only for `availability`. Metric ids start at `next_metric`. Metrics that cannot be
  /// read add a line to `warnings` and are left out.
  static result<device_counters> plan(cupti_api const& api, device_id device,
                                      std::vector<std::uint8_t> availability,
                                      device_options const& options, std::uint32_t& next_metric,
                                      std::vector<std::string>& warnings);

  prepared_counters const& prepared() const noexcept { return prepared_; }
  /// Returns the bits of the groups that are counted by rewriting kernels.
  launch_signature::groups rewriting() const noexcept;
  /// Equal if chip and groups are equal, also in another process.
  std::uint64_t setup() const noexcept { return setup_; }
  /// Returns the groups whose metrics are 0 for a kernel with this code, or follow from other
  /// metrics.
  launch_signature::groups useless_to(kernel_code const& code) const noexcept;
  std::vector<metric_record> records(device_id device, intern const& names) const;

  struct evaluated {
    std::vector<counter_reading> readings;
    /// Readings of a group that rewrites kernels in which no instruction was counted: CUPTI ran the
    /// kernel unchanged.
    std::uint64_t not_rewritten = 0;
    std::string warning;  // why the rest of the batch is lost; empty: nothing is
  };
  evaluated evaluate(reading_batch const& batch) const;

 private:
  explicit device_counters(host_profiler evaluator) : evaluator_(std::move(evaluator)) {}
  result<void> evaluate(reading_batch const& batch, std::size_t index, unsigned group,
                        evaluated& all) const;

  bool tensor_pipe_idled(std::span<std::string const> metrics,
                         std::span<double const> values) const;
  void add_idle_tensor(counter_reading& to) const;

  host_profiler evaluator_;
  prepared_counters prepared_;
  std::vector<std::vector<metric_id>> ids_;  // by group
  std::uint64_t setup_ = 0;
  std::optional<unsigned> tensor_group_;  // the group that counts operations of the tensor path
};

}  // namespace gpuprof::guest
