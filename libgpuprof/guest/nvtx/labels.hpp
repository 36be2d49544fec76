// SPDX-License-Identifier: Apache-2.0
// Names the program gave to NVTX categories and to its threads, and which NVTX domains it has
// destroyed.
#pragma once

#include "base/fork_guard.hpp"
#include "base/never_destroyed.hpp"
#include "model/ids.hpp"
#include "model/records.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gpuprof::guest {

struct thread_label {
  std::uint32_t os_thread = 0;
  name_id name{};
};

/// Any thread. Rarely called, so a lock will do. Bounded: later labels are ignored.
class nvtx_labels {
 public:
  static constexpr std::size_t max_labels = 65536;

  void name_category(name_id domain, std::uint32_t category, name_id name) noexcept {
    add(categories_, seen_categories_, std::pair{domain, category}, name,
        category_record{domain, category, name});
  }
  void name_thread(std::uint32_t os_thread, name_id name) noexcept {
    add(threads_, seen_threads_, os_thread, name, thread_label{os_thread, name});
  }

  /// Those given since `cursor` (start with 0) was last here; a later one replaces an earlier.
  std::vector<category_record> new_categories(std::size_t& cursor) const {
    return since(categories_, cursor);
  }
  std::vector<thread_label> new_thread_labels(std::size_t& cursor) const {
    return since(threads_, cursor);
  }

 private:
  template <class List, class Seen, class Key, class Record>
  void add(List& list, Seen& seen, Key const& key, name_id name, Record const& record) noexcept {
    try {
      fork_guard const whole;
      std::lock_guard const lock(mutex_);
      if (list.size() == max_labels) return;
      if (auto const known = seen.find(key); known != seen.end() && known->second == name) return;
      list.push_back(record);
      seen[key] = name;
    } catch (...) {  // no memory: a label less
    }
  }
  template <class List>
  List since(List const& list, std::size_t& cursor) const {
    fork_guard const whole;
    std::lock_guard const lock(mutex_);
    List added(list.begin() + static_cast<std::ptrdiff_t>(cursor), list.end());
    cursor = list.size();
    return added;
  }

  mutable std::mutex mutex_;  // protects all below
  std::vector<category_record> categories_;
  std::vector<thread_label> threads_;
  std::map<std::pair<name_id, std::uint32_t>, name_id> seen_categories_;
  std::map<std::uint32_t, name_id> seen_threads_;
};

/// The labels of the process; never destroyed.
inline nvtx_labels& labels() noexcept {
  static never_destroyed<nvtx_labels> instance;
  return *instance;
}

// Remembers which NVTX domains the program has destroyed: no pop comes for their open ranges.

/// Any thread. Domains of one name are one domain, which is gone when each of its creators has
/// destroyed it. Creating and destroying take a lock. Bounded: later domains are never gone.
class nvtx_domains {
 public:
  static constexpr std::size_t max_domains = 65536;

  void created(name_id domain) noexcept {
    if (raw(domain) == 0) return;  // the default domain is always there
    try {
      fork_guard const whole;
      std::lock_guard const lock(mutex_);
      if (known_.size() < max_domains || known_.contains(domain)) ++known_[domain].users;
    } catch (...) {  // no memory: it is never gone
    }
  }
  void destroyed(name_id domain, std::uint64_t ticks) noexcept {
    fork_guard const whole;
    std::lock_guard const lock(mutex_);
    auto const found = known_.find(domain);
    if (found == known_.end() || found->second.users == 0 || --found->second.users > 0) return;
    found->second.gone_at = ticks;
    generation_.fetch_add(1, std::memory_order_release);
  }

  /// Grows when a domain goes. A quick look tells a thread whether there is something to do.
  std::uint32_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }
  /// In ticks, when the domain was last destroyed; ranges that it had then are over. 0: never.
  std::uint64_t gone_at(name_id domain) const noexcept {
    fork_guard const whole;
    std::lock_guard const lock(mutex_);
    auto const found = known_.find(domain);
    return found == known_.end() ? 0 : found->second.gone_at;
  }
  bool is_gone(name_id domain) const noexcept {
    fork_guard const whole;
    std::lock_guard const lock(mutex_);
    auto const found = known_.find(domain);
    return found != known_.end() && found->second.users == 0;
  }

 private:
  struct domain_life {
    std::uint32_t users = 0;
    std::uint64_t gone_at = 0;
  };
  mutable std::mutex mutex_;  // protects known_
  std::unordered_map<name_id, domain_life> known_;
  std::atomic<std::uint32_t> generation_{0};
};

/// The domains of the process; never destroyed.
inline nvtx_domains& domains() noexcept {
  static never_destroyed<nvtx_domains> instance;
  return *instance;
}

}  // namespace gpuprof::guest
