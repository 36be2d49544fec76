// SPDX-License-Identifier: Apache-2.0
// What the GPUs of the program do, by NVML, ten times a second: clocks, power, heat, and what
// limits them.
#pragma once

#include "guest/driver/nvml.hpp"
#include "model/record_sink.hpp"
#include "model/records.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace gpuprof::guest {

/// The GPUs on which contexts have work, and when they are to be asked. Drain thread.
class chip_state_times final : public record_sink {
 public:
  using record_sink::add;
  void add(context_record const& context) override;

  /// The GPUs to ask now; none where the last time was less than a tenth of a second ago.
  std::vector<device_id> due(std::uint64_t monotonic_ns);

 private:
  std::vector<device_id> used_;
  std::uint64_t next_ = 0;
};

/// Asks them. One thread at a time.
class chip_states {
 public:
  /// 1 to 15 us a GPU; the first time tens of ms, for NVML is opened and stays so while the
  /// process has descriptors left. Nothing of GPUs that NVML does not know.
  std::vector<chip_state_record> read(std::vector<device_id> const& devices);

 private:
  void open_or_close();
  std::optional<nvml_device> find(device_id device) const;

  bool is_opened_ = false;
  std::optional<nvml> library_;
  std::map<device_id, std::optional<nvml_device>> known_;
};

}  // namespace gpuprof::guest
