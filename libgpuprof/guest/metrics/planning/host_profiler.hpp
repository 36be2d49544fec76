// SPDX-License-Identifier: Apache-2.0
// Asks CUPTI which counters a chip has and how many passes they take; needs no GPU.
#pragma once

#include "base/result.hpp"
#include "guest/cupti/guard.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::guest {

/// Who reads the counters: the range profiler around a launch, or the PM sampler every few
/// microseconds. They know different metrics.
enum class counter_engine { ranges, sampling };

enum class metric_type { counter, ratio, throughput };

struct metric_properties {
  std::string description;
  std::string hardware_unit;  // "sm", "dram"
  std::string unit;           // "byte", "gpc_cycle"; empty for plain ratios
  metric_type type = metric_type::counter;
};

/// What the engine is set up with to read some metrics together.
struct counter_configuration {
  std::vector<std::uint8_t> image;
  std::size_t passes = 0;  // 0: the engine cannot read one of them, or not together
};

/// Chips whose counters this libcupti knows: "TU102", "GH100", ... in its order.
result<std::vector<std::string>> known_chips(cupti_api const& api);

/// The counters of one chip for one engine. CUPTI says nothing about threads here: use it on one
/// at a time.
class host_profiler {
 public:
  /// `chip` as CUPTI writes it ("GH100"). `availability`: the counter availability image of the GPU
  /// at hand, which leaves out what it cannot count as it is set up (MIG, virtual GPU); empty:
  /// everything that chips of this kind have. `api` must outlive the object.
  static result<host_profiler> open(cupti_api const& api, counter_engine engine, std::string chip,
                                    std::vector<std::uint8_t> availability = {});
  host_profiler(host_profiler&& other) noexcept;
  host_profiler& operator=(host_profiler&&) = delete;
  ~host_profiler();

  std::string const& chip() const noexcept { return chip_; }
  counter_engine engine() const noexcept { return engine_; }

  /// Names without suffix: "sm__cycles_active".
  result<std::vector<std::string>> base_metrics(metric_type type) const;
  /// ".sum", ".avg.per_second", ...: what makes a base metric one that can be read.
  result<std::vector<std::string>> suffixes(std::string const& base_metric, metric_type type) const;
  /// Of a name with or without suffix.
  result<metric_properties> properties(std::string const& metric) const;
  /// Fails only when CUPTI does; what it refuses has no passes, and does not affect what is asked
  /// next. Takes 1 to 5 ms.
  result<counter_configuration> configure(std::span<std::string const> metrics) const;
  /// The values of these metrics in range or sample `index` of a counter data image, in their
  /// order.
  result<std::vector<double>> evaluate(std::span<std::uint8_t const> image, std::size_t index,
                                       std::span<std::string const> metrics) const;

 private:
  host_profiler(cupti_api const& api, counter_engine engine, std::string chip,
                std::vector<std::uint8_t> availability);
  result<CUpti_Profiler_Host_Object*> make_object() const;
  void destroy(CUpti_Profiler_Host_Object* object) const noexcept;
  result<counter_configuration> configure(CUpti_Profiler_Host_Object* object,
                                          std::span<std::string const> metrics) const;

  cupti_guard guard_;
  counter_engine engine_;
  std::string chip_;
  std::vector<std::uint8_t> availability_;
  CUpti_Profiler_Host_Object* object_ = nullptr;  // for questions; configure() makes its own
};

}  // namespace gpuprof::guest
