// SPDX-License-Identifier: Apache-2.0
// Opens and closes ranges on the calling thread.
#include "guest/nvtx/ranges.hpp"

#include "guest/nvtx/labels.hpp"
#include "guest/nvtx/log_writer.hpp"
#include "guest/nvtx/range_stack.hpp"
#include "guest/nvtx/ticks.hpp"

namespace gpuprof::guest {
namespace {

constinit started_ranges open_start_end;  // is not destroyed either

bool recording() noexcept {
  // Relaxed: an event at the edge of a capture may count as inside or outside.
  return log_is_recording.load(std::memory_order_relaxed);
}

std::uint32_t generation() noexcept {
  return log_generation.load(std::memory_order_relaxed);  // changes while nothing is recorded
}

range_observer* observer() noexcept {
  return the_range_observer.load(std::memory_order_acquire);
}

void describe(open_range& range, event_text const& text, range_style style) noexcept {
  range.domain = text.domain;
  range.name = text.name;
  range.payload_bits = text.payload_bits;
  range.flops = text.flops;
  range.bytes = text.bytes;
  range.category = text.category;
  range.color = text.color;
  range.payload = text.payload;
  range.style = style;
  range.written = 0;
}

thread_index opener_of(range_id id) noexcept {
  return static_cast<thread_index>(raw(id) >> 40);
}

void write_pushed(thread_log& log, open_range& range) noexcept {
  if (log.caught_up_with != generation()) {
    catch_up(log);  // also writes this range, which is the innermost unwritten one
  } else if (write_begin(log, range, range.time)) {
    range.written = generation();
  } else {
    log.caught_up_with = 0;
  }
}

}  // namespace

int push_range(thread_log& log, event_text const& text) noexcept {
  if (log.domains_gone != domains().generation()) [[unlikely]]
    end_ranges_of_gone_domains(log);
  return push_range(log, text, log.ranges.innermost());
}

int push_range(thread_log& log, event_text const& text, range_id parent) noexcept {
  if (auto* const watching = observer(); watching != nullptr && log.ranges.can_push()) [[unlikely]]
    watching->on_push(text.name, text.domain);
  auto const write = recording();
  auto const level = log.ranges.level_in(text.domain);
  auto* const open = log.ranges.push();
  if (open == nullptr) {
    if (write) thread_counters::bump(log.counters.too_deep_ranges);
    return static_cast<int>(log.ranges.size() + log.ranges.too_deep()) - 1;
  }
  describe(*open, text, range_style::push_pop);
  open->range = log.make_range_id();
  open->parent = parent;
  open->level = static_cast<std::uint16_t>(log.ranges.size() - 1);
  open->level_in_domain = level;
  open->time = read_ticks();
  if (write) {
    write_pushed(log, *open);
  } else {
    log.caught_up_with = 0;
  }
  return level;
}

namespace {

/// Removes a range from the stack and writes its end.
void end_at(thread_log& log, std::size_t place, std::uint64_t ticks, bool write) noexcept {
  auto const& range = log.ranges.at(place);
  auto const name = range.name, domain = range.domain;
  // The end is written even after recording has stopped, because the begin is in the file.
  if (range.written == generation()) {
    write_owed_end(log, range.range, ticks);
  } else if (write) {
    thread_counters::bump(log.counters.dropped_ranges);
  }
  log.ranges.remove(place);
  if (auto* const watching = observer()) [[unlikely]]
    watching->on_pop(name, domain);
}

}  // namespace

int pop_range(thread_log& log, name_id domain, bool is_expected) noexcept {
  auto const write = recording();
  if (write) catch_up(log);
  if (log.ranges.pop_too_deep()) [[unlikely]]
    return static_cast<int>(log.ranges.size() + log.ranges.too_deep());
  auto const place = log.ranges.find(domain);
  if (place == log.ranges.size()) [[unlikely]] {
    if (is_expected && !domains().is_gone(domain))
      thread_counters::bump(log.counters.unmatched_pops);
    return -1;
  }
  auto const level = log.ranges.at(place).level_in_domain;
  end_at(log, place, read_ticks(), write);
  return level;
}

void end_ranges_of_gone_domains(thread_log& log) noexcept {
  log.domains_gone = domains().generation();
  auto const write = recording();
  if (write) catch_up(log);
  for (auto i = log.ranges.size(); i-- > 0;) {
    auto const& range = log.ranges.at(i);
    if (raw(range.domain) == 0) continue;
    auto const gone_at = domains().gone_at(range.domain);
    if (gone_at <= range.time) continue;  // opened after that, or its domain still exists
    end_at(log, i, gone_at, write);
  }
}

void close_ranges(thread_log& log) noexcept {
  log.ranges.forget_too_deep();
  while (log.ranges.size() > 0) pop_range(log, log.ranges.at(log.ranges.size() - 1).domain);
}

range_id start_range(thread_log& log, event_text const& text) noexcept {
  auto const id = log.make_range_id();
  auto const remembered = open_start_end.reserve(id);
  if (auto* const watching = observer(); watching != nullptr && remembered) [[unlikely]]
    watching->on_start(text.name, text.domain);
  auto const write = recording();
  open_range range;
  describe(range, text, range_style::start_end);
  range.range = id;
  range.time = read_ticks();
  if (write) {
    catch_up(log);
    if (write_begin(log, range, range.time)) {
      range.written = generation();
    } else {
      thread_counters::bump(log.counters.dropped_ranges);
    }
  }
  if (remembered) open_start_end.add(range);
  return id;
}

namespace {

/// If the begin could not be written before, it is written together with the end.
bool write_started_end(thread_log& log, open_range const& range) noexcept {
  if (range.written == generation()) return write_end(log, range.range, read_ticks());
  if (!recording()) return true;
  return has_room(log, 4) && write_begin(log, range, range.time, opener_of(range.range)) &&
         write_end(log, range.range, read_ticks());
}

}  // namespace

void end_range(thread_log& log, range_id id) noexcept {
  auto const range = open_start_end.remove(id);
  if (!range) {
    // Without an entry in the table, the end of a range cannot be distinguished from a wrong id.
    // Its begin was written.
    if (open_start_end.forgotten() > 0 && recording()) {
      write_end(log, id, read_ticks());
    } else {
      thread_counters::bump(log.counters.unmatched_pops);
    }
    return;
  }
  if (!write_started_end(log, *range)) thread_counters::bump(log.counters.dropped_ranges);
  if (auto* const watching = observer()) [[unlikely]]
    watching->on_end(range->name, range->domain);
}

void mark(thread_log& log, event_text const& text) noexcept {
  if (!recording()) return;
  catch_up(log);
  mark_text const what{text.name,  text.domain,  text.category,
                       text.color, text.payload, text.payload_bits};
  if (!write_mark(log, what, read_ticks())) thread_counters::bump(log.counters.dropped_ranges);
}

std::vector<range_begin> claim_started_ranges() {
  std::vector<range_begin> begins;
  begins.reserve(64);
  auto const& line = look_at_tick_line();
  open_start_end.for_each([&](open_range& range) {
    if (range.written == generation()) return;
    begins.push_back({.time = {line.to_time(range.time)},
                      .range = range.range,
                      .thread = opener_of(range.range),
                      .style = range.style,
                      .name = range.name,
                      .domain = range.domain,
                      .category = range.category,
                      .color = range.color,
                      .payload = range.payload,
                      .payload_bits = range.payload_bits,
                      .declared_flops = range.flops,
                      .declared_bytes = range.bytes});
    range.written = generation();
  });
  return begins;
}

void forget_started_ranges_of_parent() noexcept {
  open_start_end.forget_parent();
}

std::uint64_t forgotten_ranges() noexcept {
  return open_start_end.forgotten();
}

void end_step(thread_log& log) noexcept {
  if (log.steps > 0) pop_range(log, log.names.intern(own_domain));
}

// The innermost range may have been opened in the previous step and still be open. A step inside it
// would be nested in that step, and each later step one level deeper.
void begin_step(thread_log& log) noexcept {
  auto const is_first = log.steps++ == 0;
  if (is_first) log.around_steps = log.ranges.innermost();
  if (!log.ranges.holds(log.around_steps)) log.around_steps = {};
  push_range(log,
             {.name = log.names.intern(own_step),
              .domain = log.names.intern(own_domain),
              .payload = payload_kind::unsigned64,
              .payload_bits = log.steps},
             log.around_steps);
}

}  // namespace gpuprof::guest
