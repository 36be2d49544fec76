// SPDX-License-Identifier: Apache-2.0
// What drain writes down of its own: what was seen, what was lost, what it cost.
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "guest/nvtx/ranges.hpp"
#include "guest/recording/drain.hpp"

#include <time.h>
#include <utility>

namespace gpuprof {

void app_costs::report(ledger& to) const {
  to.add("cost.start_ns", start_ns);
  to.add("cost.leave_ns", leave_ns);
  to.add("note.other_client_ns", other_client_ns);
  if (auto const since = other_client_since_ns.load(std::memory_order_relaxed); since != 0)
    to.add("note.other_client_ns", monotonic_ns() - since);
}

void drain::gather_counters() {
  ledger all;
  assembler_->report(all);
  report_thread_logs(all);
  names().report(all);
  all.add("lost.ranges", forgotten_ranges());
  if (decoder_ != nullptr) decoder_->report(all);
  if (auto const* const tracer = tracer_.load(std::memory_order_acquire)) tracer->report(all);
  if (output_.file() != nullptr) all.add("lost.rows_on_disk", output_.file()->rows_lost());
  if (auto const* const worker = counting_.load(std::memory_order_acquire))
    worker->engines().report(all);
  if (auto const* const code = code_.load(std::memory_order_acquire)) code->report(all);
  all.add("lost.steps_without_memory", failed_steps_);
  costs_.report(all);
  timespec cpu{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  all.add("cost.drain_cpu_ns", static_cast<std::uint64_t>(cpu.tv_sec) * ns_per_second +
                                   static_cast<std::uint64_t>(cpu.tv_nsec));
  auto const of_names = names().memory(), used = budget_.used();
  all.add("memory.buffers_bytes", used > of_names ? used - of_names : 0);
  all.add("memory.names_bytes", of_names);

  std::lock_guard const lock(mutex_);
  counters_ = all.take();
}

}  // namespace gpuprof
