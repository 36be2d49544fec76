// SPDX-License-Identifier: Apache-2.0
#include "host/report/fields.hpp"

#include "base/utf8.hpp"
#include "host/report/json_object.hpp"

namespace gpuprof::host::report {
namespace {

void append_value(std::string& out, field_value const& value) {
  if (auto const* const text = std::get_if<std::string>(&value)) {
    append_json_text(out, *text);
  } else if (auto const* const whole = std::get_if<std::uint64_t>(&value)) {
    out += std::to_string(*whole);
  } else if (auto const* const flag = std::get_if<bool>(&value)) {
    out += *flag ? "true" : "false";
  } else if (auto const* const written = std::get_if<written_value>(&value)) {
    out += written->json;
  } else {
    auto const* const number = std::get_if<double>(&value);
    append_json_number(out, number ? std::optional(*number) : std::nullopt);
  }
}

}  // namespace

text::cell cell_of(field_value const& value,
                   std::function<std::string_view(std::string)> const& keep) {
  if (auto const* const text = std::get_if<std::string>(&value)) return keep(*text);
  if (auto const* const whole = std::get_if<std::uint64_t>(&value))
    return static_cast<std::int64_t>(*whole);
  if (auto const* const number = std::get_if<double>(&value)) return text::number_cell(*number);
  if (auto const* const flag = std::get_if<bool>(&value))
    return std::string_view(*flag ? "yes" : "");
  if (auto const* const written = std::get_if<written_value>(&value)) return keep(written->cell);
  return {};
}

field_object::field_object(std::string& out) : out_(out) {
  out_ += '{';
}

void field_object::open(std::string_view group) {
  if (group == group_) return;
  if (!group_.empty()) {
    out_ += '}';
    is_first_ = false;
  }
  group_ = group;
  if (group.empty()) return;
  if (!is_first_) out_ += ", ";
  append_json_text(out_, group);
  out_ += ": {";
  is_first_ = true;
}

void field_object::add(std::string_view member, field_value const& value,
                       bool left_out_when_unknown) {
  auto const dot = member.find('.');
  open(dot == std::string_view::npos ? std::string_view() : member.substr(0, dot));
  if (left_out_when_unknown && std::holds_alternative<std::monostate>(value)) return;
  if (!is_first_) out_ += ", ";
  is_first_ = false;
  append_json_text(out_, dot == std::string_view::npos ? member : member.substr(dot + 1));
  out_ += ": ";
  append_value(out_, value);
}

void field_object::end() {
  open({});
  out_ += '}';
}

}  // namespace gpuprof::host::report
