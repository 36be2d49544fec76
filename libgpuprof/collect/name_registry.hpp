// Hands out name_ids to the whole process, so that a text is stored once and records carry a
// number.
#pragma once

#include "model/ids.hpp"

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof {

/// Any thread. Bounded: past the limits every new text becomes "(too many names)", and is counted.
class name_registry {
 public:
  struct limits {
    std::size_t names = 1'000'000;
    std::size_t bytes = 64u << 20;
  };
  /// Longer texts are cut.
  static constexpr std::size_t max_text = 64u << 10;

  struct entry {
    name_id id{};
    std::string_view text;  // lives as long as the registry
  };

  name_registry() : name_registry(limits{}) {}
  explicit name_registry(limits limit) : limits_(limit) { texts_.emplace_back(); }

  /// Takes the lock. Never throws: without memory the text is counted as one too many.
  entry find_or_add(std::string_view text) noexcept;
  name_id intern(std::string_view text) noexcept { return find_or_add(text).id; }

  /// Empty for an id that was never given out.
  std::string text(name_id id) const;

  /// Calls use(name_id, std::string_view) for each name added since `cursor` was last here; start
  /// with 0. The lock is not held during the calls. Id 0, the empty text, is not shown.
  template <class Use>
  void for_each_new(std::size_t& cursor, Use use) const {
    for (auto const& [id, name] : names_since(cursor)) use(id, name);
  }

  std::size_t size() const noexcept;
  /// How often a text was refused.
  std::uint64_t refused() const noexcept;

 private:
  std::vector<entry> names_since(std::size_t& cursor) const;
  entry refuse() noexcept;

  limits const limits_;
  mutable std::mutex mutex_;  // protects all below
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, name_id> ids_;
  std::size_t bytes_ = 0;
  std::uint64_t refused_ = 0;
  name_id too_many_{};
};

/// The registry of the process; never destroyed.
name_registry& names() noexcept;

}  // namespace gpuprof
