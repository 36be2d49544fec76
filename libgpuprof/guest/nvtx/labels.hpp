// SPDX-License-Identifier: Apache-2.0
// Names the program gave to NVTX categories and to its threads.
#pragma once

#include "base/fork_guard.hpp"
#include "base/never_destroyed.hpp"
#include "model/records.hpp"

#include <cstddef>
#include <map>
#include <mutex>
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

}  // namespace gpuprof::guest
