// SPDX-License-Identifier: Apache-2.0
// Describes extended payloads as compact JSON.
#include "guest/nvtx/payload.hpp"

#include "guest/nvtx/headers.hpp"
#include "guest/nvtx/payload_values.hpp"
#include "guest/nvtx/schemas.hpp"

#include <algorithm>
#include <optional>

namespace gpuprof::guest {
namespace {

constexpr std::size_t max_text = 4096;
constexpr std::size_t max_string = 256;
constexpr std::size_t max_elements = 256;
constexpr int max_depth = 8;

using bytes = std::span<std::byte const>;

constexpr std::uint64_t flag(int value) {
  return static_cast<std::uint64_t>(value);
}
constexpr auto array_bits = flag(7 << 4);
constexpr auto fixed_array = flag(NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE);
constexpr auto zero_terminated = flag(NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED);
constexpr auto length_in_entry = flag(NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX);
constexpr auto by_pointer = flag(NVTX_PAYLOAD_ENTRY_FLAG_POINTER);
constexpr auto by_offset_from_base = flag(NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE);
constexpr auto by_offset_from_here = flag(NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE);
constexpr auto indirect = by_pointer | by_offset_from_base | by_offset_from_here;

/// Returns the part of `from` from `offset` on, or nothing if that is beyond its end.
bytes tail(bytes from, std::uint64_t offset) noexcept {
  return offset <= from.size() ? from.subspan(static_cast<std::size_t>(offset)) : bytes{};
}
bytes head(bytes from, std::uint64_t size) noexcept {
  return from.first(static_cast<std::size_t>(std::min<std::uint64_t>(size, from.size())));
}

class printer {
 public:
  printer(payload_schemas const& schemas, payload_surroundings const& around)
      : schemas_(schemas), around_(around) {}

  void print_payload(payload_blob const& payload) {
    if (payload.schema == NVTX_TYPE_PAYLOAD_SCHEMA_RAW) return print_raw(payload.bytes);
    schema_entry whole;
    whole.type = payload.schema;
    auto const* schema = schemas_.find(around_.domain, payload.schema);
    if (schema != nullptr && schema->what == payload_schema::kind::structure) {
      print_structure(*schema, payload.bytes, 0);
    } else if (schema != nullptr && schema->what == payload_schema::kind::enumeration) {
      print_enum(*schema, payload.bytes);
    } else if (is_string(payload.schema)) {
      print_string(payload.schema, payload.bytes, true);
    } else {
      print_scalar(whole, payload.bytes);
    }
  }

  payload_description take() && {
    if (cut_ && out_.size() >= 2 && out_.back() == '}' && out_.front() == '{') {
      out_.pop_back();
      out_ += out_.size() > 1 ? ",\"truncated\":true}" : "\"truncated\":true}";
    }
    return {std::move(out_), std::move(message_)};
  }
  std::string& text() noexcept { return out_; }

 private:
  /// Position of an entry in the structure being printed. Other entries may refer to it.
  struct place {
    schema_entry const* entry = nullptr;
    bytes at;
  };

  bool full() noexcept {
    if (out_.size() < max_text) return false;
    cut_ = true;
    return true;
  }

  type_layout layout_of(std::uint64_t type) const noexcept {
    if (auto const* schema = schemas_.find(around_.domain, type)) {
      return {static_cast<std::uint32_t>(schema->size), static_cast<std::uint32_t>(schema->align)};
    }
    return layout_of_predefined(type);
  }

