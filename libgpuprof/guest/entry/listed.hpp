// SPDX-License-Identifier: Apache-2.0
// Structs that are handed to the program as a list of pointers, and stay where they are.
#pragma once

#include <deque>
#include <utility>
#include <vector>

namespace gpuprof::guest {

template <class Struct>
class listed {
 public:
  /// Where it stays.
  Struct& add(Struct made) {
    auto& kept = kept_.emplace_back(std::move(made));
    pointers_.push_back(&kept);
    return kept;
  }
  Struct const* const* data() const noexcept { return pointers_.data(); }
  std::size_t size() const noexcept { return pointers_.size(); }

 private:
  std::deque<Struct> kept_;
  std::vector<Struct const*> pointers_;
};

}  // namespace gpuprof::guest
