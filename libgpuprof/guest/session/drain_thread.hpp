// SPDX-License-Identifier: Apache-2.0
// The thread of the drain: its rounds, the deadlines of the plan, and the work after a capture has
// ended.
#pragma once

#include "guest/options/settings.hpp"
#include "guest/recording/drain.hpp"
#include "guest/session/capture_switch.hpp"

#include <atomic>
#include <cstdint>

namespace gpuprof::guest {

/// One per process, never destroyed. Everything that it is made from must live as long.
class drain_thread {
 public:
  drain_thread(settings const& options, drain& recording, capture_switch& captures)
      : settings_(options), drain_(recording), switch_(captures) {}

  /// Starts the thread once.
  void start();
  bool is_started() const noexcept { return started_.load(); }
  /// Returns the system's error if the thread could not be started, else 0.
  int error() const noexcept { return error_.load(); }
  /// The program reads live totals, so captures go on without a file.
  void keep_live_totals() noexcept { is_watched_.store(true); }

 private:
  void main() noexcept;
  void end_without_file();
  std::uint64_t next_deadline();
  std::uint64_t until_deadline(std::uint64_t max_ns);

  settings const& settings_;
  drain& drain_;
  capture_switch& switch_;
  std::atomic<bool> started_{false};
  std::atomic<int> error_{0};
  std::atomic<bool> is_watched_{false};
};

}  // namespace gpuprof::guest
