// SPDX-License-Identifier: Apache-2.0
#include "guest/stacks/module_name.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>

namespace gpuprof::guest {
namespace {

constexpr std::size_t word = sizeof(void*);
// The same in CPython 3.11 to 3.15: PyObject, PyTypeObject, PyDictObject, PyDictKeysObject.
constexpr std::size_t type_of_object = 8;
constexpr std::size_t name_of_type = 24, size_of_type = 32, flags_of_type = 168;
constexpr std::uint64_t has_managed_dict = 1 << 4, has_inline_values = 1 << 2, is_dict = 1 << 29;
constexpr std::size_t keys_of_dict =
    32;  // and behind it the values, of dicts that share their keys
constexpr std::size_t index_log_of_keys = 9, kind_of_keys = 10, size_of_keys = 24, end_of_keys = 32;
constexpr std::uint8_t keys_with_hashes = 0;

constexpr std::size_t most_looked_into = 64, most_steps = 3, most_entries = 4096;

using address = std::byte const*;

frames_of_other const any_memory{0, nullptr, nullptr, {}};  // reads through the kernel

template <class T>
bool read(address from, T& into) noexcept {
  return any_memory.copy(from, std::as_writable_bytes(std::span(&into, 1)));
}

/// The keys of a dict, or of the attributes of an object, and their values.
struct table {
  address entries = nullptr;
  std::size_t size = 0, entry_bytes = 0;
  address values = nullptr;  // null: they stand beside their keys

  /// Calls use(entry, key, value) until it returns true. Returns false if it never does.
  template <class Use>
  bool any(Use use) const noexcept {
    constexpr std::size_t at_once = 32;
    std::array<address, 3 * at_once> words;
    std::array<address, at_once> apart;
    auto const key_at = entry_bytes / word - 2;
    for (std::size_t i = 0; i < size; i += at_once) {
      auto const count = std::min(at_once, size - i);
      auto const begin = python_runtime::behind(entries, i * entry_bytes);
      if (!any_memory.copy(begin,
                           std::as_writable_bytes(std::span(words)).first(count * entry_bytes)))
        return false;
      if (values != nullptr &&
          !any_memory.copy(python_runtime::behind(values, i * word),
                           std::as_writable_bytes(std::span(apart)).first(count * word)))
        return false;
      for (std::size_t k = 0; k < count; ++k) {
        auto const* const entry = &words[k * entry_bytes / word + key_at];
        auto const value = values != nullptr ? apart[k] : entry[1];
        if (entry[0] != nullptr && value != nullptr &&
            use(python_runtime::behind(begin, k * entry_bytes + key_at * word), entry[0], value))
          return true;
      }
    }
    return false;
  }
};

std::optional<table> table_of(address keys, address values) noexcept {
  std::array<std::byte, end_of_keys> head;
  if (keys == nullptr || !any_memory.copy(keys, head)) return std::nullopt;
  auto const index_log = std::to_integer<unsigned>(head[index_log_of_keys]);
  std::size_t size = 0;
  std::memcpy(&size, head.data() + size_of_keys, sizeof size);
  if (index_log > 20 || size > most_entries) return std::nullopt;
  auto const has_hashes = std::to_integer<std::uint8_t>(head[kind_of_keys]) == keys_with_hashes;
  return table{.entries = python_runtime::behind(keys, end_of_keys + (std::size_t{1} << index_log)),
               .size = size,
               .entry_bytes = (has_hashes ? 3 : 2) * word,
               .values = values};
}

class objects {
 public:
  explicit objects(python_runtime const& python) noexcept : python_(python) {}

  std::optional<table> dict(address object) const noexcept {
    address type = nullptr;
    std::uint64_t flags = 0;
    std::array<address, 2> tables{};
    if (object == nullptr || !read(python_runtime::behind(object, type_of_object), type) ||
        !read(python_runtime::behind(type, flags_of_type), flags) || (flags & is_dict) == 0 ||
        !read(python_runtime::behind(object, keys_of_dict), tables))
      return std::nullopt;
    auto const& layout = python_.layout();
    return table_of(tables[0], tables[1] != nullptr
                                   ? python_runtime::behind(tables[1], layout.values_begin)
                                   : nullptr);
  }

  std::optional<table> attributes(address object) const noexcept {
    using style = python_layout::attributes;
    auto const& layout = python_.layout();
    address type = nullptr;
    std::uint64_t flags = 0;
    std::array<std::uintptr_t, 2> before{};  // four and three words before the object
    if (!read(python_runtime::behind(object, type_of_object), type) ||
        !read(python_runtime::behind(type, flags_of_type), flags) ||
        (flags & has_managed_dict) == 0 ||
        !read(python_runtime::behind(object, std::size_t{0} - 4 * word), before))
      return std::nullopt;
    auto const is_tagged = layout.values == style::tagged_pointer && (before[1] & 1) != 0;
    if (before[1] != 0 && !is_tagged) return dict(reinterpret_cast<address>(before[1]));
    address keys = nullptr, values = nullptr;
    std::int64_t size = 0;
    if (!read(python_runtime::behind(type, layout.type_keys), keys)) return std::nullopt;
    if (layout.values == style::behind_pointer) {
      values = reinterpret_cast<address>(before[0]);
    } else if (is_tagged) {
      values = reinterpret_cast<address>(before[1] + 1);
    } else if ((flags & has_inline_values) != 0 &&
               read(python_runtime::behind(type, size_of_type), size) && size > 0) {
      values = python_runtime::behind(object, static_cast<std::size_t>(size) + layout.values_begin);
    }
    return values != nullptr ? table_of(keys, values) : std::nullopt;
  }

