// SPDX-License-Identifier: Apache-2.0
// The drain thread: empties rings and buffers, assembles the trace and writes it to the file.
#pragma once

#include "guest/collect/activity_decoder.hpp"
#include "guest/collect/cupti_tracer.hpp"
#include "guest/live/live_sink.hpp"
#include "guest/live/live_totals.hpp"
#include "guest/metrics/inventory/launching_kernels.hpp"
#include "guest/options/kernel_filter.hpp"
#include "guest/options/settings.hpp"
#include "guest/recording/capture_output.hpp"
#include "guest/recording/chip_states.hpp"
#include "guest/recording/counter_worker.hpp"
#include "guest/recording/file_sink.hpp"
#include "guest/recording/kernel_code_rows.hpp"
#include "guest/recording/side_thread.hpp"
#include "guest/recording/trace_assembler.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace gpuprof::guest {

/// The opening or closing of a window. Events are in the order in which they happened.
struct window_event {
  bool opened = false;
  std::uint32_t index = 0;
  timestamp_ns time;
  std::string trigger;
};

/// The profiler's cost on the program's own threads.
struct app_costs {
  std::atomic<std::uint64_t> start_ns{0};
  std::atomic<std::uint64_t> leave_ns{0};
  std::atomic<std::uint64_t> end_ns{0};  // the program waited for counters to end
  // Time in which another client of CUPTI had records enabled, and the start of the current such
  // time (0: none).
  std::atomic<std::uint64_t> other_client_ns{0};
  std::atomic<std::uint64_t> other_client_since_ns{0};

  void report(ledger& to) const;
};

/// Requests of other threads: to write everything seen so far, or to finish.
class drain_requests {
 public:
  struct wanted {
    bool flush = false, finish = false;
    std::uint64_t number = 0;  // number of the last flush requested
  };

  // Called by other threads. Return false if the timeout passed first.
  template <class Wake>
  bool flush_and_wait(std::chrono::milliseconds timeout, Wake wake) {
    std::unique_lock lock(mutex_);
    auto const mine = ++flush_wanted_;
    return wait(lock, timeout, wake, [&] { return flush_done_ >= mine || finish_done_; });
  }
  template <class Wake>
  bool finish_and_wait(std::chrono::milliseconds timeout, Wake wake) {
    std::unique_lock lock(mutex_);
    finish_wanted_ = true;
    return wait(lock, timeout, wake, [&] { return finish_done_; });
  }

  // Called by the drain thread.
  wanted open() {
    std::lock_guard const lock(mutex_);
    return {flush_wanted_ != flush_done_, finish_wanted_, flush_wanted_};
  }
  void done(wanted const& what) {
    {
      std::lock_guard const lock(mutex_);
      flush_done_ = what.number;
      finish_done_ = what.finish;
    }
    served_.notify_all();
  }

 private:
  template <class Wake, class Done>
  bool wait(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds timeout, Wake wake,
            Done is_done) {
    lock.unlock();
    wake();
    lock.lock();
    return served_.wait_for(lock, timeout, is_done);
  }

  std::mutex mutex_;  // protects everything below
  std::condition_variable served_;
  std::uint64_t flush_wanted_ = 0, flush_done_ = 0;
  bool finish_wanted_ = false, finish_done_ = false;
};

/// Never destroyed. All functions except run() can be called on any thread.
class drain {
 public:
  drain(settings const& options, memory_budget& budget, kernel_filter const& filter,
        app_costs const& costs);

  /// From now on, the tracer's buffers are read. The tracer must live as long as the process.
  void use_tracer(cupti_tracer& tracer) noexcept {
    tracer_.store(&tracer, std::memory_order_release);
  }
  /// From now on, the readings of its counters are written too.
  void use_counters(counter_worker& worker) noexcept {
    counting_.store(&worker, std::memory_order_release);
  }
  /// From now on, what it knows about kernels that ran is written too. It must live as long as the
  /// process.
  void use_code(code_inventory const& inventory) noexcept {
    code_.store(&inventory, std::memory_order_release);
  }
  /// From now on, counts kernels that launched work without a record. `known` must live as long as
  /// the process.
  void use_launching(launching_kernels const& known) noexcept {
    launching_.store(&known, std::memory_order_release);
  }
  /// Overrides the capture file name of the settings. Has no effect once a capture has begun.
  void choose_output(std::string const& pattern) { output_.choose(pattern); }
  void post(window_event event);

  /// Returns true when everything seen so far is on disk, or false if `timeout_ms` passed first.
  bool flush_and_wait(std::uint32_t timeout_ms);
  /// Writes the rest and closes the file; no more rounds follow. Returns false if `timeout_ms`
  /// passed first.
  bool finish_and_wait(std::uint32_t timeout_ms);

