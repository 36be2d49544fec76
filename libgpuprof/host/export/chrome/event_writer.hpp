// SPDX-License-Identifier: Apache-2.0
// Writes single events of a Chrome trace, as Kineto does, into a text or gzip file. A thread of its
// own compresses the file.
#pragma once

#include "base/time.hpp"
#include "host/export/unfinished_output.hpp"
#include "host/reading/exported_names.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

struct libdeflate_compressor;

namespace gpuprof::host::chrome {

using text_buffer = fmt::basic_memory_buffer<char, 1>;

/// One thread appends. The other compresses what was appended before, one gzip member per MiB.
/// Readers of gzip join the members, so the whole text is never in memory.
class text_output {
 public:
  text_output(unfinished_file& file, bool compress);
  ~text_output();
  text_output(text_output const&) = delete;
  text_output& operator=(text_output const&) = delete;

  text_buffer& text() noexcept { return filling_; }
  /// Called between two pieces of text. Hands what was appended to the other thread once there is
  /// enough.
  void may_leave() {
    if (filling_.size() >= member_bytes) hand_over();
  }
  /// Returns when everything was written to the file. The writing may have failed.
  void finish();

  static constexpr std::size_t member_bytes = 1 << 20;

 private:
  struct delete_compressor {
    void operator()(libdeflate_compressor* compressor) const noexcept;
  };

  void hand_over();
  void end_worker() noexcept;
  void work() noexcept;
  void put(text_buffer const& text) noexcept;

  unfinished_file* file_;
  std::unique_ptr<libdeflate_compressor, delete_compressor> compressor_;  // null: plain text
  std::vector<char> member_;
  text_buffer filling_;

  std::mutex mutex_;  // protects the members below
  std::condition_variable changed_;
  text_buffer waiting_;  // belongs to the worker if is_waiting_, else empty
  bool is_waiting_ = false;
  bool ended_ = false;

  std::thread worker_;
};

/// A row of the timeline. GPUs are shown as processes, and their streams as threads.
struct track {
  std::uint64_t process = 0;
  std::uint64_t thread = 0;
};

struct slice {
  std::string_view category;
  std::string_view name;  // JSON text with its quotes
  track at;
  timestamp_ns start;
  std::uint64_t length = 0;  // ns
};

std::string quoted(std::string_view text);
/// Writes the number as a text if a double cannot hold it exactly.
void append_whole(text_buffer& out, std::uint64_t number);
/// Writes null if JSON cannot express the number.
void append_number(text_buffer& out, double number);
void append(text_buffer& out, std::string_view text);

/// The domain of the ranges that `gpuprof import --cpu-ops` creates from operators.
inline constexpr std::string_view operators_of_kineto = "cpu_op";

/// Names of a capture as JSON texts. Each is made only once.
class quoted_names {
 public:
  explicit quoted_names(exported_names& names) noexcept : names_(&names) {}
  std::string const& of(name_id id);
  /// Returns "aten::mm" for the range "aten::mm, seq = 12", which PyTorch's emit_nvtx creates for
  /// an operator. Empty if the range is not an operator.
  std::string const& of_operator(name_id id);
  /// Returns the name without the suffix that CUPTI appends to the names of calls.
  std::string const& of_call(name_id id);

 private:
  exported_names* names_;
  std::unordered_map<name_id, std::string> texts_, operators_, calls_;
};

/// Writes the arguments of an event, which may have none.
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

  /// Writes a slice up to its arguments, which follow as "name":value pairs. Then call end_slice().
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

  /// Begins an arrow at the slice that is open at this time. Call it once per id; any number of
  /// ends may follow.
  void begin_arrow(std::uint32_t id, track from, timestamp_ns at);
  void end_arrow(std::uint32_t id, track to, timestamp_ns at);

  text_buffer& begin_instant(std::string_view category, std::string_view name, track at,
                             timestamp_ns time);
  /// Writes a span on a row outside of all processes, as Kineto does for the profiler.
  void span(std::string_view name, timestamp_ns start, std::uint64_t length,
            std::string_view trigger);
  /// Writes nothing if the value is not finite.
  void counter(std::string_view name, std::uint64_t process, timestamp_ns time, double value);
  void process(std::uint64_t process, std::string_view name, std::string_view label,
               std::uint64_t sort_index);
  void thread(track of, std::string_view name, std::uint64_t sort_index);

  std::uint64_t since_base(timestamp_ns time) const noexcept {
    return time > base_ ? time.value - base_.value : 0;
  }
  std::uint64_t events() const noexcept { return events_; }
  text_output& output() noexcept { return *out_; }

 private:
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

}  // namespace gpuprof::host::chrome
