// Hands out name_ids to the whole process.
#include "collect/name_registry.hpp"

#include <new>

namespace gpuprof {

name_registry::entry name_registry::find_or_add(std::string_view text) noexcept {
  if (text.empty()) return {};
  text = text.substr(0, max_text);
  std::lock_guard const lock(mutex_);
  try {
    if (auto const found = ids_.find(text); found != ids_.end()) {
      return {found->second, found->first};
    }
    if (texts_.size() > limits_.names || bytes_ + text.size() > limits_.bytes) return refuse();
    auto const id = static_cast<name_id>(texts_.size());
    std::string_view const stored = texts_.emplace_back(text);
    try {
      ids_.emplace(stored, id);
    } catch (std::bad_alloc const&) {
      texts_.pop_back();
      throw;
    }
    bytes_ += text.size();
    return {id, stored};
  } catch (...) {  // no memory
    return refuse();
  }
}

name_registry::entry name_registry::refuse() noexcept {
  ++refused_;
  if (too_many_ == name_id{}) {
    try {
      auto const id = static_cast<name_id>(texts_.size());
      texts_.emplace_back("(too many names)");
      too_many_ = id;
    } catch (...) {
      return {};
    }
  }
  return {too_many_, {}};
}

std::string name_registry::text(name_id id) const {
  std::lock_guard const lock(mutex_);
  return raw(id) < texts_.size() ? texts_[raw(id)] : std::string{};
}

std::vector<name_registry::entry> name_registry::names_since(std::size_t& cursor) const {
  std::vector<entry> added;
  std::lock_guard const lock(mutex_);
  if (cursor == 0) cursor = 1;
  added.reserve(texts_.size() - cursor);
  for (; cursor < texts_.size(); ++cursor) {
    added.push_back({static_cast<name_id>(cursor), texts_[cursor]});
  }
  return added;
}

std::size_t name_registry::size() const noexcept {
  std::lock_guard const lock(mutex_);
  return texts_.size();
}

std::uint64_t name_registry::refused() const noexcept {
  std::lock_guard const lock(mutex_);
  return refused_;
}

name_registry& names() noexcept {
  static auto* const registry = new name_registry;
  return *registry;
}

}  // namespace gpuprof
