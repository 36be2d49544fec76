// SPDX-License-Identifier: Apache-2.0
// Writes rows of NVTX: ranges, marks, domains, names of threads and categories.
#include "host/export/sqlite/sqlite_output.hpp"
#include "host/reading/time_merge.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {
namespace {

/// Values of ENUM_NSYS_EVENT_TYPE.
enum class nvtx_event : std::uint8_t {
  category = 33,
  mark = 34,
  thread = 39,
  push_pop = 59,
  start_end = 60,
  domain = 75,
};

/// The columns that few rows use.
struct row_rest {
  std::optional<std::int64_t> end = {}, range = {}, category = {}, color = {}, end_thread = {};
  payload_kind payload{};
  std::uint64_t payload_bits = 0;
};

/// Rows that are not ranges come after all ranges: the number of a range's row is the number of
/// ranges that began before it.
class nvtx_rows {
 public:
  explicit nvtx_rows(sqlite_output& to)
      : to_(to),
        rows_(to.file, tables::nvtx_events, true),
        declared_(to.file, tables::declared_work) {}

  void add(range_begin const& begin) {
    open_.try_emplace(begin.range, begun{++last_row_, begin});
    domain(begin.domain, begin.time, begin.thread);
    if (begin.declared_flops != 0 || begin.declared_bytes != 0)
      declared_.row(raw(begin.range), begin.declared_flops, begin.declared_bytes);
  }
  void add(range_end const& end) {
    auto const found = open_.find(end.range);
    if (found == open_.end()) return;
    write(found->second, to_.terms.time(end.time), end.thread);
    open_.erase(found);
  }
  /// Adds the ranges that never ended, without an end.
  void add_open() {
    std::vector<begun> left;
    for (auto const& [id, range] : open_) left.push_back(range);
    std::sort(left.begin(), left.end(), [](auto const& a, auto const& b) { return a.row < b.row; });
    for (auto const& range : left) write(range, std::nullopt, range.begin.thread);
    open_.clear();
  }

  void add(mark_record const& mark) {
    row(++last_row_, to_.terms.time(mark.time), nvtx_event::mark, mark.name, thread(mark.thread),
        domain(mark.domain, mark.time, mark.thread),
        {.category = unless_zero(mark.category),
         .color = unless_zero(mark.color),
         .payload = mark.payload,
         .payload_bits = mark.payload_bits});
  }
  void add(category_record const& category) {
    row(++last_row_, first_, nvtx_event::category, category.name, std::nullopt,
        domain(category.domain, to_.terms.origin(), {}), {.category = category.category});
  }
  void add_thread(std::int64_t global_thread, name_id name) {
    row(++last_row_, first_, nvtx_event::thread, name, global_thread, 0, {});
  }
  /// nsys looks up domains by process.
  void add_domains() {
    for (auto const& [name, made] : domains_)
      row(++last_row_, made.first, nvtx_event::domain, name,
          made.creator.value_or(to_.terms.global_process()), made.number, {});
  }

 private:
  struct begun {
    std::int64_t row = 0;
    range_begin begin;
  };
  struct made_domain {
    std::int64_t number = 0, first = 0;
    std::optional<std::int64_t> creator;
  };

  std::optional<std::int64_t> thread(thread_index of) const { return to_.terms.global_thread(of); }

  /// Returns the number of a domain; 0 is the default domain, which nsys does not name.
  std::int64_t domain(name_id name, timestamp_ns first, thread_index creator) {
    if (raw(name) == 0) return 0;
    auto const [at, is_new] = domains_.try_emplace(name);
    if (is_new)
      at->second = {static_cast<std::int64_t>(domains_.size()), to_.terms.time(first),
                    thread(creator)};
    return at->second.number;
  }

