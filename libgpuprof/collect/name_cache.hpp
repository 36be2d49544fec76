// One thread's short memory of name_ids, so that a text seen before costs no lock.
#pragma once

#include "collect/name_registry.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace gpuprof {

/// Mixes all bytes of a text, eight at a time.
std::uint64_t content_hash(std::string_view text) noexcept;

/// Owner thread only. Found by content, since a program may reuse the address for another text.
class name_cache {
 public:
  name_id intern(std::string_view text, name_registry& registry = names()) noexcept {
    if (text.empty()) return {};
    auto const hash = content_hash(text);
    auto const first = hash & (slots - 1);
    for (auto const i : {first, first ^ 1}) {
      auto const& known = known_[i];
      if (known.hash == hash && known.size == text.size() &&
          std::memcmp(known.text, text.data(), text.size()) == 0) {
        return known.id;
      }
    }
    return remember(text, hash, first, registry);
  }

 private:
  static constexpr std::size_t slots = 512;
  struct slot {
    std::uint64_t hash = 0;
    char const* text = nullptr;  // in the registry
    std::uint32_t size = 0;
    name_id id{};
  };

  name_id remember(std::string_view text, std::uint64_t hash, std::size_t first,
                   name_registry& registry) noexcept;

  std::array<slot, slots> known_{};
};

}  // namespace gpuprof
