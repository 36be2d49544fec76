// SPDX-License-Identifier: Apache-2.0
// Makes records for launches during which kernel records were off. Each is a copy of the record of
// a launch with the same signature, with its duration. The time that the launching thread measured
// would be too long: it includes launch and wait.
#pragma once

#include "guest/nvtx/log_decoder.hpp"
#include "model/records.hpp"

#include <optional>
#include <unordered_map>
#include <vector>

namespace gpuprof::guest {

/// For one thread. A pattern is a launch whose record is kept permanently. There is one for each
/// signature whose launches are read without kernel records.
class unrecorded_launches {
 public:
  /// The record of this launch will come.
  void keep(correlation_id pattern) {
    auto const [known, is_new] = patterns_.try_emplace(pattern);
    if (!is_new && !known->second) return;
    known->second.reset();  // the correlation id is used again
    ++awaited_;
  }
  bool awaits_patterns() const noexcept { return awaited_ != 0; }
  void see(kernel_record const& kernel);
  void add(launch_note const& launch);
  /// Returns records of launches whose pattern has come. They end when the launching thread saw
  /// them end. Stream and launch are copied from the pattern.
  std::vector<kernel_record> take();
  bool empty() const noexcept { return waiting_.empty(); }

 private:
  std::unordered_map<correlation_id, std::optional<kernel_record>> patterns_;
  std::size_t awaited_ = 0;
  std::vector<launch_note> waiting_;
  timestamp_ns newest_;
};

}  // namespace gpuprof::guest
