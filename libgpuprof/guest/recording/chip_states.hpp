// SPDX-License-Identifier: Apache-2.0
// Reads the state of the program's GPUs from NVML ten times a second: clocks, power, temperature
// and limiters.
#pragma once

#include "guest/driver/nvml.hpp"
#include "model/record_sink.hpp"
#include "model/records.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace gpuprof::guest {

/// Chooses the GPUs to read (those whose contexts have work) and the time. Used by the drain thread
/// only.
class chip_state_times final : public record_sink {
 public:
  using record_sink::add;
  void add(context_record const& context) override;

  /// Returns the GPUs to read now; none if the last time was less than a tenth of a second ago.
  std::vector<device_id> due(std::uint64_t monotonic_ns);

 private:
  std::vector<device_id> used_;
  std::uint64_t next_ = 0;
};

/// Reads the GPUs' state. Used by one thread at a time.
class chip_states {
 public:
  /// Takes 1 to 15 us per GPU. The first call takes tens of ms because it opens NVML, which stays
  /// open while the process has enough descriptors. Skips GPUs that NVML does not know.
  std::vector<chip_state_record> read(std::vector<device_id> const& devices);

 private:
  void open_or_close();
  std::optional<nvml_device> find(device_id device) const;

  bool is_opened_ = false;
  std::optional<nvml> library_;
  std::map<device_id, std::optional<nvml_device>> known_;
};

}  // namespace gpuprof::guest
