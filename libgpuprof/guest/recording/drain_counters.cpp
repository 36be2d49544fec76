// SPDX-License-Identifier: Apache-2.0
// Counts what the drain saw, what was lost and what it cost.
#include "base/log.hpp"
#include "base/process.hpp"
#include "base/readable.hpp"
#include "base/time.hpp"
#include "guest/nvtx/ranges.hpp"
#include "guest/options/nothing_recorded.hpp"
#include "guest/recording/drain.hpp"
#include "guest/threads/thread_sampler.hpp"

#include <string>
#include <time.h>
#include <utility>
#include <vector>

namespace gpuprof::guest {

void app_costs::report(ledger& to) const {
  to.add("cost.start_ns", start_ns);
  to.add("cost.leave_ns", leave_ns);
  to.add("cost.end_ns", end_ns);
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
  report_thread_sampler(all);
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

void drain::say_which_graphs(cupti_tracer const& tracer) {
  auto const graphs = tracer.graphs().graphs_by_nodes();
  if (graphs == 0 || options_.graph_trace != graph_detail::graph) return;
  log_info(counted(graphs, "graphs") +
           " made before the capture: " + counted(tracer.graphs().launches_by_nodes(), "launches") +
           " recorded by nodes and not as wholes");
}

void drain::say_what_was_written() {
  if (output_.file() == nullptr || assembler_ == nullptr) return;
  auto const& seen = assembler_->counts();
  // `gpuprof profile` says it, unless another process of the run has worked.
  auto const any = seen.kernels + seen.graphs + seen.copies + seen.sets + seen.ranges + seen.marks +
                   seen.calls + seen.kernels_filtered;
  if (any == 0 && options_.run_notes) return;
  auto line = counted(seen.kernels, "kernels");
  auto const add = [&line](std::uint64_t count, char const* what) {
    if (count != 0) line += ", " + counted(count, what);
  };
  add(seen.graphs, "graphs");
  add(seen.copies, "copies");
  add(seen.sets, "fills");
  add(seen.ranges, "ranges");
  line += " (" + readable_bytes(static_cast<double>(output_.file()->bytes_written())) + ")";
  if (auto const lost = assembler_->kernels_missing(); lost != 0)
    line += ", " + counted(lost, "launches") + " without a record";
  if (auto const failed = failed_steps_.load(std::memory_order_relaxed); failed != 0)
    line += ", " + counted(failed, "steps without memory");
  if (auto const grouped = names().grouped(); grouped != 0)
    line += ", names of " + counted(grouped, "ranges") + " grouped";
  if (seen.kernels == 0 && seen.kernels_filtered != 0) {
    std::vector<std::string> kernels;
    for (auto const name : assembler_->kernel_names()) kernels.push_back(names().text(name));
    log_warning(why_no_kernel_was_selected(options_, seen.kernels_filtered, kernels));
  }
  if (auto* const tracer = tracer_.load(std::memory_order_acquire)) say_which_graphs(*tracer);
  // the roofline needs kernels, stats any event
  auto const is_counted =
      options_.metrics.mode != metrics_mode::none && seen.kernels + seen.graphs != 0;
  log_info(line + "; next: gpuprof " + (is_counted ? "roofline " : "stats ") + output_.path());
}

}  // namespace gpuprof::guest