  void print_structure(payload_schema const& schema, bytes blob, int depth) {
    if (depth == max_depth) {
      cut_ = true;
      out_ += "null";
      return;
    }
    out_ += '{';
    std::vector<place> places;
    places.reserve(schema.entries.size());
    std::uint64_t end = 0;
    for (auto const& entry : schema.entries) {
      if (full()) break;
      auto layout = is_embedded_string(entry) ? type_layout{unit_of_string(entry.type), 1}
                                              : layout_of(entry.type);
      if ((entry.flags & indirect) != 0) layout = {8, 8};
      std::uint64_t align = std::max<std::uint64_t>(layout.align, 1);
      if (schema.pack_align != 0) align = std::min(align, schema.pack_align);
      auto const offset = entry.offset != 0 ? entry.offset : align_up(end, align);
      places.push_back({&entry, tail(blob, offset)});
      if (places.size() > 1) out_ += ',';
      print_name(entry, places.size() - 1);
      auto const used = print_entry(entry, blob, places, depth);
      end = offset > blob.size() ? blob.size() : offset + used;
    }
    out_ += '}';
  }

  void print_name(schema_entry const& entry, std::size_t index) {
    if (entry.name.empty()) {
      append_json_text(out_, "field" + std::to_string(index));
    } else {
      append_json_text(out_, std::string_view(entry.name).substr(0, max_string));
    }
    out_ += ':';
  }

  /// Prints the value at the last of `places`, or the one it points to. Returns how many bytes it
  /// takes there.
  std::uint64_t print_entry(schema_entry const& entry, bytes blob, std::vector<place> const& places,
                            int depth) {
    auto const at = places.back().at;
    auto const count = element_count(entry, places);
    if ((entry.flags & indirect) == 0) return print_here(entry, at, count, places, depth);
    auto const target = follow(entry, blob, at, count);
    if (target) {
      print_here(entry, *target, count, places, depth);
    } else {
      out_ += "null";
    }
    return 8;
  }

  /// Returns the number of elements of an array, or nothing if the entry is not an array or is
  /// zero-terminated.
  std::optional<std::uint64_t> element_count(schema_entry const& entry,
                                             std::vector<place> const& places) const {
    auto const kind = entry.flags & array_bits;
    if (kind == fixed_array) return entry.detail;
    if (kind == 0 && is_string(entry.type) && entry.detail > 0) return entry.detail;
    if (kind != length_in_entry) return std::nullopt;
    if (entry.detail >= places.size() - 1) return 0;  // must be an earlier entry
    auto const& where = places[static_cast<std::size_t>(entry.detail)];
    if ((where.entry->flags & (array_bits | indirect)) != 0) return 0;
    return read_unsigned(where.entry->type, where.at).value_or(0);
  }

  std::optional<bytes> follow(schema_entry const& entry, bytes blob, bytes at,
                              std::optional<std::uint64_t> count) {
    auto const value = read_unsigned(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, at);
    if (!value) return std::nullopt;
    if ((entry.flags & by_offset_from_base) != 0) return tail(blob, *value);
    // NVTX: "Offset from the end of this payload entry."
    if ((entry.flags & by_offset_from_here) != 0) return tail(tail(at, 8), *value);
    auto const unit = is_string(entry.type) ? unit_of_string(entry.type)
                                            : std::max(layout_of(entry.type).size, 1u);
    auto const ends_with_zero =
        (entry.flags & array_bits) == zero_terminated || (is_string(entry.type) && !count);
    auto const wanted = ends_with_zero ? max_elements : std::min(count.value_or(1), max_count);
    return read_memory(*value, unit, wanted, ends_with_zero);
  }

  /// Reads memory outside of the payload. If its length is unknown, reads in small steps, so that a
  /// text right before an unmapped page is still read.
  std::optional<bytes> read_memory(std::uint64_t address, std::uint64_t unit, std::uint64_t count,
                                   bool ends_with_zero) {
    if (around_.read_memory == nullptr || address == 0) return std::nullopt;
    auto const size = static_cast<std::size_t>(std::min<std::uint64_t>(unit * count, 4096));
    auto& copy = copies_.emplace_back(std::make_unique<std::byte[]>(size + 8));
    std::size_t have = 0;
    while (have < size) {
      auto const step = ends_with_zero ? std::min<std::size_t>(size - have, 16) : size;
      std::span const into{copy.get() + have, step};
      if (!around_.read_memory(address + have, into)) break;
      have += step;
      if (ends_with_zero && contains_zero({copy.get(), have}, unit)) break;
    }
    if (have == 0 && size > 0) return std::nullopt;
    return bytes{copy.get(), have};
  }

