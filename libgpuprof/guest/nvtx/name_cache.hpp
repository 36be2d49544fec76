// SPDX-License-Identifier: Apache-2.0
// One thread's short memory of name_ids, so that a text seen before costs no lock.
#pragma once

#include "base/memory_budget.hpp"
#include "guest/nvtx/name_registry.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace gpuprof::guest {

/// Mixes all bytes of a text, eight at a time.
std::uint64_t content_hash(std::string_view text) noexcept;

/// Owner thread only. Found by content, since a program may reuse the address for another text.
class name_cache {
 public:
  /// It grows with what it has to remember, where `budget` has room for that (null: always).
  explicit name_cache(memory_budget* budget = nullptr) noexcept : budget_(budget) {
    for (std::size_t i = 0; i < few; ++i) std::construct_at(&at(i));
  }

  name_id intern(std::string_view text, name_registry& registry = names()) noexcept {
    if (text.empty()) return {};
    auto const hash = content_hash(text);
    auto const first = hash & (slots_ - 1);
    for (auto const i : {first, first ^ 1}) {
      auto const& known = at(i);
      if (known.hash == hash && known.size == text.size() &&
          std::memcmp(known.text, text.data(), text.size()) == 0) {
        return known.id;
      }
    }
    return remember(text, hash, first, registry);
  }

  /// Forgets all, and releases what it has grown by.
  void clear() noexcept;

 private:
  static constexpr std::size_t few = 128, many = 512;
  struct slot {
    std::uint64_t hash = 0;
    char const* text = nullptr;  // in the registry
    std::uint32_t size = 0;
    name_id id{};
  };

  name_id remember(std::string_view text, std::uint64_t hash, std::size_t first,
                   name_registry& registry) noexcept;
  void grow() noexcept;
  slot& at(std::size_t i) noexcept { return known_.slots[i]; }

  /// Made when they are first used: memory of the others is not touched.
  union storage {
    storage() noexcept : none(0) {}
    char none;
    std::array<slot, many> slots;
  };
  memory_budget* budget_;
  std::size_t slots_ = few;
  std::size_t replaced_ = 0;
  storage known_;
};

}  // namespace gpuprof::guest
