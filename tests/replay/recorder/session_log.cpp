// SPDX-License-Identifier: Apache-2.0
#include "replay/recorder/session_log.hpp"

#include "base/process.hpp"
#include "base/time.hpp"

#include <algorithm>
#include <unistd.h>

namespace gpuprof::replay {

session_log& session_log::get() {
  static auto* const one = new session_log;
  return *one;
}

// The main thread comes first, whichever thread speaks first.
session_log::session_log() {
  new_thread(static_cast<std::uint32_t>(getpid()));
}

session_log::thread_log& session_log::new_thread(std::uint32_t os_thread) {
  auto& log = *threads_.emplace_back(std::make_unique<thread_log>());
  log.index = static_cast<std::uint32_t>(recording_.threads.size());
  recording_.threads.push_back({os_thread, strings_.of(os_thread_name(os_thread))});
  return log;
}

session_log::thread_log& session_log::of_this_thread() {
  static thread_local thread_log* mine = nullptr;
  if (mine != nullptr) return *mine;
  auto const os_thread = os_thread_id();
  std::lock_guard const hold(lock_);
  mine = os_thread == static_cast<std::uint32_t>(getpid()) ? threads_.front().get()
                                                           : &new_thread(os_thread);
  return *mine;
}

void session_log::add(event e) noexcept {
  if (ended_.load(std::memory_order_relaxed) || is_forked_child()) return;
  auto& log = of_this_thread();
  std::lock_guard const hold(log.lock);
  e.thread = log.index;
  e.time = now().value;
  log.events.push_back(e);
}

std::uint32_t session_log::text(std::string_view text) {
  if (text.empty() || is_forked_child()) return 0;
  std::lock_guard const hold(lock_);
  return strings_.of(text);
}

void session_log::add_records(buffer_entry const& buffer, record_stream const& records) {
  std::lock_guard const hold(lock_);
  recording_.buffers.push_back(buffer);
  std::size_t at = 0;
  for (auto const size : records.sizes) {
    recording_.records.add(std::span(records.bytes).subspan(at, size));
    at += size;
  }
}

void session_log::fact(std::string const& key, std::string const& value) {
  std::lock_guard const hold(lock_);
  recording_.facts[key] = value;
}

recording session_log::take() {
  ended_ = true;
  std::lock_guard const hold(lock_);
  for (auto const& t : threads_) {
    std::lock_guard const hold_thread(t->lock);
    recording_.events.insert(recording_.events.end(), t->events.begin(), t->events.end());
    t->events.clear();
  }
  std::stable_sort(recording_.events.begin(), recording_.events.end(),
                   [](event const& a, event const& b) { return a.time < b.time; });
  return recording_;
}

}  // namespace gpuprof::replay
