// SPDX-License-Identifier: Apache-2.0
#include "base/json_text.hpp"
#include "host/export/chrome/event_writer.hpp"
#include "host/export/chrome/writers.hpp"
#include "host/reading/capture_rank.hpp"

#include <algorithm>
#include <charconv>

namespace gpuprof::chrome {
namespace {

constexpr int warp_size = 32;

/// Kineto's number of a CUDA version: 13010 of "13.1".
int cuda_version(std::string const& text) {
  int major = 0, minor = 0;
  auto const* const end = text.data() + text.size();
  auto const [point, failure] = std::from_chars(text.data(), end, major);
  if (failure != std::errc{}) return 0;
  if (point != end) std::from_chars(point + 1, end, minor);
  return major * 1000 + minor * 10;
}

/// FNV-1a over all that tells captures apart.
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
  // A reader that holds numbers as doubles loses 200 ns of it, as with Kineto's own.
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
  look_for_earlier(file, &metric_sample_record::start, not_before, base);
  return base.value == ~std::uint64_t{0} ? timestamp_ns{} : base;
}

}  // namespace gpuprof::chrome
