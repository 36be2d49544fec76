// SPDX-License-Identifier: Apache-2.0
// Reads NVTX from an nsys export: ranges, marks, names of domains, categories and threads.
#include "host/import/nsys/nsys_source.hpp"
#include "host/import/source_values.hpp"

#include <bit>
#include <unordered_map>

namespace gpuprof::host {
namespace {

// Values of NVTX_EVENTS.eventType.
constexpr std::int64_t category_name = 33, mark = 34, thread_name = 39, push_pop = 59,
                       start_end = 60, domain_created = 75, domain_destroyed = 76;

/// The columns read, in this order.
enum {
  global,
  start,
  end,
  type,
  category,
  color,
  text,
  text_id,
  domain,
  end_global,
  unsigned64,
  signed64,
  float64,
  unsigned32,
  signed32,
  float32,
  json,
  json_id,
  range_id_of_export
};

name_id name_of(nsys_source& source, nsys_process& process, sqlite_rows const& row, int plain,
                int registered) {
  if (!row.is_null(plain)) return process.records->name(row.text(plain));
  return row.is_null(registered) ? name_id{} : source.text(process, row.integer(registered));
}

name_id domain_of(nsys_process& process, sqlite_rows const& row) {
  auto const known = process.domains.find(row.integer(domain));
  return known != process.domains.end() ? known->second : name_id{};
}

template <class Record>
void take_payload(nsys_source& source, nsys_process& process, sqlite_rows const& row,
                  Record& record) {
  auto const set = [&](payload_kind kind, std::uint64_t bits) {
    record.payload = kind;
    record.payload_bits = bits;
  };
  if (!row.is_null(unsigned64) || !row.is_null(unsigned32))
    set(payload_kind::unsigned64,
        static_cast<std::uint64_t>(row.integer(row.is_null(unsigned64) ? unsigned32 : unsigned64)));
  else if (!row.is_null(signed64) || !row.is_null(signed32))
    set(payload_kind::signed64,
        static_cast<std::uint64_t>(row.integer(row.is_null(signed64) ? signed32 : signed64)));
  else if (!row.is_null(float64) || !row.is_null(float32))
    set(payload_kind::float64,
        std::bit_cast<std::uint64_t>(row.real(row.is_null(float64) ? float32 : float64)));
  else if (auto const payload = name_of(source, process, row, json, json_id); raw(payload) != 0)
    set(payload_kind::text, raw(payload));
}

void take_declared(nsys_process& process, range_begin& range) {
  if (range.payload != payload_kind::text) return;
  auto const payload = static_cast<name_id>(range.payload_bits);
  auto const [at, is_new] = process.declared.try_emplace(payload);
  if (is_new) at->second = declared_in(process.records->names().text(payload));
  range.declared_flops = at->second.flops;
  range.declared_bytes = at->second.bytes;
}

template <class Record>
void take_common(nsys_source& source, nsys_process& process, sqlite_rows const& row,
                 Record& record) {
  record.time = process.records->moment(row.integer(start));
  record.thread = process.records->thread(nsys_source::os_thread(row.integer(global)));
  record.name = name_of(source, process, row, text, text_id);
  record.domain = domain_of(process, row);
  record.category = static_cast<std::uint32_t>(row.integer(category));
  record.color = static_cast<std::uint32_t>(row.integer(color));
  take_payload(source, process, row, record);
}

using declared_works = std::unordered_map<std::int64_t, declared_work>;

/// gpuprof export stores the declared work of ranges in a table of its own.
declared_works declared_by_range(sqlite_reader& file) {
  declared_works found;
  if (!file.has("GPUPROF_DECLARED_WORK")) return found;
  auto rows = file.select("GPUPROF_DECLARED_WORK", {"rangeId", "flops", "bytes"});
  while (rows.next()) found[rows.integer(0)] = {rows.real(1), rows.real(2)};
  return found;
}

void add_range(nsys_source& source, nsys_process& process, sqlite_rows const& row,
               declared_works const& declared) {
  imported_range range;
  take_common(source, process, row, range.begin);
  range.begin.style =
      row.integer(type) == push_pop ? range_style::push_pop : range_style::start_end;
  take_declared(process, range.begin);
  if (auto const known = declared.find(row.integer(range_id_of_export)); known != declared.end()) {
    range.begin.declared_flops = known->second.flops;
    range.begin.declared_bytes = known->second.bytes;
  }
  range.has_end = !row.is_null(end) && row.integer(end) >= row.integer(start);
  range.end = range.begin.time + time_between(row.integer(start), row.integer(end));
  if (!row.is_null(end_global) && row.integer(end_global) != 0)
    range.ended_on = process.records->thread(nsys_source::os_thread(row.integer(end_global)));
  process.records->ranges.add(range);
}

void add_mark(nsys_source& source, nsys_process& process, sqlite_rows const& row) {
  mark_record made;
  take_common(source, process, row, made);
  process.records->marks.add(made);
}

void add_event(nsys_source& source, nsys_process& process, sqlite_rows const& row,
               declared_works const& declared) {
  switch (row.integer(type)) {
    case push_pop:
    case start_end:
      if (row.is_null(start)) return process.records->lose("ranges_without_time");
      return add_range(source, process, row, declared);
    case mark:
      if (row.is_null(start)) return process.records->lose("marks_without_time");
      return add_mark(source, process, row);
    case category_name:
    case thread_name:
    case domain_created:
    case domain_destroyed:
      return;
    default:
      process.records->lose("NVTX_events_of_unknown_kind");
  }
}

void read_names(nsys_source& source, bool domains) {
  source.each(
      "NVTX_EVENTS",
      {"globalTid", "start", "end", "eventType", "category", "color", "text", "textId", "domainId"},
      [&](sqlite_rows const& row, nsys_process& process) {
        auto const kind = row.integer(type);
        auto const name = [&] { return name_of(source, process, row, text, text_id); };
        if (domains && kind == domain_created)
          process.domains[row.integer(domain)] = name();
        else if (!domains && kind == category_name)
          process.records->categories.push_back(
              {domain_of(process, row), static_cast<std::uint32_t>(row.integer(category)), name()});
        else if (!domains && kind == thread_name)
          process.records->name_thread(nsys_source::os_thread(row.integer(global)), name());
      });
}

}  // namespace

void read_nsys_nvtx(nsys_source& source) {
  read_names(source, true);
  read_names(source, false);
  auto const declared = declared_by_range(source.file);
  source.each("NVTX_EVENTS",
              {"globalTid", "start", "end", "eventType", "category", "color", "text", "textId",
               "domainId", "endGlobalTid", "uint64Value", "int64Value", "doubleValue",
               "uint32Value", "int32Value", "floatValue", "jsonText", "jsonTextId", "rangeId"},
              [&](sqlite_rows const& row, nsys_process& process) {
                add_event(source, process, row, declared);
              });
}

}  // namespace gpuprof::host
