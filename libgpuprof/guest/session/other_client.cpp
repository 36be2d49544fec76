// SPDX-License-Identifier: Apache-2.0
#include "guest/session/other_client.hpp"

#include "base/log.hpp"
#include "base/no_cancellation.hpp"
#include "base/own_arithmetic.hpp"
#include "base/process.hpp"
#include "base/time.hpp"
#include "guest/recording/counter_worker.hpp"
#include "guest/recording/drain.hpp"

#include <chrono>
#include <thread>

namespace gpuprof::guest {

void other_client::watch(cupti_tracer& tracer, counter_worker* counters) noexcept {
  counters_.store(counters);
  tracer_.store(&tracer);
  tracer.observe_other_client(*this);
  if (records()) costs_.other_client_since_ns.store(monotonic_ns());
}

bool other_client::records() const noexcept {
  auto const* const tracer = tracer_.load();
  return tracer != nullptr && tracer->other_client_records();
}

void other_client::resume_counters() noexcept {
  auto* const counters = counters_.load();
  if (counters == nullptr || records()) return;
  counters->resume();
  if (records() || !is_capturing_()) counters->pause();  // either has changed meanwhile
}

void other_client::other_client_begins(std::string const& who) noexcept {
  no_cancellation const here;
  own_arithmetic const exact;
  if (is_forked_child()) return;
  costs_.other_client_since_ns.store(monotonic_ns());
  if (auto* const counters = counters_.load()) {
    counters->pause();
    for (int i = 0; i < 100 && !counters->is_idle(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  try {
    std::lock_guard const lock(mutex_);
    who_ = who;
  } catch (...) {  // out of memory: the client has no name
  }
  say_once();
}

void other_client::other_client_ends() noexcept {
  own_arithmetic const exact;
  if (is_forked_child()) return;
  if (auto const since = costs_.other_client_since_ns.exchange(0); since != 0)
    costs_.other_client_ns.fetch_add(monotonic_ns() - since);
  if (is_capturing_()) resume_counters();
}

void other_client::say_once() noexcept {
  static std::atomic<bool> said{false};
  if (!records() || !is_capturing_() || !first_time(said)) return;
  try {
    std::string line;
    {
      std::lock_guard const lock(mutex_);
      line = who_.empty() ? "another client in this process" : who_;
    }
    line += " asks CUPTI for records, too: it gets all of its own, and this capture all of its own";
    if (counters_.load() != nullptr) line += "; counters pause until it has ended";
    log_info(line);
  } catch (...) {
  }
}

}  // namespace gpuprof::guest
