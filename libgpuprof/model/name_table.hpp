// SPDX-License-Identifier: Apache-2.0
// Assigns a small number to each distinct text: the name_id in records.
#pragma once

#include "model/ids.hpp"

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gpuprof {

/// Not thread-safe. Texts keep their address for the table's lifetime. Id 0 is the empty text.
class name_table {
 public:
  name_table() { texts_.emplace_back(); }

  name_id intern(std::string_view text) {
    if (text.empty()) return name_id{0};
    if (auto const found = ids_.find(text); found != ids_.end()) return found->second;
    auto const id = static_cast<name_id>(texts_.size());
    ids_.emplace(texts_.emplace_back(text), id);
    return id;
  }

  /// Returns the text of an id, or an empty text if the id was never assigned.
  std::string_view text(name_id id) const noexcept {
    return raw(id) < texts_.size() ? std::string_view{texts_[raw(id)]} : std::string_view{};
  }

  /// Assigned ids are 0 .. size()-1, in order of first use.
  std::size_t size() const noexcept { return texts_.size(); }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, name_id> ids_;
};

}  // namespace gpuprof
