// SPDX-License-Identifier: Apache-2.0
#include "replay/cupti/kept_texts.hpp"

#include <algorithm>

namespace gpuprof::replay {

char const* kept_texts::keep(char const* text, std::uint32_t context) {
  if (text == nullptr) return nullptr;
  std::lock_guard const hold(lock_);
  auto& place = known_[{context, text}];
  if (place != nullptr) return place->c_str();
  auto const length = std::char_traits<char>::length(text);
  auto const again = std::find_if(free_.begin(), free_.end(),
                                  [&](auto const* room) { return room->capacity() >= length; });
  if (again == free_.end()) {
    place = &texts_.emplace_back(text);
  } else {
    place = *again;
    free_.erase(again);
    place->assign(text);
  }
  return place->c_str();
}

// Made unusable: a client that still reads them shall be seen.
void kept_texts::release(std::string& text) {
  std::fill(text.begin(), text.end(), '?');
  free_.push_back(&text);
}

void kept_texts::unload(std::uint32_t context) {
  std::lock_guard const hold(lock_);
  std::erase_if(known_, [&](auto& entry) {
    if (entry.first.first != context) return false;
    release(*entry.second);
    return true;
  });
}

void kept_texts::unload_all() {
  std::lock_guard const hold(lock_);
  for (auto& [_, text] : known_) release(*text);
  known_.clear();
}

}  // namespace gpuprof::replay