  static bool contains_zero(bytes text, std::uint64_t unit) noexcept {
    for (std::size_t i = 0; i + unit <= text.size(); i += static_cast<std::size_t>(unit)) {
      auto const element = text.subspan(i, static_cast<std::size_t>(unit));
      if (std::ranges::all_of(element, [](std::byte b) { return b == std::byte{0}; })) return true;
    }
    return false;
  }

  std::uint64_t print_here(schema_entry const& entry, bytes at, std::optional<std::uint64_t> count,
                           std::vector<place> const& places, int depth) {
    auto const kind = entry.flags & array_bits;
    if (is_string(entry.type)) return print_string_entry(entry, at, count);
    if (kind == 0) return print_value(entry, at, places, depth);
    if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_CHAR) {
      auto const size = count.value_or(at.size());
      print_string(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, head(at, size), !count);
      return count ? size : length_to_zero(at, 1);
    }
    return print_array(entry, at, count, places, depth);
  }

  std::uint64_t print_array(schema_entry const& entry, bytes at, std::optional<std::uint64_t> count,
                            std::vector<place> const& places, int depth) {
    auto const size = layout_of(entry.type).size;
    auto const length = size == 0 ? 0 : at.size() / size;
    auto const present = std::min({count.value_or(length), std::uint64_t{length}, max_count});
    out_ += '[';
    std::uint64_t i = 0;
    for (; i < present; ++i) {
      auto const element = tail(at, i * size);
      if (!count && contains_zero(head(element, size), size)) break;
      if (i == max_elements) cut_ = true;
      if (i >= max_elements || full()) {
        if (count) break;
        continue;  // continue until the terminating zero
      }
      if (i > 0) out_ += ',';
      print_value(entry, element, places, depth);
    }
    out_ += ']';
    if (count) return std::min<std::uint64_t>(*count, max_count) * size;
    return (i < present ? i + 1 : i) * size;
  }

  std::uint64_t print_string_entry(schema_entry const& entry, bytes at,
                                   std::optional<std::uint64_t> count) {
    auto const unit = unit_of_string(entry.type);
    auto const start = out_.size();
    std::uint64_t used = 8;
    if ((entry.flags & indirect) != 0 || (entry.flags & array_bits) == zero_terminated) {
      print_string(entry.type, count ? head(at, std::min(*count, max_count) * unit) : at, true);
      used = length_to_zero(at, unit);
    } else if (count) {
      used = std::min(*count, max_count) * unit;
      print_string(entry.type, head(at, used), true);
    } else {  // a `char const*` in the payload
      auto const address = read_unsigned(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, at);
      auto const text = address ? read_memory(*address, unit, max_string, true) : std::nullopt;
      if (text) {
        print_string(entry.type, *text, true);
      } else {
        out_ += "null";
      }
    }
    keep_message(entry, start);
    return used;
  }

  void keep_message(schema_entry const& entry, std::size_t start) {
    // RANGE_BEGIN and the like use higher bits, and TIMESTAMP has its own bit. Only this bit marks
    // the event's message.
    if ((entry.flags & flag(NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE)) == 0) return;
    if (message_.empty() && last_string_.size() > 0 && out_.size() > start) message_ = last_string_;
  }

  void print_string(std::uint64_t type, bytes at, bool stop_at_zero) {
    last_string_ = string_to_utf8(type, at, stop_at_zero, max_string);
    append_json_text(out_, last_string_);
  }

