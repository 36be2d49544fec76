// SPDX-License-Identifier: Apache-2.0
// Writes single events of a Chrome trace, in Kineto's spelling.
#pragma once

#include "base/time.hpp"
#include "host/export/chrome/text_output.hpp"

#include <fmt/compile.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuprof::chrome {

/// A row of the picture. The GPUs are processes with their streams as threads.
struct track {
  std::uint64_t process = 0;
  std::uint64_t thread = 0;
};

struct slice {
  std::string_view category;
  std::string_view name;  // a JSON text, quotes and all
  track at;
  timestamp_ns start;
  std::uint64_t length = 0;  // ns
};

std::string quoted(std::string_view text);
/// As a text where a double would not hold it.
void append_whole(text_buffer& out, std::uint64_t number);
/// null where JSON has no word for it.
void append_number(text_buffer& out, double number);
void append(text_buffer& out, std::string_view text);

/// Arguments of an event that may have none.
class argument_list {
 public:
  explicit argument_list(text_buffer& out) noexcept : out_(&out) {}
  text_buffer& named(std::string_view name);
  void add_text(std::string_view name, std::string_view text);
  void add_whole(std::string_view name, std::uint64_t number) { append_whole(named(name), number); }
  void add_number(std::string_view name, double number) { append_number(named(name), number); }

 private:
  text_buffer* out_;
  bool is_first_ = true;
};

class event_writer {
 public:
  /// Times are written as the time since `base`, in microseconds with three decimals.
  event_writer(text_output& out, timestamp_ns base) noexcept : out_(&out), base_(base) {}

  /// A slice up to its arguments, which follow as "name":value pairs; then end_slice().
  text_buffer& begin_slice(slice const& of) {
    auto const start = since_base(of.start);
    fmt::format_to(next(),
                   FMT_COMPILE(R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},)"
                               R"("ts":{}.{:03},"dur":{}.{:03},"args":{{)"),
                   of.category, of.name, of.at.process, of.at.thread, start / 1000, start % 1000,
                   of.length / 1000, of.length % 1000);
    return out_->text();
  }
  void end_slice() {
    append(out_->text(), "}}");
    ended();
  }

  /// An arrow from the slice that is open at this moment, once for each id; to any number of them.
  void begin_arrow(std::uint32_t id, track from, timestamp_ns at);
  void end_arrow(std::uint32_t id, track to, timestamp_ns at);

  text_buffer& begin_instant(std::string_view category, std::string_view name, track at,
                             timestamp_ns time);
  void end_instant() { end_slice(); }
  /// On a row beside all processes, as Kineto has one for the profiler.
  void span(std::string_view name, timestamp_ns start, std::uint64_t length,
            std::string_view trigger);
  /// Nothing when the value is no number.
  void counter(std::string_view name, std::uint64_t process, timestamp_ns time, double value);
  void process(std::uint64_t process, std::string_view name, std::string_view label,
               std::uint64_t sort_index);
  void thread(track of, std::string_view name, std::uint64_t sort_index);

  std::uint64_t events() const noexcept { return events_; }
  text_output& output() noexcept { return *out_; }

 private:
  std::uint64_t since_base(timestamp_ns time) const noexcept {
    return time > base_ ? time.value - base_.value : 0;
  }
  std::back_insert_iterator<text_buffer> next() {
    if (events_ != 0) append(out_->text(), ",\n");
    return std::back_inserter(out_->text());
  }
  void ended() {
    ++events_;
    out_->may_leave();
  }

  text_output* out_;
  timestamp_ns base_;
  std::uint64_t events_ = 0;
};

}  // namespace gpuprof::chrome
