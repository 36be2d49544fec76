// SPDX-License-Identifier: Apache-2.0
// A map that remembers the entry that was used last, because successive records mostly have the
// same thread or stream.
#pragma once

#include <unordered_map>
#include <utility>

namespace gpuprof::host {

template <class Key, class Value>
class recent_map {
 public:
  recent_map() = default;
  recent_map(recent_map const&) = delete;
  recent_map& operator=(recent_map const&) = delete;

  Value& operator[](Key key) {
    if (last_ == nullptr || last_->first != key) last_ = &*entries_.try_emplace(key).first;
    return last_->second;
  }
  /// Returns null if there is no entry.
  Value* find(Key key) {
    if (last_ != nullptr && last_->first == key) return &last_->second;
    auto const found = entries_.find(key);
    if (found == entries_.end()) return nullptr;
    last_ = &*found;
    return &last_->second;
  }
  Value const* find(Key key) const {
    if (last_ != nullptr && last_->first == key) return &last_->second;
    auto const found = entries_.find(key);
    return found == entries_.end() ? nullptr : &found->second;
  }

  auto begin() const noexcept { return entries_.begin(); }
  auto end() const noexcept { return entries_.end(); }

 private:
  std::unordered_map<Key, Value> entries_;
  std::pair<Key const, Value>* last_ = nullptr;
};

}  // namespace gpuprof::host
