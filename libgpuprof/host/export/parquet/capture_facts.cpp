// SPDX-License-Identifier: Apache-2.0
#include "host/export/parquet/capture_facts.hpp"

#include "base/utf8.hpp"
#include "host/reading/capture_rank.hpp"

#include <filesystem>

namespace gpuprof {
namespace {

/// A capture has one row, so a column is a value.
table_column one_number(std::string name, std::string unit, std::int64_t value) {
  return optional_column<char>(std::move(name), column_kind::number, std::move(unit),
                               [value](char) { return value; });
}

table_column one_text(std::string name, std::string_view text) {
  struct owned : text_list {
    std::string text;
  };
  auto texts = std::make_shared<owned>();
  texts->text = valid_utf8(text);
  auto const code = texts->text.empty() ? no_text : texts->code_of(texts->text);
  return text_column<char>(std::move(name), std::move(texts), [code](char) { return code; });
}

std::string joined(std::vector<std::string> const& lines) {
  std::string all;
  for (auto const& line : lines) all += (all.empty() ? "" : "; ") + line;
  return all;
}

}  // namespace

parquet_facts facts_of(export_job& job) {
  parquet_facts facts;
  job.trace.file().for_each<fact_record>([&](std::span<fact_record const> rows) {
    for (auto const& row : rows)
      facts.emplace_back(job.names.text(row.key), job.names.text(row.value));
  });
  auto const rank = rank_or_only_one(job.trace);
  facts.emplace_back("rank", std::to_string(rank.rank));
  facts.emplace_back("world_size", std::to_string(rank.world_size));
  facts.emplace_back("capture", valid_utf8(job.trace.file().path()));
  return facts;
}

std::vector<table_column> capture_columns(export_job& job,
                                          std::vector<std::string> const& missing) {
  auto& trace = job.trace;
  auto const begin = static_cast<std::int64_t>(trace.origin().value);
  auto const end = static_cast<std::int64_t>(trace.last_moment().value);
  std::string devices;
  for (auto const& [device, name] : trace.device_names())
    devices += (devices.empty() ? "" : ", ") + name;
  return {
      one_text("file", std::filesystem::path(trace.file().path()).filename().string()),
      one_text("host", trace.fact("host")),
      one_number("process_id", "", trace.process_id()),
      one_text("program", trace.fact("process.program")),
      one_text("command_line", trace.fact("process.command_line")),
      one_number("world_size", "", rank_or_only_one(trace).world_size),
      one_number("start", "ns of CLOCK_REALTIME", begin == 0 ? no_number : begin),
      one_number("duration", "ns", begin == 0 || end < begin ? no_number : end - begin),
      one_text("devices", devices),
      one_text("gpuprof_version", trace.fact("gpuprof.version")),
      one_text("missing", joined(missing)),
  };
}

}  // namespace gpuprof
