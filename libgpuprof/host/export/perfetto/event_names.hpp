// SPDX-License-Identifier: Apache-2.0
// Names of events, their categories and of what is noted at them, by number on a sequence.
#pragma once

#include "host/export/perfetto/sequence.hpp"
#include "model/ids.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gpuprof::perfetto {

class event_names {
 public:
  explicit event_names(sequence& on) : on_(on) {}

  /// Of a name of the capture; text() gives it when it is seen for the first time.
  template <class Text>
  std::uint64_t event(name_id id, Text&& text) {
    auto const [at, is_new] = events_.try_emplace(raw(id));
    if (is_new) at->second = add(interned_data::event_names, ++last_event_, text());
    return at->second;
  }
  /// Texts of ours, a few.
  std::uint64_t event(std::string_view text) {
    return fixed(interned_data::event_names, last_event_, text);
  }
  std::uint64_t category(std::string_view text) {
    return fixed(interned_data::event_categories, last_category_, text);
  }
  std::uint64_t annotation(std::string_view text) {
    return fixed(interned_data::debug_annotation_names, last_annotation_, text);
  }

 private:
  std::uint64_t add(interned_data field, std::uint64_t iid, std::string_view text) {
    auto data = on_.intern();
    message<interned_name> one(data, field);
    one.add_uint64(interned_name::iid, iid);
    one.add_string(interned_name::name, text.data(), text.size());
    return iid;
  }
  std::uint64_t fixed(interned_data field, std::uint64_t& last, std::string_view text) {
    auto& known = fixed_[static_cast<field_number>(field)];
    auto const found = known.find(text);
    if (found != known.end()) return found->second;
    return known.emplace(std::string(text), add(field, ++last, text)).first->second;
  }

  sequence& on_;
  std::unordered_map<std::uint32_t, std::uint64_t> events_;
  std::map<field_number, std::map<std::string, std::uint64_t, std::less<>>> fixed_;
  std::uint64_t last_event_ = 0, last_category_ = 0, last_annotation_ = 0;
};

}  // namespace gpuprof::perfetto
