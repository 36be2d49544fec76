// SPDX-License-Identifier: Apache-2.0
#include "guest/recording/counter_worker.hpp"

#include "base/cache_file.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "base/quiet_thread.hpp"
#include "base/time.hpp"
#include "guest/driver/device_facts.hpp"
#include "guest/nvtx/name_registry.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <thread>
#include <unistd.h>
#include <utility>

namespace gpuprof::guest {
namespace {

// For a context that is being destroyed.
constexpr std::uint64_t max_wait_ns = 2'000'000'000;
constexpr std::uint64_t after_failure_ns = 100'000'000;

template <class T>
void append(std::vector<T>& to, std::vector<T>&& more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

counter_options options_of(settings const& s, kernel_filter& skipped, cupti_tracer& tracer,
                           availability_store const& stored, device_turns& turns,
                           cuda_driver const& driver, code_inventory const& code,
                           std::function<std::string()> capture_path, main_thread_end& at_end,
                           std::function<void()> release_gpus) {
  auto const is_rank = s.rank && s.rank->world_size <= shared_readings::max_ranks;
  auto const exact = s.metrics.mode == metrics_mode::exact;
  auto& kernels = tracer.kernels();
  std::function<void(bool)> record_nodes;
  if (s.graph_trace == graph_detail::automatic)
    record_nodes = [&tracer](bool all) { tracer.graphs().record_nodes(all); };
  auto const uuid = [&driver](device_id device) {
    return device_uuid(driver, static_cast<int>(raw(device)));
  };
  return {.around_launches = s.metrics.mode != metrics_mode::sampled,
          .in_windows = !exact,
          .launches = {
              .every_launch = exact,
              .words = s.metrics.words,
              .skips = [&skipped](char const* kernel) { return skipped.selects_launch(kernel); },
              .pause_kernel_records = [&kernels] { return kernels.pause(); },
              .resume_kernel_records = [&kernels] { kernels.resume(); },
              .code_of = [&code](std::string_view kernel) { return code.find(kernel); },
              .stored = &stored,
              .turns = &turns,
              .uuid = uuid,
              .shared_beside = is_rank ? std::move(capture_path) : nullptr,
              .ranks = is_rank ? s.rank->world_size : 1,
              .at_end = &at_end,
              .release_gpus = std::move(release_gpus)},
          .sampling = {.words = s.metrics.words,
                       .interval_ns = s.metrics.interval_ns,
                       .stored = &stored,
                       .turns = &turns,
                       .uuid = uuid},
          .budget_percent = exact ? 0 : s.metrics.budget_percent,
          .once_ns = s.metrics.may_cost_once_ns(),
          .explains = s.metrics.explains(),
          .place = s.rank ? job_place{s.rank->rank, s.rank->world_size} : job_place{},
          .record_nodes = std::move(record_nodes)};
}

void say_some_are_lost() noexcept {
  try {
    log_error("counters of some launches were lost for want of memory");
  } catch (...) {
  }
}

std::unique_ptr<kernel_filter> filter_for_skipped(settings const& s) {
  settings names;
  names.kernel_names = s.metrics.skip;
  auto made = kernel_filter::make(names);
  if (made) return std::move(*made);
  log_warning(made.message());
  return nullptr;
}

}  // namespace

std::unique_ptr<counter_worker> counter_worker::make(settings const& options, cupti_tracer& tracer,
                                                     code_inventory const& code,
                                                     std::function<std::string()> capture_path,
                                                     void (*end_at_exit)()) {
  if (options.metrics.mode == metrics_mode::none) return nullptr;
  auto const driver = load_cuda_driver();
  if (!driver) return nullptr;
  auto skipped = filter_for_skipped(options);
  if (skipped == nullptr) return nullptr;
  return std::unique_ptr<counter_worker>(new counter_worker(
      options, tracer, code, *driver, std::move(skipped), std::move(capture_path), end_at_exit));
}

counter_worker::counter_worker(settings const& options, cupti_tracer& tracer,
                               code_inventory const& code, cuda_driver driver,
                               std::unique_ptr<kernel_filter> skipped,
                               std::function<std::string()> capture_path, void (*end_at_exit)())
    : driver_(driver),
      skipped_(std::move(skipped)),
      stored_(cache_folder("counters")),
      end_at_exit_(end_at_exit),
      main_thread_end_(end_at_exit),
      engines_(tracer.library().api, driver_,
               options_of(options, *skipped_, tracer, stored_, device_turns_, driver_, code,
                          std::move(capture_path), main_thread_end_, [this] { release_gpus(); })) {}

void counter_worker::resume() noexcept {
  if (process_ends_.load()) return;
  main_thread_end_.look();
  if (!thread_started_.exchange(true)) {
    pthread_t thread;
    auto const run = [](void* self) -> void* {
      static_cast<counter_worker*>(self)->main();
      return nullptr;
    };
    if (start_quiet_thread(thread, "gpuprof counter", 0, run, this) != 0) {
      thread_started_ = false;
      return;
    }
    pthread_detach(thread);
  }
  engines_.resume();
  wake();
}

void counter_worker::pause() noexcept {
  engines_.pause();
  wake();
}

void counter_worker::wake() noexcept {
  {
    std::lock_guard const lock(mutex_);
    woken_ = true;
  }
  changed_.notify_all();
}

/// Called when a context is being destroyed.
void counter_worker::release_gpus() noexcept {
  if (!engines_.holds_gpus() || process_is_exiting()) return;
  engines_.want_gpus_released();
  wake();
  auto const deadline = monotonic_ns() + max_wait_ns;
  while (engines_.holds_gpus() && monotonic_ns() < deadline)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

counter_results counter_worker::take() {
  std::lock_guard const lock(mutex_);
  return std::exchange(results_, {});
}

bool counter_worker::finish(ending what, std::uint32_t timeout_ms) {
  std::unique_lock lock(mutex_);
  if (!thread_started_ || process_ends_) return true;
  process_ends_ = what == ending::process;
  auto const mine = ++finish_wanted_;
  ending_ = std::max(ending_, what);
  changed_.notify_all();
  auto const done = changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                                      [&] { return finish_done_ >= mine; });
  // The driver will soon be torn down. After abandon(), the thread makes no further CUPTI calls.
  if (!done && what == ending::process) engines_.abandon();
  return done;
}

/// Returns how long the thread may sleep after this turn.
std::uint64_t counter_worker::turn(bool closing, ending what) {
  counter_results found;
  auto const intern = [](std::string const& text) { return names().intern(text); };
  engines_.note_others(ns_spent_on_stacks());
  auto const sleep_ns = engines_.turn(closing, found, intern);
  // Called after the counters of the last launches have been taken.
  if (closing && what != ending::capture) engines_.release_all(found);
  // If the program ends on a thread other than the main thread, our exit handler must be the last
  // one registered. So it is registered again after 1, 2, 4, ... turns.
  if (std::has_single_bit(++turns_)) std::atexit(end_at_exit_);
  auto const is_last = closing || sleep_ns == counter_engines::never;
  for (auto const& line : engines_.take_warnings(is_last)) log_warning(line);
  if (auto const line = engines_.take_slowdown_line(); !line.empty()) log_info(line);
  std::lock_guard const lock(mutex_);
  append(results_.metrics, std::move(found.metrics));
  append(results_.launches, std::move(found.launches));
  append(results_.sampling.windows, std::move(found.sampling.windows));
  append(results_.sampling.samples, std::move(found.sampling.samples));
  append(results_.holds, std::move(found.holds));
  append(results_.pauses, std::move(found.pauses));
  return sleep_ns;
}

void counter_worker::main() noexcept {
  std::uint64_t sleep_ns = 0;
  for (;;) {
    std::uint64_t wanted = 0;
    bool closing = false;
    auto what = ending::capture;
    {
      std::unique_lock lock(mutex_);
      auto const due = [&] { return woken_ || finish_wanted_ != finish_done_; };
      if (sleep_ns == counter_engines::never)
        changed_.wait(lock, due);
      else
        changed_.wait_for(lock, std::chrono::nanoseconds(sleep_ns), due);
      woken_ = false;
      wanted = finish_wanted_;
      closing = finish_wanted_ != finish_done_;
      if (closing) what = std::exchange(ending_, ending::capture);
    }
    sleep_ns = after_failure_ns;
    try {
      sleep_ns = turn(closing, what);
    } catch (...) {
      say_some_are_lost();
    }
    if (!closing) continue;
    {
      std::lock_guard const lock(mutex_);
      finish_done_ = wanted;
    }
    changed_.notify_all();
    // Like the drain thread, this one must not end now: it would run thread destructors in parallel
    // with exit handlers.
    while (what == ending::process) ::pause();
  }
}

}  // namespace gpuprof::guest
