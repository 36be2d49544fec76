// SPDX-License-Identifier: Apache-2.0
// What counters of the whole GPU counted while a kernel ran alone, by how far the launch had come.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::page {

/// The course of a metric over a launch, from its beginning to its end.
struct sample_course {
  static constexpr std::size_t positions = 20;
  std::string metric;
  std::array<double, positions> sum{};
  std::array<std::uint64_t, positions> samples{};
};

/// Feed work and samples in order of their starts. A sample counts for a launch that it lies in
/// while no other work of the GPU ran; it waits until all that may have run in it was seen.
class kernel_samples {
 public:
  static constexpr std::uint32_t not_watched = ~std::uint32_t{0};

  void work(std::uint32_t device, std::uint64_t start_ns, std::uint64_t end_ns,
            std::uint32_t kernel);
  /// Amounts (".sum") become rates per second.
  void sample(std::uint32_t device, std::uint64_t start_ns, std::uint64_t duration_ns,
              std::string_view metric, double value);
  /// Nothing follows.
  void finish();

  /// Metrics in the order in which they were first sampled.
  std::vector<sample_course> of(std::uint32_t kernel) const;

 private:
  struct piece {
    std::uint64_t start = 0, end = 0;
    std::uint32_t kernel = 0;
  };
  struct waiting_sample {
    std::uint64_t start = 0, end = 0;
    std::uint32_t metric = 0;
    double value = 0;
  };
  struct device_state {
    std::vector<piece> work;
    std::vector<waiting_sample> waiting;
  };

  void settle(device_state& device, std::uint64_t now);
  void place(device_state const& device, waiting_sample const& sample);
  std::uint32_t number_of(std::string_view metric);

  std::map<std::uint32_t, device_state> devices_;
  std::vector<std::string> metrics_;
  std::map<std::uint32_t, std::map<std::uint32_t, sample_course>> courses_;  // kernel, metric
};

}  // namespace gpuprof::host::page
