// SPDX-License-Identifier: Apache-2.0
// One window of samples with all the GPU work of its time: what it says is worked out when somebody
// asks.
#pragma once

#include "host/analysis/sampling/sampled_figures.hpp"
#include "model/records.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::guest {

using namespace host;  // the arithmetic of reports

/// Of a kernel, a copy or a fill what its samples are divided by.
struct sampled_work {
  enum class kind : std::uint8_t { kernel, graph, copy, fill };
  timestamp_ns start;
  duration_ns duration;
  std::uint32_t workload = 0;  // shape or graph
  correlation_id correlation{};
  float bytes = 0;
  std::uint16_t device = 0;
  kind is{};
  copy_kind direction{};
  timestamp_ns end() const noexcept { return start + duration; }
};

/// A value: any thread.
struct sampled_window {
  struct defined_metric {
    metric_record record;
    std::string name;
  };
  struct stretch {
    timestamp_ns start, end;
  };

  sampling_window_record window;
  std::vector<sample_record> samples;
  std::vector<sampled_work> work;       // of its GPU
  std::vector<defined_metric> metrics;  // of its GPU
  std::vector<stretch> captures;        // when launches were recorded
  std::size_t max_unknowns = 0;

  /// Takes 10 to 30 ms with 50 workloads; what bounds the fit allows for much more.
  sampled_figures divide() const;

  std::size_t bytes() const noexcept {
    return samples.size() * sizeof(sample_record) + work.size() * sizeof(sampled_work);
  }
};

}  // namespace gpuprof::guest
