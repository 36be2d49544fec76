// SPDX-License-Identifier: Apache-2.0
// Remembers which NVTX domains the program has destroyed: no pop comes for their open ranges.
#pragma once

#include "base/fork_guard.hpp"
#include "base/never_destroyed.hpp"
#include "model/ids.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace gpuprof::guest {

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
