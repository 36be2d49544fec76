// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"
#include "host/export/chrome/event_writer.hpp"
#include "host/export/chrome/writers.hpp"
#include "host/reading/capture_rank.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

namespace gpuprof::host::chrome {
namespace {

constexpr int warp_size = 32;

/// Returns Kineto's number of a CUDA version: 13010 for "13.1".
int cuda_version(std::string const& text) {
  int major = 0, minor = 0;
  auto const* const end = text.data() + text.size();
  auto const [point, failure] = std::from_chars(text.data(), end, major);
  if (failure != std::errc{}) return 0;
  if (point != end) std::from_chars(point + 1, end, minor);
  return major * 1000 + minor * 10;
}

/// FNV-1a over all facts that distinguish captures.
std::uint64_t hash_of(std::string_view text, std::uint64_t hash) {
  for (auto const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::string trace_id(trace_contents& trace) {
  auto const who = trace.fact("host") + '\n' + trace.fact("process.id") + '\n' +
                   trace.fact("process.command_line") + '\n' + std::to_string(trace.origin().value);
  return fmt::format("{:016X}{:016X}", hash_of(who, 0xcbf29ce484222325u),
                     hash_of(who, 0x9ae16a3b2f90404fu));
}

void append_devices(export_job& job, text_buffer& out) {
  bool is_first = true;
  append(out, "\"deviceProperties\": [");
  for (auto const& device : job.trace.devices()) {
    append(out, is_first ? "\n    {" : ",\n    {");
    is_first = false;
    argument_list values(out);
    values.add_whole("id", raw(device.device));
    values.add_text("name", job.names.text(device.name));
    values.add_whole("totalGlobalMem", device.memory_bytes);
    values.add_whole("computeMajor", device.compute_major);
    values.add_whole("computeMinor", device.compute_minor);
    values.add_whole("warpSize", warp_size);
    values.add_whole("numSms", device.sm_count);
    values.add_text("uuid", job.names.text(device.uuid));
    auto const add_known = [&](std::string_view name, std::uint32_t limit) {
      if (limit != 0) values.add_whole(name, limit);
    };
    add_known("maxThreadsPerMultiprocessor", device.max_threads_per_sm);
    add_known("maxBlocksPerMultiprocessor", device.max_blocks_per_sm);
    add_known("regsPerMultiprocessor", device.registers_per_sm);
    add_known("sharedMemPerMultiprocessor", device.shared_bytes_per_sm);
    if (device.reserved_shared_bytes < device.shared_bytes_per_sm)
      add_known("sharedMemPerBlockOptin",
                device.shared_bytes_per_sm - device.reserved_shared_bytes);
    append(out, "}");
  }
  append(out, "\n  ],\n  ");
}

/// HolisticTraceAnalysis looks for the rank with a space before it.
void append_rank(export_job& job, text_buffer& out) {
  auto const rank = rank_of_capture(job.trace);
  if (!rank) return;
  fmt::format_to(std::back_inserter(out),
                 FMT_COMPILE("\"distributedInfo\": {{\"rank\": {}, \"world_size\": {}}},\n  "),
                 rank->rank, rank->world_size);
}

void append_peaks(export_job& job, text_buffer& out) {
  append(out, "[");
  bool is_first = true;
  job.trace.file().for_each<peak_record>([&](std::span<peak_record const> rows) {
    for (auto const& row : rows) {
      append(out, std::exchange(is_first, false) ? "\n    {" : ",\n    {");
      argument_list values(out);
      values.add_whole("device", raw(row.device));
      values.add_whole("limiters", row.limiters);
      std::pair<char const*, name_id> const texts[] = {
          {"test", row.test},         {"group", row.group},   {"title", row.title},
          {"unit", row.unit},         {"clock", row.clock},   {"method", row.method},
          {"operands", row.operands}, {"remark", row.remark}, {"measured_at", row.measured_at}};
      for (auto const& [name, text] : texts)
        if (raw(text) != 0) values.add_text(name, job.names.text(text));
      std::pair<char const*, double> const figures[] = {
          {"burst", row.burst},
          {"burst_spread", row.burst_spread},
          {"burst_sm_clock_mhz", row.burst_sm_clock_mhz},
          {"sustained", row.sustained},
          {"sustained_sm_clock_mhz", row.sustained_sm_clock_mhz},
          {"sustained_watts", row.sustained_watts},
          {"theory", row.theory},
          {"per_clock", row.per_clock},
          {"per_clock_theory", row.per_clock_theory}};
      for (auto const& [name, figure] : figures)
        if (figure != 0) values.add_number(name, figure);
      append(out, "}");
    }
  });
  append(out, "]");
}

/// Writes the launches around which counters were read: correlation, device, context, group of
/// metrics, when the counters were opened and closed (ns since the base), number of the reading,
/// whole graph.
void append_readings(export_job& job, text_buffer& out, timestamp_ns base) {
  append(out, "[");
  bool is_first = true;
  job.trace.file().for_each<read_launch_record>([&](std::span<read_launch_record const> rows) {
    for (auto const& row : rows)
      fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}[{},{},{},{},{},{},{},{}]"),
                     std::exchange(is_first, false) ? "" : ",", raw(row.correlation),
                     raw(row.device), raw(row.context), row.group, (row.opened - base).value,
                     (row.closed - base).value, row.reading, row.whole_graph ? 1 : 0);
  });
  append(out, "]");
}

/// Writes the facts of the capture and its losses, so that an import of the trace restores them.
void append_own_facts(export_job& job, text_buffer& out, timestamp_ns base) {
  std::map<name_id, name_id> facts;
  std::map<name_id, std::uint64_t> counters;
  auto& file = job.trace.file();
  file.for_each<fact_record>([&](std::span<fact_record const> rows) {
    for (auto const& row : rows) facts[row.key] = row.value;
  });
  file.for_each<counter_record>([&](std::span<counter_record const> rows) {
    for (auto const& row : rows) counters[row.name] = row.value;
  });
  append(out, "\"gpuprof\": {");
  argument_list values(out);
  for (auto const& [key, value] : facts)
    values.add_text(job.names.text(key), job.names.text(value));
  for (auto const& [name, value] : counters)
    if (value != 0 && job.names.text(name).starts_with("lost."))
      values.add_whole(job.names.text(name), value);
  if (file.row_count<peak_record>() != 0) {
    values.named("peaks");
    append_peaks(job, out);
  }
  if (file.row_count<read_launch_record>() != 0) {
    values.named("readings");
    append_readings(job, out, base);
  }
  append(out, "},\n  ");
}

constexpr std::uint64_t earliest_before_ns = 86'400'000'000'000;

template <class Row>
void look_for_earlier(capture::reader& file, timestamp_ns Row::*time, timestamp_ns not_before,
                      timestamp_ns& base) {
  file.for_each<Row>(
      [&](std::span<Row const> rows) {
        for (auto const& row : rows)
          if (row.*time >= not_before) base = std::min(base, row.*time);
      },
      capture::only(time));
}

}  // namespace

void write_header(export_job& job, text_buffer& out, timestamp_ns base) {
  append(out, "{\n  \"schemaVersion\": 1,\n  ");
  append_devices(job, out);
  auto const add = [&](std::string_view key, std::string const& json) {
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("\"{}\": {},\n  "), key, json);
  };
  append_rank(job, out);
  if (auto const version = cuda_version(job.trace.fact("driver.cuda_version")); version != 0)
    add("cuda_driver_version", std::to_string(version));
  add("host_name", quoted(job.trace.fact("host")));
  add("trace_id", quoted(trace_id(job.trace)));
  add("made_by", quoted("gpuprof " + job.trace.fact("gpuprof.version")));
  add("displayTimeUnit", "\"ms\"");
  append_own_facts(job, out, base);
  // Readers that hold numbers as doubles lose 200 ns of precision, as with Kineto's own traces.
  add("baseTimeNanoseconds", std::to_string(base.value));
  append(out, "\"traceEvents\": [\n");
}