  std::uint64_t print_value(schema_entry const& entry, bytes at, std::vector<place> const& places,
                            int depth) {
    auto const* schema = schemas_.find(around_.domain, entry.type);
    if (schema == nullptr) {
      print_scalar(entry, at);
      return layout_of_predefined(entry.type).size;
    }
    switch (schema->what) {
      case payload_schema::kind::structure:
        print_structure(*schema, head(at, schema->size == 0 ? at.size() : schema->size), depth + 1);
        break;
      case payload_schema::kind::choice:
        print_chosen(*schema, entry, at, places, depth);
        break;
      case payload_schema::kind::enumeration:
        print_enum(*schema, at);
        break;
    }
    return schema->size;
  }

  /// Prints a union. An earlier integer entry says which member is valid.
  void print_chosen(payload_schema const& schema, schema_entry const& entry, bytes at,
                    std::vector<place> const& places, int depth) {
    std::optional<std::uint64_t> chosen;
    if (entry.detail < places.size() - 1) {
      auto const& selector = places[static_cast<std::size_t>(entry.detail)];
      if ((selector.entry->flags & (array_bits | indirect)) == 0) {
        chosen = read_unsigned(selector.entry->type, selector.at);
      }
    }
    if (!chosen || *chosen >= schema.entries.size() || depth + 1 >= max_depth) {
      out_ += "null";
      return;
    }
    auto const index = static_cast<std::size_t>(*chosen);
    auto const& member = schema.entries[index];
    out_ += '{';
    print_name(member, index);
    std::vector<place> const inside{{&member, tail(at, member.offset)}};
    print_entry(member, at, inside, depth + 1);
    out_ += '}';
  }

  void print_enum(payload_schema const& schema, bytes at) {
    auto const value = read_little(at, schema.size);
    if (!value) {
      out_ += "null";
      return;
    }
    auto const name = name_of_value(schema, *value);
    if (name.empty()) {
      append_json(out_, *value);
    } else {
      append_json_text(out_, std::string_view(name).substr(0, max_string));
    }
  }

  void print_scalar(schema_entry const& entry, bytes at) {
    if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE) {
      auto const handle = read_unsigned(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, at);
      if (!handle || around_.registered_text == nullptr) {
        out_ += "null";
        return;
      }
      auto const start = out_.size();
      last_string_ = around_.registered_text(*handle).substr(0, max_string);
      append_json_text(out_, last_string_);
      keep_message(entry, start);
      return;
    }
    append_value(out_, entry.type, at);
  }

  void print_raw(bytes blob) {
    constexpr char digits[] = "0123456789abcdef";
    out_ += "{\"raw\":\"";
    for (auto const b : head(blob, max_string)) {
      out_ += digits[std::to_integer<unsigned>(b) >> 4];
      out_ += digits[std::to_integer<unsigned>(b) & 15];
    }
    out_ += "\"}";
    if (blob.size() > max_string) cut_ = true;
  }

  static constexpr std::uint64_t max_count = 1u << 20;

  payload_schemas const& schemas_;
  payload_surroundings const& around_;
  std::string out_;
  std::string message_;
  std::string last_string_;
  std::vector<std::unique_ptr<std::byte[]>> copies_;  // memory read from outside the payload
  bool cut_ = false;
};

}  // namespace

payload_description describe_payloads(std::span<payload_blob const> payloads,
                                      payload_schemas const& schemas,
                                      payload_surroundings const& around) {
  std::vector<payload_description> shown;
  std::size_t size = 0;
  for (auto const& payload : payloads) {
    // A referenced payload is only printed where another one points to it.
    if (payload.schema == NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED) continue;
    if (shown.size() == max_depth || size > max_text) break;
    printer print(schemas, around);
    print.print_payload(payload);
    size += shown.emplace_back(std::move(print).take()).json.size();
  }
  if (shown.empty()) return {};
  if (shown.size() == 1) return std::move(shown.front());
  payload_description all;
  for (auto& one : shown) {
    all.json += all.json.empty() ? '[' : ',';
    all.json += one.json;
    if (all.message.empty()) all.message = std::move(one.message);
  }
  all.json += ']';
  return all;
}

}  // namespace gpuprof::guest
