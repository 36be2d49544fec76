// SPDX-License-Identifier: Apache-2.0
// Launches for which kernel records were off get a record all the same: that of one of their kind,
// as long as that one ran. What the launching thread saw, launch and wait included, would be too
// long.
#pragma once

#include "guest/nvtx/log_decoder.hpp"
#include "model/records.hpp"

#include <optional>
#include <unordered_map>
#include <vector>

namespace gpuprof::guest {

/// One thread. A pattern is a launch whose record is kept for good; there is one of each kind of
/// launch that is ever read so.
class unrecorded_launches {
 public:
  /// The record of this launch is going to come.
  void keep(correlation_id pattern) {
    auto const [known, is_new] = patterns_.try_emplace(pattern);
    if (!is_new && !known->second) return;
    known->second.reset();  // the number has come again
    ++awaited_;
  }
  bool awaits_patterns() const noexcept { return awaited_ != 0; }
  void see(kernel_record const& kernel);
  void add(launch_note const& launch);
  /// Records of those whose pattern has come, up to when the launching thread saw them end. Stream
  /// and launch are not filled in anew.
  std::vector<kernel_record> take();
  bool empty() const noexcept { return waiting_.empty(); }

 private:
  std::unordered_map<correlation_id, std::optional<kernel_record>> patterns_;
  std::size_t awaited_ = 0;
  std::vector<launch_note> waiting_;
  timestamp_ns newest_;
};

}  // namespace gpuprof::guest
