// SPDX-License-Identifier: Apache-2.0
// Pauses counters while another CUPTI client of the program (torch.profiler) records. Readings
// delay and rewrite launches, and that client would attribute this to the program.
#pragma once

#include "guest/collect/cupti_tracer.hpp"

#include <atomic>
#include <functional>
#include <mutex>
#include <string>

namespace gpuprof::guest {

class counter_worker;
struct app_costs;

/// One per process, never destroyed. Can be used on any thread.
class other_client final : public other_client_observer {
 public:
  other_client(app_costs& costs, std::function<bool()> is_capturing)
      : costs_(costs), is_capturing_(std::move(is_capturing)) {}

  /// Call once. `counters` is null if no counters are read. Both must live as long as the process.
  void watch(cupti_tracer& tracer, counter_worker* counters) noexcept;

  /// Call when the capture wants counters. They resume when the client does not record.
  void resume_counters() noexcept;
  /// Prints one line per process when the client records and a capture runs, in whichever order
  /// they began.
  void say_once() noexcept;

 private:
  void other_client_begins(std::string const& who) noexcept override;
  void other_client_ends() noexcept override;
  bool records() const noexcept;

  app_costs& costs_;
  std::function<bool()> const is_capturing_;
  std::atomic<cupti_tracer*> tracer_{nullptr};
  std::atomic<counter_worker*> counters_{nullptr};
  std::mutex mutex_;  // protects `who_`
  std::string who_;   // the file that asked CUPTI for records
};

}  // namespace gpuprof::guest
