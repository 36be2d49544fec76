// SPDX-License-Identifier: Apache-2.0
// What a capture does while the program's own client of CUPTI (torch.profiler) records: counters
// pause, since readings hold and rewrite launches, which that client would take for the program's
// doing.
#pragma once

#include "guest/collect/cupti_tracer.hpp"

#include <atomic>
#include <functional>
#include <mutex>
#include <string>

namespace gpuprof::guest {

class counter_worker;
struct app_costs;

/// One per process, never destroyed. Any thread.
class other_client final : public other_client_observer {
 public:
  other_client(app_costs& costs, std::function<bool()> is_capturing)
      : costs_(costs), is_capturing_(std::move(is_capturing)) {}

  /// Once. `counters` null: none are read. Both must live as long as the process.
  void watch(cupti_tracer& tracer, counter_worker* counters) noexcept;

  /// The capture wants counters: they resume unless, or until, the client records.
  void resume_counters() noexcept;
  /// One line in a process, once the client records and a capture runs, whichever came first.
  void say_once() noexcept;

 private:
  void other_client_begins(std::string const& who) noexcept override;
  void other_client_ends() noexcept override;
  bool records() const noexcept;

  app_costs& costs_;
  std::function<bool()> const is_capturing_;
  std::atomic<cupti_tracer*> tracer_{nullptr};
  std::atomic<counter_worker*> counters_{nullptr};
  std::mutex mutex_;  // protects the next
  std::string who_;   // the file that has asked CUPTI for records
};

}  // namespace gpuprof::guest
