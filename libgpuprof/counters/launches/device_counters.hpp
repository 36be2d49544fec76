// What is read on one device: metrics in groups, their ids in the capture, and how to evaluate
// them.
#pragma once

#include "counters/launches/sampled_context.hpp"
#include "counters/planning/pass_plan.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof {

/// A reading with its counters evaluated.
struct launch_counters {
  std::vector<sampled_launch_record> launches;  // one for each pass
  std::vector<std::pair<metric_id, double>> values;
};

struct device_wishes {
  std::vector<std::string> words;  // sets and metrics by name; empty: the set roofline
  bool one_pass = false;           // around every launch, so that each tells the same
};

/// The worker's thread.
class device_counters {
 public:
  using intern = std::function<name_id(std::string const&)>;

  /// Without GPU but for the availability image; takes a quarter of a second. Ids of metrics go on
  /// from `next_metric`. What cannot be read is a line in `complaints`, and the rest goes on.
  static result<device_counters> plan(cupti_api const& api, device_id device,
                                      std::vector<std::uint8_t> availability,
                                      device_wishes const& wishes, std::uint32_t& next_metric,
                                      std::vector<std::string>& complaints);

  prepared_counters const& prepared() const noexcept { return prepared_; }
  /// Bits of the groups that count by rewriting kernels.
  launch_signature::groups patching() const noexcept;
  std::vector<metric_record> records(device_id device, intern const& names) const;

  struct evaluated {
    std::vector<launch_counters> readings;
    /// Readings of a group that rewrites kernels without a single instruction: CUPTI ran the kernel
    /// as it was, and nothing was counted.
    std::uint64_t not_rewritten = 0;
    /// Passes came in another order than was assumed: what each has counted is not known.
    bool out_of_order = false;
    std::string complaint;  // why the rest of the batch is lost; empty: nothing is
  };
  evaluated evaluate(sampled_context::batch const& batch) const;
  /// After some passes of a group, of ranges that no pass of the groups `later` has counted yet.
  early_findings look(std::span<std::uint8_t const> image, std::vector<std::string> const& names,
                      unsigned group, std::span<unsigned const> later) const;

 private:
  explicit device_counters(host_profiler evaluator) : evaluator_(std::move(evaluator)) {}
  bool fill(unsigned group, std::span<double> values) const;
  result<bool> has_counted(std::span<std::uint8_t const> image, std::size_t index,
                           unsigned group) const;
  result<bool> is_out_of_order(sampled_context::batch const& batch) const;
  result<void> evaluate(sampled_context::batch const& batch, std::size_t index, unsigned group,
                        evaluated& all) const;

  host_profiler evaluator_;
  prepared_counters prepared_;
  std::vector<std::vector<metric_id>> ids_;  // by group
};

}  // namespace gpuprof