void write_footer(export_job& job, text_buffer& out) {
  append(out, "\n  ],\n  \"missing\": [");
  bool is_first = true;
  for (auto const& line : job.trace.missing()) {
    append(out, std::exchange(is_first, false) ? "\n    " : ",\n    ");
    append(out, quoted(line));
  }
  append(out, is_first ? "]\n}\n" : "\n  ]\n}\n");
}

timestamp_ns first_moment(trace_contents& trace) {
  auto base = trace.origin();
  timestamp_ns const not_before{base.value > earliest_before_ns ? base.value - earliest_before_ns
                                                                : 1};
  if (base.value == 0) base = {~std::uint64_t{0}};
  auto& file = trace.file();
  look_for_earlier(file, &kernel_record::launched, not_before, base);
  look_for_earlier(file, &kernel_record::start, not_before, base);
  look_for_earlier(file, &graph_record::launched, not_before, base);
  look_for_earlier(file, &copy_record::launched, not_before, base);
  look_for_earlier(file, &copy_record::start, not_before, base);
  look_for_earlier(file, &memset_record::launched, not_before, base);
  look_for_earlier(file, &memset_record::start, not_before, base);
  look_for_earlier(file, &api_record::start, not_before, base);
  look_for_earlier(file, &range_begin::time, not_before, base);
  look_for_earlier(file, &mark_record::time, not_before, base);
  look_for_earlier(file, &sample_record::start, not_before, base);
  return base.value == ~std::uint64_t{0} ? timestamp_ns{} : base;
}

}  // namespace gpuprof::host::chrome
