// SPDX-License-Identifier: Apache-2.0
// Writes the Python stacks for viewers of flame graphs: folded lines, speedscope and pprof.
#include "base/utf8.hpp"
#include "host/export/export_job.hpp"
#include "host/export/unfinished_output.hpp"
#include "host/export/weighed_stacks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <protozero/pbf_builder.hpp>
#include <tuple>

namespace gpuprof::host {
namespace {

/// What a stack is weighed by.
struct weighed_by {
  std::string_view name, unit;
  double stack_sum::*sum;
};
constexpr std::array<weighed_by, 5> weights{
    {{"GPU time", "nanoseconds", &stack_sum::gpu_ns},
     {"CPU time", "nanoseconds", &stack_sum::cpu_ns},
     {"GPU idle behind", "nanoseconds", &stack_sum::idle_ns},
     {"CUDA waits", "nanoseconds", &stack_sum::wait_ns},
     {"launches", "none", &stack_sum::launches}}};

weighed_stacks read_stacks(export_job& job) {
  row_progress rows(job);
  auto const times = read_stack_times(job.trace, [&] { rows.one(); });
  rows.end();
  auto const& stacks = job.trace.stacks();
  return weighed_stacks(job.trace, times, lines_of_stack(job.trace, stacks));
}

std::string name_of(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

std::string folded(weighed_stacks const& all, trace_contents&) {
  std::string text;
  for (auto const& [frames, sum] : all.stacks()) {
    auto const ns = std::llround(sum.gpu_ns);
    if (ns <= 0) continue;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      auto const& one = all.frames()[frames[i]];
      auto label = one.name;
      if (!one.file.empty()) {
        label += " (" + name_of(one.file);
        if (!one.is_native) label += ':' + std::to_string(one.line);
        label += ')';
      }
      std::replace(label.begin(), label.end(), ';', ',');
      text += (i != 0 ? ";" : "") + label;
    }
    text += ' ' + std::to_string(ns) + '\n';
  }
  return text;
}

std::string speedscope(weighed_stacks const& all, trace_contents& trace) {
  std::string text =
      "{\"$schema\":\"https://www.speedscope.app/"
      "file-format-schema.json\",\"exporter\":\"gpuprof\","
      "\"name\":";
  append_json_text(text, trace.overview().program);
  text += ",\"shared\":{\"frames\":[";
  for (std::size_t i = 0; i < all.frames().size(); ++i) {
    auto const& one = all.frames()[i];
    text += i != 0 ? ",{\"name\":" : "{\"name\":";
    append_json_text(text, one.name);
    if (!one.file.empty()) {
      text += ",\"file\":";
      append_json_text(text, one.file);
      if (!one.is_native) text += ",\"line\":" + std::to_string(one.line);
    }
    text += '}';
  }
  text += "]},\"profiles\":[";
  for (std::size_t w = 0; w < weights.size(); ++w) {
    std::string samples, values;
    long long all_of_it = 0;
    for (auto const& [frames, sum] : all.stacks()) {
      auto const value = std::llround(sum.*weights[w].sum);
      if (value <= 0) continue;
      samples += samples.empty() ? "[" : ",[";
      for (std::size_t i = 0; i < frames.size(); ++i)
        samples += (i != 0 ? "," : "") + std::to_string(frames[i]);
      samples += ']';
      values += (values.empty() ? "" : ",") + std::to_string(value);
      all_of_it += value;
    }
    text += w != 0 ? ",{\"type\":\"sampled\",\"name\":" : "{\"type\":\"sampled\",\"name\":";
    append_json_text(text, weights[w].name);
    text += ",\"unit\":";
    append_json_text(text, weights[w].unit);
    text += ",\"startValue\":0,\"endValue\":" + std::to_string(all_of_it) + ",\"samples\":[" +
            samples + "],\"weights\":[" + values + "]}";
  }
  return text + "]}\n";
}

// The fields of pprof's profile.proto that are written.
enum class profile : protozero::pbf_tag_type {
  sample_type = 1,
  sample = 2,
  location = 4,
  function = 5,
  string_table = 6,
  time_nanos = 9,
  duration_nanos = 10
};
enum class value_type : protozero::pbf_tag_type { type = 1, unit = 2 };
enum class sample : protozero::pbf_tag_type { location_id = 1, value = 2 };
enum class location : protozero::pbf_tag_type { id = 1, line = 4 };
enum class line : protozero::pbf_tag_type { function_id = 1, line = 2 };
enum class function : protozero::pbf_tag_type { id = 1, name = 2, filename = 4, start_line = 5 };

std::string pprof(weighed_stacks const& all, trace_contents& trace) {
  std::string text;
  protozero::pbf_builder<profile> out(text);
  std::map<std::string, std::int64_t, std::less<>> strings;
  std::vector<std::string const*> in_order;
  auto const index = [&](std::string_view one) {
    auto const [place, is_new] =
        strings.try_emplace(std::string(one), static_cast<std::int64_t>(strings.size()));
    if (is_new) in_order.push_back(&place->first);
    return place->second;
  };
  index("");  // the first must be empty
  for (auto const& by : weights) {
    protozero::pbf_builder<value_type> type(out, profile::sample_type);
    type.add_int64(value_type::type, index(by.name));
    type.add_int64(value_type::unit, index(by.unit == "none" ? "count" : by.unit));
  }
  std::map<std::tuple<std::string_view, std::string_view, std::uint32_t>, std::uint64_t> functions;
  for (std::size_t i = 0; i < all.frames().size(); ++i) {
    auto const& one = all.frames()[i];
    auto const [place, is_new] =
        functions.try_emplace({one.name, one.file, one.first_line}, functions.size() + 1);
    if (is_new) {
      protozero::pbf_builder<function> made(out, profile::function);
      made.add_uint64(function::id, place->second);
      made.add_int64(function::name, index(one.name));
      made.add_int64(function::filename, index(one.file));
      made.add_int64(function::start_line, one.first_line);
    }
    protozero::pbf_builder<location> where(out, profile::location);
    where.add_uint64(location::id, i + 1);
    protozero::pbf_builder<line> at(where, location::line);
    at.add_uint64(line::function_id, place->second);
    at.add_int64(line::line, one.line);
  }
  for (auto const& [frames, sum] : all.stacks()) {
    protozero::pbf_builder<sample> one(out, profile::sample);
    std::vector<std::uint64_t> ids;  // the innermost first
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) ids.push_back(*frame + 1);
    std::vector<std::int64_t> values;
    for (auto const& by : weights) values.push_back(std::llround(sum.*by.sum));
    one.add_packed_uint64(sample::location_id, ids.begin(), ids.end());
    one.add_packed_int64(sample::value, values.begin(), values.end());
  }
  for (auto const* const one : in_order) out.add_string(profile::string_table, *one);
  out.add_int64(profile::time_nanos, static_cast<std::int64_t>(trace.origin().value));
  out.add_int64(profile::duration_nanos,
                static_cast<std::int64_t>((trace.last_moment() - trace.origin()).value));
  return text;
}

result<export_notes> write_stacks(export_job& job, std::string const& path, bool overwrite,
                                  std::string (*as_text)(weighed_stacks const&, trace_contents&)) {
  if (job.trace.file().row_count<stack_record>() == 0)
    return error{
        "the capture holds no stacks, nothing is written. They are recorded in programs that "
        "CPython 3.11 to 3.15 runs, and with --cudabacktrace all in others"};
  auto file = unfinished_file::create(path, overwrite);
  if (!file) return error{file.message()};
  file->put(as_text(read_stacks(job), job.trace));
  if (auto const done = file->finish(); !done) return error{done.message()};
  return export_notes{};
}

}  // namespace

result<export_notes> write_folded(export_job& job, std::string const& path, bool overwrite) {
  return write_stacks(job, path, overwrite, folded);
}
result<export_notes> write_speedscope(export_job& job, std::string const& path, bool overwrite) {
  return write_stacks(job, path, overwrite, speedscope);
}
result<export_notes> write_pprof(export_job& job, std::string const& path, bool overwrite) {
  return write_stacks(job, path, overwrite, pprof);
}

}  // namespace gpuprof::host
