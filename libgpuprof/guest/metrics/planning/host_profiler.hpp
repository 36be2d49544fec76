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

/// The engine that reads the counters: the range profiler around a launch, or the PM sampler every
/// few microseconds. They know different metrics.
enum class counter_engine { ranges, sampling };

enum class metric_type { counter, ratio, throughput };

struct metric_properties {
  std::string description;
  std::string hardware_unit;  // "sm", "dram"
  std::string unit;           // "byte", "gpc_cycle"; empty for plain ratios
  metric_type type = metric_type::counter;
};

/// The configuration of an engine that reads some metrics together.
struct counter_configuration {
  std::vector<std::uint8_t> image;
  std::size_t passes = 0;  // 0: the engine cannot read one of them, or not all together
};

/// Returns the chips whose counters this libcupti knows, in its order: "TU102", "GH100", ...
result<std::vector<std::string>> known_chips(cupti_api const& api);

/// The counters of one chip for one engine. CUPTI does not document thread safety here: use it on
/// one thread at a time.
class host_profiler {
 public:
  /// `chip` is CUPTI's name ("GH100"). `availability`: counter availability image of the GPU; it
  /// excludes counters that the GPU cannot count in its configuration (MIG, virtual GPU). If empty,
  /// all counters of such chips are allowed. `api` must outlive the object.
  static result<host_profiler> open(cupti_api const& api, counter_engine engine, std::string chip,
                                    std::vector<std::uint8_t> availability = {});
  host_profiler(host_profiler&& other) noexcept;
  host_profiler& operator=(host_profiler&&) = delete;
  ~host_profiler();

  std::string const& chip() const noexcept { return chip_; }
  counter_engine engine() const noexcept { return engine_; }

  /// Returns names without suffix: "sm__cycles_active".
  result<std::vector<std::string>> base_metrics(metric_type type) const;
  /// Returns ".sum", ".avg.per_second", ...: with one of these, a base metric can be read.
  result<std::vector<std::string>> suffixes(std::string const& base_metric, metric_type type) const;
  /// Accepts a name with or without suffix.
  result<metric_properties> properties(std::string const& metric) const;
  /// Fails only if CUPTI fails. Metrics that CUPTI rejects have 0 passes and do not affect later
  /// calls. Takes 1 to 5 ms.
  result<counter_configuration> configure(std::span<std::string const> metrics) const;
  /// Returns the values of these metrics, in their order, in range or sample `index` of a counter
  /// data image.
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
  CUpti_Profiler_Host_Object* object_ = nullptr;  // used for queries; configure() makes its own
};

}  // namespace gpuprof::guest
