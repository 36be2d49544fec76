#include "session/counter_worker.hpp"

#include "base/log.hpp"
#include "base/quiet_thread.hpp"
#include "collect/name_registry.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <unistd.h>
#include <utility>

namespace gpuprof {
namespace {

// A group changes at most this often: once for each pass of the plan until every launch has been
// read once.
constexpr std::chrono::milliseconds turn_every{5};

template <class T>
void append(std::vector<T>& to, std::vector<T>&& more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

sampler_wishes wishes_of(settings const& s, kernel_filter& skipped) {
  return {.every_launch = s.metrics.mode == metrics_mode::exact,
          .budget_percent = s.metrics.budget_percent,
          .words = s.metrics.words,
          .skips = [&skipped](char const* kernel) { return skipped.selects_launch(kernel); }};
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

std::unique_ptr<counter_worker> counter_worker::make(settings const& wishes, cupti_api const& api) {
  if (wishes.metrics.mode == metrics_mode::none) return nullptr;
  if (wishes.metrics.mode == metrics_mode::sampled) {
    log_warning(
        "counters are off: sampling in time is not there yet. --metrics auto reads them around "
        "launches");
    return nullptr;
  }
  auto const driver = load_cuda_driver();
  if (!driver) return nullptr;
  auto skipped = filter_for_skipped(wishes);
  if (skipped == nullptr) return nullptr;
  return std::unique_ptr<counter_worker>(
      new counter_worker(wishes, api, *driver, std::move(skipped)));
}

counter_worker::counter_worker(settings const& wishes, cupti_api const& api, cuda_driver driver,
                               std::unique_ptr<kernel_filter> skipped)
    : driver_(driver),
      skipped_(std::move(skipped)),
      sampler_(api, driver_, wishes_of(wishes, *skipped_)) {}

void counter_worker::resume() noexcept {
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
  sampler_.resume();
}

counter_harvest counter_worker::take() {
  std::lock_guard const lock(mutex_);
  return std::exchange(harvest_, {});
}

bool counter_worker::finish(ending what, std::uint32_t timeout_ms) {
  std::unique_lock lock(mutex_);
  if (!thread_started_ || process_ends_) return true;
  process_ends_ = what == ending::process;
  auto const mine = ++finish_wanted_;
  ending_ = std::max(ending_, what);
  changed_.notify_all();
  return changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                           [&] { return finish_done_ >= mine; });
}

void counter_worker::turn(bool closing, ending what) {
  counter_harvest found;
  auto const intern = [](std::string const& text) { return names().intern(text); };
  if (closing && what == ending::leaving) sampler_.end();
  sampler_.turn(closing, found.metrics, found.launches, intern);
  for (auto const& line : sampler_.take_complaints()) log_warning(line);
  std::lock_guard const lock(mutex_);
  append(harvest_.metrics, std::move(found.metrics));
  append(harvest_.launches, std::move(found.launches));
}

void counter_worker::main() noexcept {
  for (;;) {
    std::uint64_t wanted = 0;
    bool closing = false;
    auto what = ending::capture;
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, turn_every, [&] { return finish_wanted_ != finish_done_; });
      wanted = finish_wanted_;
      closing = finish_wanted_ != finish_done_;
      if (closing) what = std::exchange(ending_, ending::capture);
    }
    try {
      turn(closing, what);
    } catch (...) {
      say_some_are_lost();
    }
    if (!closing) continue;
    {
      std::lock_guard const lock(mutex_);
      finish_done_ = wanted;
    }
    changed_.notify_all();
    // As the drain thread: one that ended now would run thread destructors beside exit handlers.
    while (what == ending::process) ::pause();
  }
}

}  // namespace gpuprof
