// What drain writes down of its own: what was seen, what was lost, what it cost.
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "collect/nvtx_ranges.hpp"
#include "session/drain.hpp"

#include <time.h>
#include <utility>

namespace gpuprof {
namespace {

constexpr std::uint64_t second = 1'000'000'000;

}  // namespace

/// Of GPU work: what is known while the program runs of what reports look at.
std::uint64_t drain::records_lost() const {
  auto const& seen = assembler_->counts();
  auto lost = seen.launches_given_up + seen.kernels_without_time;
  for (auto* log = all_thread_logs(); log != nullptr; log = log->next)
    lost += log->counters.dropped_records.load(std::memory_order_relaxed);
  if (decoder_ != nullptr) {
    auto const& broken = decoder_->losses();
    lost += broken.others_without_time + broken.broken_buffers + broken.unknown_kinds;
  }
  if (auto* const tracer = tracer_.load(std::memory_order_acquire))
    lost += tracer->dropped() + tracer->pool().refusals() + tracer->buffers_lost();
  return lost;
}

void drain::count_everything() {
  named_counters all;
  auto const put = [&all](char const* name, std::uint64_t value) { all.emplace_back(name, value); };
  auto const& seen = assembler_->counts();
  put("seen.launches", seen.launches);
  put("seen.graph_launches", seen.graph_launches);
  put("seen.kernels", seen.kernels);
  put("seen.kernels_filtered", seen.kernels_filtered);
  put("seen.kernels_unattributed", seen.kernels_unattributed);

  std::uint64_t dropped_launches = 0, dropped_records = 0, dropped_ranges = 0, unmatched_pops = 0;
  for (auto* log = all_thread_logs(); log != nullptr; log = log->next) {
    dropped_launches += log->counters.dropped_launches.load(std::memory_order_relaxed);
    dropped_records += log->counters.dropped_records.load(std::memory_order_relaxed);
    dropped_ranges += log->counters.dropped_ranges.load(std::memory_order_relaxed);
    unmatched_pops += log->counters.unmatched_pops.load(std::memory_order_relaxed);
  }
  put("note.records_outside_captures", seen.outside);
  put("note.launches_not_waited_for", seen.launches_given_up);
  auto const open = assembler_->window_open();  // launches still under way are no loss
  put("lost.kernels", dropped_records + (open ? 0 : assembler_->kernels_missing()));
  put("lost.graph_launches", open ? 0 : assembler_->graphs_missing());
  if (decoder_ != nullptr) {
    put("lost.kernels_without_time", seen.kernels_without_time);
    put("lost.other_records_without_time", decoder_->losses().others_without_time);
    put("lost.broken_buffers", decoder_->losses().broken_buffers);
    put("lost.records_of_unknown_kind", decoder_->losses().unknown_kinds);
    put("lost.shapes", decoder_->shapes_refused());
  }
  if (auto* const tracer = tracer_.load(std::memory_order_acquire)) {
    put("lost.records_dropped_by_cupti", tracer->dropped());
    put("lost.buffers_refused", tracer->pool().refusals());
    put("lost.buffers", tracer->buffers_lost());
    put("note.foreign_buffers", tracer->foreign_buffers());
  }
  put("lost.launch_notes", dropped_launches + assembler_->launches_forgotten());
  put("lost.ranges", dropped_ranges + forgotten_ranges());
  put("lost.names", names().refused());
  put("lost.threads", threads_without_log());
  if (output_.file() != nullptr) put("lost.rows_on_disk", output_.file()->rows_lost());
  put("note.names_grouped", names().grouped());
  put("note.unmatched_pops", unmatched_pops);

  if (auto* const worker = counting_.load(std::memory_order_acquire)) {
    auto const& counts = worker->engines().launch_counts();
    auto const put_count = [&](char const* name, std::atomic<std::uint64_t> const& count) {
      put(name, count.load(std::memory_order_relaxed));
    };
    put_count("counters.launches_read", counts.read);
    put_count("counters.failed", counts.failed);
    put_count("counters.missed", counts.disturbed);
    put_count("counters.unrecorded", counts.unrecorded);
    put_count("counters.not_rewritten", counts.not_rewritten);
    put_count("counters.skipped_busy", counts.busy);
    put_count("counters.abandoned", counts.abandoned);
    put_count("counters.skipped_cooperative", counts.cooperative);
    put_count("counters.skipped_by_name", counts.by_name);
    put_count("counters.skipped_graphs", counts.graphs);
    put_count("counters.skipped_unknown", counts.unknown);
    auto const kinds = worker->engines().launch_kinds();
    put("counters.kinds", kinds.kinds);
    put("counters.kinds_unread", kinds.unread);
    put("counters.kinds_partly_read", kinds.partly);
    auto const& windows = worker->engines().window_counts();
    put_count("counters.sampling_windows", windows.windows);
    put_count("counters.samples", windows.samples);
    put_count("counters.sampling_refused", windows.busy);
    put_count("lost.sampling_overflows", windows.overflows);
    put_count("counters.no_idle_moment", counts.not_idle);
    put("cost.longest_hold_ns", worker->engines().gate().longest_hold_ns());
    put("cost.longest_switch_ns", worker->engines().gate().longest_switch_ns());
    put("cost.counters_ns", worker->engines().budget().spent());
    put("cost.counters_once_ns", worker->engines().budget().noted_once());
    put("cost.once_allowed_ns", worker->engines().budget().once_ns());
    put("cost.sampling_ns", worker->engines().budget().spent_on_sampling());
  }
  if (auto const* const inventory = code_.load(std::memory_order_acquire)) {
    auto const& code = inventory->counted();
    put("counters.code_modules", code.modules.load(std::memory_order_relaxed));
    put("counters.code_too_large", code.too_large.load(std::memory_order_relaxed));
    put("counters.code_damaged", code.damaged.load(std::memory_order_relaxed));
    put("counters.code_left_out", code.left_out.load(std::memory_order_relaxed));
    put("cost.code_ns", code.read_ns.load(std::memory_order_relaxed));
  }
  timespec cpu{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  put("cost.start_ns", costs_.start_ns.load(std::memory_order_relaxed));
  put("cost.leave_ns", costs_.leave_ns.load(std::memory_order_relaxed));
  auto const since = costs_.other_client_since_ns.load(std::memory_order_relaxed);
  put("note.other_client_ns", costs_.other_client_ns.load(std::memory_order_relaxed) +
                                  (since != 0 ? monotonic_ns() - since : 0));
  put("cost.drain_cpu_ns",
      static_cast<std::uint64_t>(cpu.tv_sec) * second + static_cast<std::uint64_t>(cpu.tv_nsec));
  put("memory.buffers_bytes", budget_.used());
  put("memory.launch_table_bytes", assembler_->table_bytes());

  std::lock_guard const lock(mutex_);
  counters_ = std::move(all);
}

}  // namespace gpuprof