  void write(begun const& range, std::optional<std::int64_t> end, thread_index ender) {
    auto const& begin = range.begin;
    // nsys leaves a range with a separate end thread out of its projections, so that thread is
    // written only if it differs.
    auto const elsewhere = ender != begin.thread ? thread(ender) : std::nullopt;
    auto const type =
        begin.style == range_style::start_end ? nvtx_event::start_end : nvtx_event::push_pop;
    row(range.row, to_.terms.time(begin.time), type, begin.name, thread(begin.thread),
        domain(begin.domain, begin.time, begin.thread),
        {.end = end,
         .range = static_cast<std::int64_t>(raw(begin.range)),
         .category = unless_zero(begin.category),
         .color = unless_zero(begin.color),
         .end_thread = elsewhere,
         .payload = begin.payload,
         .payload_bits = begin.payload_bits});
  }

  void row(std::int64_t number, std::int64_t start, nvtx_event type, name_id text,
           std::optional<std::int64_t> global_thread, std::int64_t domain_number,
           row_rest const& rest) {
    first_ = std::min(first_, start);
    rows_.bind(1, number);
    rows_.bind(2, start);
    rows_.bind(3, rest.end);
    rows_.bind(4, static_cast<int>(type));
    rows_.bind(5, rest.range);
    rows_.bind(6, rest.category);
    rows_.bind(7, rest.color);
    rows_.bind(8, std::string_view(to_.job.names.text(text)));
    rows_.bind(9, global_thread);
    rows_.bind(10, rest.end_thread);
    rows_.bind(11, domain_number);
    bind_payload(12, rest);
    rows_.add();
  }

  void bind_payload(int first_place, row_rest const& rest) {
    for (int place = first_place; place < first_place + 4; ++place) rows_.bind(place, nullptr);
    switch (rest.payload) {
      case payload_kind::none:
        return;
      case payload_kind::unsigned64:
        return rows_.bind(first_place, rest.payload_bits);
      case payload_kind::signed64:
        return rows_.bind(first_place + 1, rest.payload_bits);
      case payload_kind::float64:
        return rows_.bind(first_place + 2, std::bit_cast<double>(rest.payload_bits));
      case payload_kind::text:
        auto const json = static_cast<name_id>(rest.payload_bits);
        return rows_.bind(first_place + 3, std::string_view(to_.job.names.text(json)));
    }
  }

  sqlite_output& to_;
  insertion rows_, declared_;
  std::unordered_map<range_id, begun> open_;
  std::map<name_id, made_domain> domains_;
  std::int64_t last_row_ = 0;
  std::int64_t first_ = 0;  // not later than any event
};

/// nsys joins names to calls by thread, so a thread has one name: the last one given.
void write_threads(sqlite_output& to, nvtx_rows& events) {
  std::map<std::int64_t, name_id> names;
  to.job.trace.file().for_each<thread_record>([&](std::span<thread_record const> threads) {
    for (auto const& thread : threads)
      if (thread.os_thread != 0 && raw(thread.name) != 0)
        names[to.terms.global_thread(thread.os_thread)] = thread.name;
  });
  insertion rows(to.file, tables::thread_names);
  for (auto const& [thread, name] : names) {
    rows.row(to.strings.of(name), thread);
    events.add_thread(thread, name);
  }
}

void write_categories(sqlite_output& to, nvtx_rows& events) {
  std::map<std::pair<name_id, std::uint32_t>, category_record> categories;
  to.job.trace.file().for_each<category_record>([&](std::span<category_record const> found) {
    for (auto const& category : found) categories[{category.domain, category.category}] = category;
  });
  for (auto const& [key, category] : categories) events.add(category);
}

}  // namespace

void write_ranges(sqlite_output& to) {
  auto& file = to.job.trace.file();
  nvtx_rows events(to);
  row_progress progress(to.job);
  for_each_in_time<range_begin, range_end>(file, [&](auto const& row) {
    events.add(row);
    if constexpr (requires { row.style; }) progress.one();
  });
  progress.end();
  events.add_open();
  ordered_rows<mark_record> marks(file);
  while (auto const* const mark = marks.next()) events.add(*mark);
  write_categories(to, events);
  write_threads(to, events);
  events.add_domains();
}

}  // namespace gpuprof::host
