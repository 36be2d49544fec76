// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/samples.hpp"
#include "host/export/chrome/writers.hpp"
#include "host/reading/time_merge.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <string_view>

namespace gpuprof::host::chrome {
namespace {

/// What ranges and marks have in common.
template <class Row>
void add_attributes(argument_list& args, exported_names& names, Row const& row) {
  if (raw(row.domain) != 0) args.add_text("domain", names.text(row.domain));
  if (row.category != 0) args.add_whole("category", row.category);
  auto const bits = row.payload_bits;
  switch (row.payload) {
    case payload_kind::none:
      return;
    case payload_kind::unsigned64:
      return args.add_whole("payload", bits);
    case payload_kind::signed64:
      if (static_cast<std::int64_t>(bits) >= 0) return args.add_whole("payload", bits);
      return args.add_text("payload", std::to_string(static_cast<std::int64_t>(bits)));
    case payload_kind::float64:
      return args.add_number("payload", std::bit_cast<double>(bits));
    case payload_kind::text:
      return args.add_text("payload", names.text(static_cast<name_id>(bits)));
  }
}

/// The digits behind `key`.
std::optional<std::uint64_t> number_behind(std::string_view key, std::string_view text) {
  auto const at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  auto const digits = text.substr(at + key.size());
  std::uint64_t number = 0;
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

/// By which the operators of a backward pass are joined with those of the forward pass: of an
/// imported operator, or in the name of a range of PyTorch's emit_nvtx.
void add_sequence(argument_list& args, exported_names& names, range_begin const& range,
                  bool was_operator) {
  std::string_view const said = was_operator && range.payload == payload_kind::text
                                    ? names.text(static_cast<name_id>(range.payload_bits))
                                    : std::string_view();
  auto const sequence = was_operator ? number_behind("\"Sequence number\":", said)
                                     : number_behind(", seq = ", names.text(range.name));
  if (sequence) args.add_whole("Sequence number", *sequence);
  if (auto const thread = number_behind("\"Fwd thread id\":", said))
    args.add_whole("Fwd thread id", *thread);
}

class thread_writer {
 public:
  thread_writer(export_job& job, event_writer& to, quoted_names& names, cpu_rows& rows)
      : job_(job), to_(to), names_(names), rows_(rows), calls_(rows) {}

  void take(api_record const& call) {
    auto const place = calls_.place_of(call);
    auto const category = call.domain == api_domain::runtime ? "cuda_runtime" : "cuda_driver";
    auto& out = to_.begin_slice(
        {category, names_.of_call(call.name), place.at, call.start, nanoseconds(call.duration)});
    // Kineto's readers join by it: it must not be there twice.
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("\"{}\":{}"),
                   place.is_outermost ? "correlation" : "inside the call of correlation",
                   raw(call.correlation));
    if (!place.nests)
      fmt::format_to(std::back_inserter(out), FMT_COMPILE(",\"thread\":{}"), call.os_thread);
    if (call.result != 0)
      fmt::format_to(std::back_inserter(out), FMT_COMPILE(",\"result\":{}"), call.result);
    to_.end_slice();
    job_.advance(1);
  }
  void take(range_begin const& begin) {
    auto const around = calls_.open_at(rows_.system_thread(begin.thread), begin.time);
    open_.insert_or_assign(begin.range, open_range{begin, around.end});
    if (begin.style == range_style::push_pop) nests_[begin.thread].push_back(begin.range);
    job_.advance(1);
  }
  void take(range_end const& end) {
    auto const range = open_.find(end.range);
    if (range == open_.end()) return;  // it began in a damaged part of the file
    write(range->second, end.time, false);
    open_.erase(range);
  }
  void take(mark_record const& mark) {
    argument_list args(to_.begin_instant("cpu_instant_event", names_.of(mark.name),
                                         rows_.of(mark.thread), mark.time));
    add_attributes(args, job_.names, mark);
    to_.end_slice();
  }
  void end_all() {
    if (open_.empty()) return;
    auto const last = job_.trace.last_moment();
    std::vector<open_range> left;
    for (auto const& [id, range] : open_) left.push_back(range);
    std::sort(left.begin(), left.end(), [](auto const& a, auto const& b) {
      return std::pair(a.row.time, raw(a.row.range)) > std::pair(b.row.time, raw(b.row.range));
    });
    for (auto const& range : left) write(range, std::max(last, range.row.time), true);
  }

 private:
  struct open_range {
    range_begin row;
    std::uint64_t inside_until = 0;  // the end of the call that it began in; 0: in none
  };

  /// Whether it cuts through nothing on the row of its thread. Ranges of several domains, and those
  /// that are started and ended, need not nest.
  bool nests(open_range const& range, timestamp_ns end) {
    auto const& row = range.row;
    if (row.style != range_style::push_pop) return false;
    auto& nest = nests_[row.thread];
    auto const at = std::find(nest.rbegin(), nest.rend(), row.range);
    auto const is_innermost = at == nest.rbegin();
    if (at != nest.rend()) nest.erase(std::next(at).base());
    if (range.inside_until != 0 && range.inside_until < end.value) return false;
    auto const call = calls_.open_at(rows_.system_thread(row.thread), end);
    return is_innermost && (call.end == 0 || call.start < row.time.value);
  }
  void write(open_range const& range, timestamp_ns end, bool still_open) {
    auto const& row = range.row;
    auto const length = end > row.time ? nanoseconds(end - row.time) : 0;
    auto const at = nests(range, end) ? rows_.of(row.thread)
                                      : rows_.beside(rows_.system_thread(row.thread),
                                                     further_use::ranges, row.time, end);
    auto const was_operator = job_.names.text(row.domain) == operators_of_kineto;
    auto const& op = was_operator ? names_.of(row.name) : names_.of_operator(row.name);
    argument_list args(
        op.empty() ? to_.begin_slice({"user_annotation", names_.of(row.name), at, row.time, length})
                   : to_.begin_slice({"cpu_op", op, at, row.time, length}));
    if (!op.empty()) args.add_text("range", job_.names.text(row.name));
    if (auto const thread = rows_.system_thread(row.thread); at.thread != thread)
      args.add_whole("thread", thread);
    if (row.style == range_style::start_end) args.add_text("style", "start/end");
    add_attributes(args, job_.names, row);
    add_sequence(args, job_.names, row, was_operator);
    if (row.declared_flops != 0) args.add_number("declared FLOP", row.declared_flops);
    if (row.declared_bytes != 0) args.add_number("declared bytes", row.declared_bytes);
    if (still_open) args.add_text("end", "still open when the capture ended");
    to_.end_slice();
  }

  export_job& job_;
  event_writer& to_;
  quoted_names& names_;
  cpu_rows& rows_;
  call_rows calls_;
  std::unordered_map<range_id, open_range> open_;
  std::unordered_map<thread_index, std::vector<range_id>> nests_;  // open push/pop ranges
};

}  // namespace

void write_threads(export_job& job, event_writer& to, quoted_names& names, cpu_rows& rows) {
  thread_writer threads(job, to, names, rows);
  for_each_in_time<range_begin, api_record, mark_record, range_end>(
      job.trace.file(), [&](auto const& row) { threads.take(row); });
  threads.end_all();
}

}  // namespace gpuprof::host::chrome
