// SPDX-License-Identifier: Apache-2.0
#include "report_page/page_documents.hpp"

#include "analyze/read_advice.hpp"
#include "base/json_text.hpp"
#include "page/packed_columns.hpp"
#include "page/timeline_reading.hpp"
#include "report_page/kernel_document.hpp"
#include "report_page/watched_kernels.hpp"
#include "roofline_facts.hpp"
#include "roofline_of_capture.hpp"
#include "roofline_reading.hpp"
#include "stats_reports.hpp"

#include <array>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace gpuprof {
namespace {

constexpr std::size_t max_rows = 5000;  // of a table: a browser sorts so many at once

/// A JSON object, member by member.
class json_members {
 public:
  std::string& add(std::string_view name) {
    text_ += text_.empty() ? '{' : ',';
    append_json_text(text_, name);
    text_ += ':';
    return text_;
  }
  void add_text(std::string_view name, std::string_view value) {
    append_json_text(add(name), value);
  }
  void add_texts(std::string_view name, std::vector<std::string> const& texts) {
    auto separator = '[';
    auto& text = add(name);
    for (auto const& one : texts) {
      text += std::exchange(separator, ',');
      append_json_text(text, one);
    }
    text += texts.empty() ? "[]" : "]";
  }
  std::string take() && { return text_.empty() ? "{}" : std::move(text_) + "}"; }

