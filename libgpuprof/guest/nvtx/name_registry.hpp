// SPDX-License-Identifier: Apache-2.0
// Assigns name_ids for the whole process, so that each text is stored once and records hold a
// number.
#pragma once

#include "base/ledger.hpp"
#include "base/memory_budget.hpp"
#include "model/ids.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::guest {

/// The kind of text, which selects its limits. A program may make up a name for each request. This
/// must not use up the room for names of kernels, GPUs and facts.
enum class name_place {
  own,
  program,  // NVTX texts, names of threads
  payload,  // NVTX payloads, as JSON
};

/// Can be used on any thread. The size is limited. Beyond the limits of its place, or of memory, a
/// new text of the program becomes the pattern that it shares with others, a payload becomes the
/// empty text, and any other becomes "(too many names)". All of these are counted.
class name_registry {
 public:
  struct limits {
    std::size_t names = 1'000'000;  // `names` and `bytes` apply to each place
    std::size_t bytes = 64u << 20;
    std::size_t groups = 10'000;  // patterns by words; the same number by first word
  };
  /// Longer texts are cut.
  static constexpr std::size_t max_text = 64u << 10;

  struct entry {
    name_id id{};
    std::string_view text;  // lives as long as the registry
  };

  name_registry() : name_registry(limits{}) {}
  explicit name_registry(limits limit) : limits_(limit) { texts_.emplace_back(); }

  /// Takes the lock. Never throws: if there is no memory, the text is refused and counted. The
  /// entry has no text if its id stands for other texts too.
  entry find_or_add(std::string_view text, name_place place) noexcept;
  name_id intern(std::string_view text, name_place place = name_place::own) noexcept {
    return find_or_add(text, place).id;
  }

  /// Returns the empty text for an unknown id.
  std::string text(name_id id) const;

  /// From now on, all names count against `budget`, also existing ones. Texts of the program may
  /// use a quarter of it, payloads an eighth, and all others a quarter: these are kept even if
  /// buffers have used up the budget. It must live as long as the registry.
  void count_against(memory_budget& budget) noexcept;
  /// Returns roughly how much memory all names use.
  std::size_t memory() const noexcept;

  /// Calls use(name_id, std::string_view) for each name added since the last call with this
  /// `cursor` (start with 0). The lock is not held during the calls. Id 0, the empty text, is
  /// skipped.
  template <class Use>
  void for_each_new(std::size_t& cursor, Use use) const {
    for (auto const& [id, name] : names_since(cursor)) use(id, name);
  }

  std::size_t size() const noexcept;
  /// Number of texts that were refused.
  std::uint64_t refused() const noexcept;
  /// Number of times that a text of the program got an id that it shares with similar texts.
  std::uint64_t grouped() const noexcept;
  void report(ledger& to) const {
    to.add("lost.names", refused());
    to.add("note.names_grouped", grouped());
  }

 private:
  struct occupancy {
    std::size_t names = 0, bytes = 0;
    std::size_t memory(std::size_t more_text = 0) const noexcept {
      return bytes + more_text + (names + (more_text != 0)) * bytes_beside_text;
    }
  };
  /// Size of the string, the map node and its bucket, as allocated by glibc.
  static constexpr std::size_t bytes_beside_text = 112;

  std::vector<entry> names_since(std::size_t& cursor) const;
  entry add(std::string_view text);
  entry group(std::string_view text);
  entry find_or_add_group(std::string_view common, std::size_t max_groups);
  entry refuse() noexcept;
  bool find_room(name_place place, std::size_t text_bytes) noexcept;
  std::size_t memory_of_all() const noexcept;

  limits const limits_;
  mutable std::mutex mutex_;  // protects everything below
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, name_id> ids_;
  std::array<occupancy, 3> places_;  // by name_place
  occupancy of_groups_;
  memory_budget* budget_ = nullptr;
  std::size_t groups_ = 0;
  std::uint64_t refused_ = 0, grouped_ = 0;
  name_id too_many_{};
};

/// The registry of the process, never destroyed. The first call throws if there is no memory for
/// it, so the profiler makes that call before any noexcept code needs the registry.
name_registry& names();

// A small cache of name_ids for one thread, so that a known text needs no lock.

/// Mixes all bytes of a text, eight at a time.
std::uint64_t content_hash(std::string_view text) noexcept;

/// Used by the owner thread only. Looks up by content, since a program may reuse the address for
/// another text.
class name_cache {
 public:
  /// The cache grows when it needs to, if `budget` has room for that. Null means no limit.
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

  /// The same for a text that ends with a zero; the part beyond `max_size` is cut. Mostly the text
  /// at an address is the one that was there before, which takes one comparison.
  name_id intern(char const* text, std::size_t max_size) noexcept {
    auto const address = reinterpret_cast<std::uintptr_t>(text);
    auto& hint = hints_[(address >> 3 ^ address >> 9) % hints_.size()];
    auto const& known = at(hint);
    if (known.text != nullptr && std::strcmp(known.text, text) == 0) return known.id;
    return intern_at_new_place(text, max_size, hint);
  }

  /// Removes everything and releases the memory by which it has grown.
  void clear() noexcept;

 private:
  static constexpr std::size_t few = 128, many = 512;
  struct slot {
    std::uint64_t hash = 0;
    char const* text = nullptr;  // points into the registry; ends with the only zero
    std::uint32_t size = 0;
    name_id id{};
  };

  name_id remember(std::string_view text, std::uint64_t hash, std::size_t first,
                   name_registry& registry) noexcept;
  name_id intern_at_new_place(char const* text, std::size_t max_size, std::uint16_t& hint) noexcept;
  void grow() noexcept;
  slot& at(std::size_t i) noexcept { return known_.slots[i]; }

  /// Slots are constructed when they are first used, so that the memory of unused slots is not
  /// touched.
  union storage {
    storage() noexcept : none(0) {}
    char none;
    std::array<slot, many> slots;
  };
  memory_budget* budget_;
  std::size_t slots_ = few;
  std::size_t replaced_ = 0;
  std::array<std::uint16_t, 64> hints_{};  // by the text's address: the slot where it was
  storage known_;
};

}  // namespace gpuprof::guest
