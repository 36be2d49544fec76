// SPDX-License-Identifier: Apache-2.0
// Names that the program gave to NVTX categories and threads, and the NVTX domains that it has
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

/// Can be used on any thread. Calls are rare, so a lock is enough. The number is limited: later
/// labels are ignored.
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

  /// Returns the labels given since the last call with this `cursor` (start with 0). A later label
  /// replaces an earlier one.
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
    } catch (...) {  // out of memory: the label is lost
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

  mutable std::mutex mutex_;  // protects everything below
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

// Records which NVTX domains the program has destroyed: their open ranges will not be popped.

/// Can be used on any thread. Domains with the same name are one domain. It is gone when each
/// creator has destroyed it. Creating and destroying take a lock. The number is limited: domains
/// beyond it are never gone.
class nvtx_domains {
 public:
  static constexpr std::size_t max_domains = 65536;

  void created(name_id domain) noexcept {
    if (raw(domain) == 0) return;  // the default domain always exists
    try {
      fork_guard const whole;
      std::lock_guard const lock(mutex_);
      if (known_.size() < max_domains || known_.contains(domain)) ++known_[domain].users;
    } catch (...) {  // out of memory: the domain is never gone
    }
  }
  void destroyed(name_id domain, std::uint64_t ticks) noexcept {
    fork_guard const whole;
    std::lock_guard const lock(mutex_);
    auto const found = known_.find(domain);
    if (found == known_.end() || found->second.users == 0) return;
    if (--found->second.users > 0) return;
    found->second.gone_at = ticks;
    generation_.fetch_add(1, std::memory_order_release);
  }

  /// Increases when a domain goes. A thread checks it to see if it must do something.
  std::uint32_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }
  /// Returns when the domain was last destroyed, in ticks, or 0 if never. Ranges that it had at
  /// that time are over.
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