  /// The dict of the modules that a module holds.
  std::optional<table> modules_in(address module) const noexcept {
    // Names of attributes are interned: this one has mostly the same address again.
    static std::atomic<address> known_key{nullptr};
    auto const all = attributes(module);
    if (!all) return std::nullopt;
    auto const known = known_key.load(std::memory_order_relaxed);
    address found = nullptr;
    auto const is_known = [&](address, address key, address value) {
      if (key == known) found = value;
      return found != nullptr;
    };
    auto const has_its_name = [&](address, address key, address value) {
      std::array<char, 16> text;
      if (python_.text(any_memory, key, text) != "_modules") return false;
      known_key.store(key, std::memory_order_relaxed);
      found = value;
      return true;
    };
    if (!all->any(is_known)) all->any(has_its_name);
    return dict(found);
  }

  std::string_view text(address object, std::span<char> into) const noexcept {
    return python_.text(any_memory, object, into);
  }

 private:
  python_runtime const& python_;
};

/// Returns the bytes used. The class of an object is a text that ends with a zero.
std::size_t put_class(address object, std::span<char> into) noexcept {
  address type = nullptr, name = nullptr;
  if (!read(python_runtime::behind(object, type_of_object), type) ||
      !read(python_runtime::behind(type, name_of_type), name))
    return 0;
  std::size_t used = 0;
  constexpr std::size_t piece = 32;  // divides the size of a page
  while (used < into.size()) {
    auto const at = python_runtime::behind(name, used);
    auto const bytes =
        std::min(into.size() - used, piece - reinterpret_cast<std::uintptr_t>(at) % piece);
    auto const part = into.subspan(used, bytes);
    if (!any_memory.copy(at, std::as_writable_bytes(part))) return 0;
    auto const length = strnlen(part.data(), bytes);
    used += length;
    if (length < bytes) break;
  }
  return used;
}

struct node {
  address module, key;
  std::size_t outer, steps;
};

/// Returns the bytes used for the path; 0 if there is none.
std::size_t put_path(objects const& python, address outer, address module, std::span<char> into,
                     module_place& place) noexcept {
  std::array<node, 256> nodes;
  std::size_t count = 1;
  nodes[0] = {outer, nullptr, 0, 0};
  for (std::size_t i = 0; i < count && i < most_looked_into; ++i) {
    auto const inside = python.modules_in(nodes[i].module);
    if (!inside) continue;
    auto const is_found = inside->any([&](address entry, address key, address value) {
      if (value == module) {
        place = {inside->values == nullptr ? entry : nullptr, key};
        return true;
      }
      if (nodes[i].steps + 1 < most_steps && count < nodes.size())
        nodes[count++] = {value, key, i, nodes[i].steps + 1};
      return false;
    });
    if (!is_found) continue;
    std::array<address, most_steps> keys{};
    std::size_t steps = 0;
    keys[steps++] = place.key;
    for (auto at = i; at != 0; at = nodes[at].outer) keys[steps++] = nodes[at].key;
    std::size_t used = 0;
    while (steps-- > 0 && used < into.size()) {
      auto const part = python.text(keys[steps], into.subspan(used));
      if (part.empty()) return 0;
      used += part.size();
      if (steps != 0 && used < into.size()) into[used++] = '.';
    }
    return used;
  }
  return 0;
}

}  // namespace

std::string_view module_name(python_runtime const& python, std::byte const* outer,
                             std::byte const* module, std::span<char> into,
                             module_place& place) noexcept {
  constexpr std::size_t for_class = 128;
  constexpr std::string_view between = ": ";
  place = {};
  if (module == nullptr || into.size() < 2 * for_class) return {};
  std::array<char, for_class> name;
  auto const length = put_class(module, name);
  if (length == 0) return {};
  std::size_t used = 0;
  if (outer != nullptr)
    used = put_path(objects(python), outer, module,
                    into.first(into.size() - for_class - between.size()), place);
  used += between.copy(into.data() + used, between.size());
  std::copy_n(name.data(), length, into.data() + used);
  return {into.data(), used + length};
}

known_module_names::known& known_module_names::find(std::byte const* outer,
                                                    std::byte const* module) noexcept {
  auto const mixed =
      (reinterpret_cast<std::uintptr_t>(outer) * 31 + reinterpret_cast<std::uintptr_t>(module)) *
      0x9E3779B97F4A7C15ull;
  auto& known = all_[mixed >> 56];
  std::array<std::byte const*, 2> now{};
  if (known.outer == outer && known.module == module && known.place.entry != nullptr &&
      (!read(known.place.entry, now) || now[0] != known.place.key || now[1] != module))
    known = {};
  return known;
}

}  // namespace gpuprof::guest
