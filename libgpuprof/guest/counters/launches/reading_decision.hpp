// SPDX-License-Identifier: Apache-2.0
// Decides on the worker's thread which counters are read around which launches of each GPU, and
// evaluates the readings.
#pragma once

#include "guest/counters/launches/device_counters.hpp"
#include "guest/counters/launches/reading_state.hpp"
#include "guest/counters/launches/reading_targets.hpp"
#include "guest/counters/launches/shared_readings.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::guest {

class reading_decision {
 public:
  /// `next_metric`, the id of the next metric, lives as long as it.
  reading_decision(reading_state& state, std::uint32_t& next_metric);

  /// Sets up the context for its counters. False after a line: counters are off then.
  bool prepare(context_readings& context, std::vector<metric_record>& metrics,
               device_counters::intern const& names);

  /// Chooses what is to be read next, every 20 ms.
  void look_for_targets() noexcept;
  /// The next look chooses anew.
  void look_at_once() noexcept { looked_ns_ = 0; }
  reading_targets::outlook const& outlook() const noexcept { return outlook_; }
  /// A small unknown share, when all important launches are read, is not worth slowing the program
  /// down.
  bool is_worth_it() const noexcept;
  /// Since when something is wanted without a break; 0: nothing is.
  std::uint64_t wanted_since_ns() const noexcept { return wanted_since_ns_; }

  void add(device_id device, reading_batch batch) {
    batches_.emplace_back(device, std::move(batch));
  }
  void evaluate_all(std::vector<counter_reading>& launches);

  /// Removes unused signatures to make room for new ones; warns once if there is no room.
  void make_room(bool may_replace);
  /// Stops sharing with other ranks until more has been read.
  void end_sharing() noexcept {
    if (shared_) shared_->end();
  }

  /// No more is read in this process.
  void give_up(std::string why);
  void warn(std::string line) { warnings_.push_back(std::move(line)); }
  /// Lines for the log since the last call.
  std::vector<std::string> take_warnings() { return std::exchange(warnings_, {}); }

 private:
  device_counters const* counters_of(context_readings& context, std::vector<metric_record>& metrics,
                                     device_counters::intern const& names);
  void leave_out(launch_signature::groups rewriting);
  void share_readings(std::uint64_t now_ns);
  std::vector<shared_reading> not_told_yet() const;
  void note_what_others_read(std::uint64_t now_ns);
  launch_signature::groups groups_now(std::uint64_t now_ns) const noexcept;
  launch_signature::groups useless_to(launch_signature const& signature) const noexcept;

  reading_state& state_;
  std::uint32_t& next_metric_;
  std::map<device_id, device_counters> devices_;
  std::optional<shared_readings> shared_;
  reading_targets targets_;
  reading_targets::outlook outlook_;
  std::uint64_t looked_ns_ = 0, heard_ns_ = 0, wanted_since_ns_ = 0;
  bool some_were_rewritten_ = false;
  bool signatures_are_said_ = false, contexts_are_said_ = false;  // warned of too many
  launch_signature::groups left_out_ = 0;                         // groups that rewrite kernels
  std::vector<std::pair<device_id, reading_batch>> batches_;
  std::vector<std::string> warnings_;
};

}  // namespace gpuprof::guest
