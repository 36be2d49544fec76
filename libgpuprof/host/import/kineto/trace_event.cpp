// SPDX-License-Identifier: Apache-2.0
#include "host/import/kineto/trace_event.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace gpuprof::host {
namespace {

using token = json_scanner::token;

std::optional<std::int64_t> integer_in(std::string_view text) {
  std::int64_t value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {  // the upper half of 64 bits
    std::uint64_t large = 0;
    std::from_chars(text.data(), text.data() + text.size(), large);
    return static_cast<std::int64_t>(large);
  }
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

/// A number, also one that is written as a text.
std::optional<std::int64_t> whole_number_in(std::string_view text) {
  auto const digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  return integer_in(text);
}

struct integer_argument {
  std::string_view key;
  std::optional<std::int64_t> trace_event::*member;
};
constexpr integer_argument integers[] = {
    {"correlation", &trace_event::correlation},
    {"device", &trace_event::device},
    {"context", &trace_event::context},
    {"stream", &trace_event::stream},
    {"bytes", &trace_event::bytes},
    {"registers per thread", &trace_event::registers},
    {"shared memory", &trace_event::shared_memory},
    {"graph id", &trace_event::graph},
    {"graph node id", &trace_event::node},
    {"wait_on_cuda_event_id", &trace_event::event},
    {"inside the call of correlation", &trace_event::correlation},
    {"length is that of correlation", &trace_event::time_of},
    {"thread", &trace_event::launching_thread},
    {"category", &trace_event::kind},
    {"In msg nelems", &trace_event::elements_in},
    {"Out msg nelems", &trace_event::elements_out},
    {"Group size", &trace_event::group_size},
    {"Sequence number", &trace_event::sequence},
    {"Fwd thread id", &trace_event::forward_thread},
    {"Device Id", &trace_event::device},
    {"Bytes", &trace_event::bytes},
};

struct text_argument {
  std::string_view key;
  std::string trace_event::*member;
};
constexpr text_argument texts[] = {{"cuda_sync_kind", &trace_event::wait_kind},
                                   {"name", &trace_event::object_name},
                                   {"domain", &trace_event::domain},
                                   {"range", &trace_event::range},
                                   {"trigger", &trace_event::trigger},
                                   {"Collective name", &trace_event::collective},
                                   {"dtype", &trace_event::element_type},
                                   {"Process Group Name", &trace_event::group_name},
                                   {"Process Group Ranks", &trace_event::group_ranks}};

/// After its `array`.
void read_extent(json_scanner& from, std::array<std::int64_t, 3>& extent) {
  std::size_t count = 0;
  for (auto value = from.next(); !is_over(value); value = from.next()) {
    if (value == token::number && count < extent.size())
      extent[count++] = integer_in(from.text()).value_or(0);
    from.skip(value);
  }
}

/// After its `array`: "[[64, 3], []]". Longer ones end in "...".
std::string numbers_in_array(json_scanner& from) {
  constexpr std::size_t longest = 200;
  std::string text = "[";
  std::size_t depth = 1;
  while (depth > 0) {
    auto const value = from.next();
    if (value == token::finished || value == token::damaged) return {};
    if (value == token::end) {
      --depth;
      text += ']';
    } else if (value == token::array || value == token::number) {
      if (!text.ends_with('[')) text += ", ";
      if (value == token::array) ++depth;
      text += value == token::array ? "[" : from.text();
    } else {
      from.skip(value);
    }
    if (text.size() > longest) text.replace(longest, std::string::npos, "...");
  }
  return text;
}

void take_argument(json_scanner& from, std::string const& key, token value, trace_event& event) {
  auto const is_scalar = value == token::number || value == token::text;
  for (auto const& argument : integers)
    if (argument.key == key) {
      if (is_scalar) event.*argument.member = integer_in(from.text());
      return from.skip(value);
    }
  if (value == token::array && (key == "Input Dims" || key == "Process Group Ranks")) {
    auto& to = key == "Input Dims" ? event.input_shapes : event.group_ranks;
    to = numbers_in_array(from);
    return;
  }
  if (value == token::array && (key == "grid" || key == "block"))
    return read_extent(from, key == "grid" ? event.grid : event.block);
  if (value == token::text)
    for (auto const& argument : texts)
      if (argument.key == key) event.*argument.member = from.text();
  if (key == "made by gpuprof") event.is_made = true;
  if (key == "end" && value == token::text) event.is_open = true;
  if (key == "style" && value == token::text) event.is_start_end = true;
  if (key == "launched" && value == token::number) event.launched = nanoseconds_in(from.text());
  if (key == "payload" && is_scalar) {
    event.payload = from.text();
    event.payload_is_text = value == token::text;
  }
  auto const real = [&] { return std::strtod(std::string(from.text()).c_str(), nullptr); };
  if (value == token::number && (key == "flops" || key == "declared FLOP")) event.flops = real();
  if (value == token::number && key == "declared bytes") event.declared_bytes = real();
  from.skip(value);
}

/// After its `object`.
void read_arguments(json_scanner& from, trace_event& event) {
  std::string key;
  for (auto next = from.next(); !is_over(next); next = from.next()) {
    if (next != token::key) {
      from.skip(next);
      continue;
    }
    key = from.text();
    auto const value = from.next();
    if (is_over(value)) return;
    take_argument(from, key, value, event);
  }
}

void take_member(json_scanner& from, std::string const& key, token value, trace_event& event) {
  if (key == "args" && value == token::object) return read_arguments(from, event);
  if (value != token::number && value != token::text) return from.skip(value);
  auto const text = from.text();
  if (key == "ph") event.phase = text;
  if (key == "cat") event.category = text;
  if (key == "name") event.name = text;
  if (key == "ts") event.start = nanoseconds_in(text);
  if (key == "dur") event.duration = nanoseconds_in(text);
  if (key == "pid") event.process = whole_number_in(text);
  if (key == "tid") event.thread = whole_number_in(text);
  if (key == "tid" && !event.thread) event.thread_text = text;
}

}  // namespace

std::optional<std::int64_t> nanoseconds_in(std::string_view text) {
  constexpr std::int64_t largest =
      9'000'000'000'000'000;  // microseconds, as nanoseconds in 64 bits
  if (text.find_first_of("eE") != std::string_view::npos) {
    auto const value = std::strtod(std::string(text).c_str(), nullptr) * 1000;
    return std::abs(value) < 1e18 ? std::optional(std::llround(value)) : std::nullopt;
  }
  bool const is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  std::int64_t whole = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error != std::errc() || whole < 0 || whole > largest) return std::nullopt;
  auto decimals = text.substr(static_cast<std::size_t>(end - text.data()));
  std::int64_t part = 0;
  if (decimals.starts_with('.')) {
    decimals.remove_prefix(1);
    for (std::size_t i = 0; i < 3; ++i)
      part = part * 10 + (i < decimals.size() && decimals[i] >= '0' ? decimals[i] - '0' : 0);
    if (decimals.size() > 3 && decimals[3] >= '5') ++part;
  }
  auto const all = whole * 1000 + part;
  return is_negative ? -all : all;
}