 private:
  std::string text_;
};

/// {"title", "rows": [...], "left_out"} or {"title", "missing": "why"}.
std::string document_of(finished_report const& report) {
  json_members members;
  members.add_text("title", report.table.title);
  if (!report.missing.empty()) {
    members.add_text("missing", report.missing);
    return std::move(members).take();
  }
  auto const left_out = std::make_shared<std::size_t>(0);
  auto& rows = members.add("rows");
  report::write_json(report::first_rows(report.table, max_rows, left_out),
                     report::time_unit::nanoseconds,
                     [&rows](std::string_view text) { rows += text; });
  members.add("left_out") += std::to_string(*left_out);
  members.add_texts("notes", report.notes);
  return std::move(members).take();
}

constexpr std::array<std::string_view, 8> tables{"cuda_gpu_kern_sum",     "cuda_gpu_kern_gb_sum",
                                                 "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum",
                                                 "cuda_api_sum",          "nvtx_sum",
                                                 "nvtx_gpu_proj_sum",     "gpu_metrics_sum"};

result<std::string> stats_document(std::string const& capture, watched_kernels& watched) {
  stats_inputs inputs{capture, {}, {}, range_scope::process};
  for (auto const name : tables) inputs.reports.push_back(*parse_report(name));
  auto const outcome = make_stats(inputs);
  if (!outcome.made) return error{outcome.failure.message};
  watched = kernels_to_watch(outcome.made->reports());
  json_members members;
  for (auto const& report : outcome.made->reports())
    members.add(report.table.name) += document_of(report);
  return std::move(members).take();
}

/// {"kernels": ..., "signatures": ..., "ranges": ..., "graphs": ...}, each as `gpuprof roofline -f
/// json` has it, or {"missing": "why"} where nothing was counted.
std::string roofline_document(trace_contents& trace) {
  using report::roofline_lines;
  json_members members;
  roofline_reading read(trace, std::nullopt, range_scope::process);
  auto const peaks = find_peaks(trace, read);
  read.read(true);
  if (!read.has_counters()) {
    members.add_text("missing", trace.without_counters());
    return std::move(members).take();
  }
  roofline const roofs(read.metrics(), read.times(), read.devices(), trace.shapes(), read.codes());
  auto const facts = facts_of(trace, read, roofs, std::nullopt, peaks);
  constexpr std::pair<std::string_view, roofline_lines> groups[] = {
      {"kernels", roofline_lines::kernels},
      {"signatures", roofline_lines::signatures},
      {"ranges", roofline_lines::ranges},
      {"graphs", roofline_lines::graphs}};
  for (auto const& [name, by] : groups) {
    auto rows = lines_of(by, roofs, trace, read.ranges());
    if (rows.size() > max_rows) rows.resize(max_rows);
    auto& text = members.add(name);
    report::write_roofline_json(rows, by, facts, [&text](std::string_view part) { text += part; });
  }
  return std::move(members).take();
}

/// What analyze says, or {"missing": "why"}: a capture of ranges alone has a page, too.
result<std::string> advice_document(page_inputs const& inputs) {
  auto const outcome = read_advice({{inputs.capture}, {}, inputs.step_name, {}});
  std::string text;
  if (outcome.made) {
    report::write_advice_json(*outcome.made, [&text](std::string_view part) { text += part; });
    return text;
  }
  if (outcome.failure.wrong_options) return error{outcome.failure.message};
  json_members members;
  members.add_text("missing", outcome.failure.message);
  return std::move(members).take();
}

std::string facts_document(std::string const& capture, trace_contents& trace) {
  json_members members;
  members.add_text("capture", std::filesystem::path(capture).filename().string());
  members.add_text("version", GPUPROF_VERSION);
  members.add("origin_ns") += std::to_string(trace.origin().value);
  members.add_texts("overview", overview_lines(trace.overview()));
  members.add_texts("lost", trace.missing());
  return std::move(members).take();
}

void add_timeline(page::page_contents& contents, page::timeline const& made) {
  auto document = page::document_of(made);
  contents.blocks.push_back({"timeline", page::packed(document.head)});
  for (auto& [name, bytes] : document.columns)
    contents.blocks.push_back({"timeline-" + name, std::move(bytes)});
}

/// Reads the timeline and, in the same pass, the details of kernels.
void add_timeline_and_details(page::page_contents& contents, page_inputs const& inputs,
                              watched_kernels const& watched, trace_contents& trace) {
  page::kernel_details details(watched.kernels, watched.signatures, {});
  auto const undisturbed = undisturbed_lengths(trace);
  capture_visitor also;
  also.range = [&](captured_range const& range) { details.open(range); };
  also.kernel = [&](captured_kernel const& kernel) {
    auto const instead = undisturbed.find(kernel.correlation);
    details.add(kernel,
                instead == undisturbed.end() ? std::nullopt : std::optional(instead->second));
  };
  also.copy = [&](captured_copy const& copy) { details.add_other(copy); };
  also.fill = [&](captured_fill const& fill) { details.add_other(fill); };
  also.sample = [&](captured_sample const& sample) { details.add(sample); };
  add_timeline(contents,
               page::read_timeline(inputs.capture, inputs.max_bars, inputs.advance, also));
  details.finish();
  contents.blocks.push_back({"details", page::packed(kernel_document(watched, details, trace))});
}

}  // namespace

result<page::page_contents> read_page(page_inputs const& inputs) {
  page::page_contents contents;
  contents.title = std::filesystem::path(inputs.capture).filename().string() + " - gpuprof report";
  auto const advice = advice_document(inputs);
  if (!advice) return error{advice.message()};
  watched_kernels watched;
  auto const stats = stats_document(inputs.capture, watched);
  if (!stats) return error{stats.message()};
  auto opened = capture::reader::open(inputs.capture);
  if (!opened) return error{opened.message()};
  trace_contents trace(*std::move(opened));
  contents.blocks.push_back({"analyze", page::packed(*advice)});
  contents.blocks.push_back({"stats", page::packed(*stats)});
  contents.blocks.push_back({"roofline", page::packed(roofline_document(trace))});
  contents.blocks.push_back({"facts", page::packed(facts_document(inputs.capture, trace))});
  try {
    add_timeline_and_details(contents, inputs, watched, trace);
  } catch (std::runtime_error const& what) {
    return error{what.what()};
  }
  return contents;
}

}  // namespace gpuprof
