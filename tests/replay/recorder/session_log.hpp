// SPDX-License-Identifier: Apache-2.0
// Collects what happens in the recorded program, from all its threads.
#pragma once

#include "replay/format/recording.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace gpuprof::replay {

/// One per process, never destroyed.
class session_log {
 public:
  static session_log& get();

  /// Any thread. Gives the event its time and thread, and keeps it.
  void add(event e) noexcept;
  /// Any thread.
  std::uint32_t text(std::string_view text);
  std::uint32_t next_range() noexcept { return ++ranges_; }
  std::uint32_t next_domain() noexcept { return ++domains_; }
  std::uint32_t next_registered() noexcept { return ++registered_; }

  /// Any thread. A buffer as CUPTI completed it, its records already free of pointers.
  void add_records(buffer_entry const& buffer, record_stream const& records);
  void fact(std::string const& key, std::string const& value);

  /// Ends the recording: what comes later is left out.
  recording take();

 private:
  struct thread_log {
    std::mutex lock;  // protects events; the thread itself adds, take() takes
    std::vector<event> events;
    std::uint32_t index = 0;
  };

  session_log();
  thread_log& of_this_thread();
  thread_log& new_thread(std::uint32_t os_thread);

  std::atomic<bool> ended_{false};
  std::atomic<std::uint32_t> ranges_{0}, domains_{0}, registered_{0};
  std::mutex lock_;  // protects everything below
  std::vector<std::unique_ptr<thread_log>> threads_;
  recording recording_;
  string_index strings_{recording_.strings};
};

}  // namespace gpuprof::replay