  /// Does one round on the drain thread. `flush`: CUPTI must deliver what is complete, and it is
  /// written to disk.
  void round(bool flush);
  /// Takes everything that is left: CUPTI delivers all records. What has no record now will never
  /// have one.
  void last_round() noexcept;
  /// Called by the drain thread. True if no window is open, and every launch of the last one has
  /// its record or none has arrived for `patience_ns`.
  bool graphs_may_owe() const noexcept;
  bool at_rest(std::uint64_t patience_ns) const noexcept;
  /// Called by the drain thread. Answers flush_and_wait() and finish_and_wait(). Returns true if
  /// the thread must end.
  bool serve_requests() noexcept;
  /// Called by the drain thread when a step has failed, most likely because memory is out. Counts
  /// it and prints one error.
  void lose(char const* why) noexcept;

  live_totals const& totals() const noexcept { return totals_; }
  live_totals& totals() noexcept { return totals_; }
  /// Work that was launched or began before this moment is in the file. Only known if counters are
  /// read. Can be called on any thread.
  timestamp_ns written_until() const noexcept { return {written_until_.load()}; }
  /// Returns the path of the capture file, or an empty string while there is none.
  std::string path() const { return output_.path(); }
  /// Can be called on any thread. If the file is not usable, nothing more is written, but the
  /// totals still count.
  file_state state_of_file() const noexcept { return output_.state(); }
  /// Returns the printed reason why the file is not usable, or an empty string.
  std::string why_no_file() const { return output_.why_not_usable(); }
  /// Returns losses and costs as written to the file, for the summary and the C API.
  named_counters counters() const;

 private:
  std::string_view text_of(name_id id);
  void make_assembler();
  template <class Act>
  void attempt(Act act) noexcept {
    try {
      act();
    } catch (std::exception const& e) {
      lose(e.what());
    } catch (...) {
      lose("for a reason unknown");
    }
  }
  void take_windows();
  void take(window_event const& event);
  void find_main_thread();
  void settle();
  void tell_of_lost_grids();
  bool take_some_buffers();
  void fetch(bool forced);
  void do_beside(std::function<void()> act);
  void release_memory();
  void gather_counters();
  void take_counters();
  void take_code();
  void take_source();
  void take_binaries();
  void prepare_native_stacks();
  void describe_gpus(bool is_last);
  void ask_gpus();
  void finish_counters(counter_worker::ending what) noexcept;
  void flush_file(bool is_last = false) noexcept;
  void look_at_disk();
  void wait_for_the_gpu(std::uint64_t patience_ns);
  void say_which_graphs(cupti_tracer const& tracer);
  void say_what_was_written();

  settings const& options_;
  kernel_filter const& filter_;
  app_costs const& costs_;
  memory_budget& budget_;
  std::atomic<cupti_tracer*> tracer_{nullptr};
  std::atomic<counter_worker*> counting_{nullptr};
  std::atomic<code_inventory const*> code_{nullptr};
  std::atomic<launching_kernels const*> launching_{nullptr};
  std::string asked_text_;  // declared before `totals_`, which uses it
  live_totals totals_;

  capture_output output_;
  side_thread side_;

  // Used by the drain thread only.
  live_sink live_;                 // the totals
  std::optional<file_sink> file_;  // empty if no file could be created
  chip_state_times asking_;        // when to read the GPUs' state
  chip_states gpus_;               // used by the side thread
  record_sinks records_;           // forwards to all of the above
  timestamp_ns const made_ = now();
  std::unique_ptr<trace_assembler> assembler_;
  std::unique_ptr<activity_decoder> decoder_;
  std::size_t threads_seen_ = 0;  // cursor of new_threads()
  kernel_code_rows code_rows_;
  std::uint64_t released_at_ = 0;    // monotonic
  std::uint64_t closed_at_ = 0;      // monotonic; when the last window closed
  std::uint64_t last_progress_ = 0;  // monotonic; when a record of a window last arrived
  std::uint64_t progress_seen_ = 0;
  std::uint64_t written_off_ = 0;                // launches whose records are no longer waited for
  timestamp_ns last_flush_, flush_before_last_;  // when CUPTI began them; 0: not yet
  timestamp_ns complete_until_;                  // as of the last flush, see trace_assembler
  std::atomic<std::uint64_t> written_until_{0};
  std::atomic<std::uint64_t> failed_steps_{0};
  bool quiet_ = false;  // a whole flush since the last window closed has brought no record of it

  drain_requests requests_;

  mutable std::mutex
      mutex_;  // protects everything below; never held while CUPTI is called or the file is written
  std::deque<window_event> events_;
  named_counters counters_;
};

}  // namespace gpuprof::guest