void trace_event::clear() {
  for (auto* const text : {&phase, &category, &name, &thread_text, &wait_kind, &object_name,
                           &collective, &element_type, &group_name, &group_ranks, &input_shapes})
    text->clear();
  for (auto* const number :
       {&process,       &thread,       &start,      &duration, &correlation,
        &device,        &context,      &stream,     &bytes,    &registers,
        &shared_memory, &graph,        &node,       &event,    &result,
        &elements_in,   &elements_out, &group_size, &sequence, &forward_thread})
    number->reset();
  grid = block = {};
  flops = 0;
  is_made = false;
  clear_what_exports_add();
}

void trace_event::clear_what_exports_add() {
  for (auto* const text : {&domain, &range, &payload, &trigger}) text->clear();
  for (auto* const number : {&launching_thread, &launched, &time_of, &kind}) number->reset();
  payload_is_text = is_open = is_start_end = false;
  declared_bytes = 0;
}

bool read_event(json_scanner& from, trace_event& event) {
  event.clear();
  std::string key;
  auto next = from.next();
  for (; !is_over(next); next = from.next()) {
    if (next != token::key) {
      from.skip(next);
      continue;
    }
    key = from.text();
    auto const value = from.next();
    if (is_over(value)) return false;
    take_member(from, key, value, event);
  }
  return next == token::end;
}

}  // namespace gpuprof::host
