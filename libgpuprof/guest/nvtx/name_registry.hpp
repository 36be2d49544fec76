// SPDX-License-Identifier: Apache-2.0
// Hands out name_ids to the whole process, so that a text is stored once and records carry a
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

/// Whose place a new text takes. A program may make up a name for each of its requests: those of
/// kernels, GPUs and facts are kept all the same.
enum class name_place {
  own,
  program,  // NVTX texts, names of threads
  payload,  // of NVTX, as JSON
};

/// Any thread. Bounded: past the limits of its place, or of memory, a new text of the program
/// becomes what it has in common with others; a payload becomes the empty text; any other becomes
/// "(too many names)". All are counted.
class name_registry {
 public:
  struct limits {
    std::size_t names = 1'000'000;  // these two of each place
    std::size_t bytes = 64u << 20;
    std::size_t groups = 10'000;  // by their words; and as many by the first word
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
  /// The entry has no text when it stands for more than the text that was asked for.
  entry find_or_add(std::string_view text, name_place place) noexcept;
  name_id intern(std::string_view text, name_place place = name_place::own) noexcept {
    return find_or_add(text, place).id;
  }

  /// Empty for an id that was never given out.
  std::string text(name_id id) const;

  /// Names count against `budget` from now on, those that are there as well. Texts of the program
  /// may have a quarter of it, payloads an eighth, all others a quarter: these are kept even when
  /// buffers have used it up. It must live as long as the registry.
  void count_against(memory_budget& budget) noexcept;
  /// What all names take, about.
  std::size_t memory() const noexcept;

  /// Calls use(name_id, std::string_view) for each name added since `cursor` was last here; start
  /// with 0. The lock is not held during the calls. Id 0, the empty text, is not shown.
  template <class Use>
  void for_each_new(std::size_t& cursor, Use use) const {
    for (auto const& [id, name] : names_since(cursor)) use(id, name);
  }

  std::size_t size() const noexcept;
  /// How often a text was refused.
  std::uint64_t refused() const noexcept;
  /// How often a text of the program was given an id that it shares with others like it.
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
  /// The string, the node of the map and its place there, as glibc gives them out.
  static constexpr std::size_t bytes_beside_text = 112;

  std::vector<entry> names_since(std::size_t& cursor) const;
  entry add(std::string_view text);
  entry group(std::string_view text);
  entry find_or_add_group(std::string_view common, std::size_t max_groups);
  entry refuse() noexcept;
  bool find_room(name_place place, std::size_t text_bytes) noexcept;
  std::size_t memory_of_all() const noexcept;

  limits const limits_;
  mutable std::mutex mutex_;  // protects all below
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, name_id> ids_;
  std::array<occupancy, 3> places_;  // by name_place
  occupancy of_groups_;
  memory_budget* budget_ = nullptr;
  std::size_t groups_ = 0;
  std::uint64_t refused_ = 0, grouped_ = 0;
  name_id too_many_{};
};

/// The registry of the process; never destroyed. The first call throws when there is no memory for
/// it: the profiler makes it before anything that may not throw can ask for it.
name_registry& names();

// One thread's short memory of name_ids, so that a text seen before costs no lock.

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
