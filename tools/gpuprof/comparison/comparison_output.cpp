// SPDX-License-Identifier: Apache-2.0
#include "comparison/comparison_output.hpp"

#include "base/readable.hpp"
#include "comparison/comparison_tables.hpp"
#include "comparison/headlines.hpp"
#include "comparison/markdown.hpp"
#include "output_file.hpp"
#include "terminal.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace gpuprof {
namespace {

using compare::comparison;
using compare::difference;
using compare::line_kind;
using nlohmann::ordered_json;

struct part {
  std::string title;
  std::vector<difference const*> lines;
  std::size_t left_out = 0;
};

part part_of(comparison const& of, std::string title, std::span<line_kind const> kinds,
             std::size_t limit) {
  part found{std::move(title), {}, 0};
  for (auto const& line : of.lines) {
    if (std::find(kinds.begin(), kinds.end(), line.kind) == kinds.end()) continue;
    if (limit > 0 && found.lines.size() >= limit)
      ++found.left_out;
    else
      found.lines.push_back(&line);
  }
  return found;
}

std::vector<part> parts_of(comparison const& of, std::size_t limit) {
  constexpr line_kind ranges[] = {line_kind::step, line_kind::gpu_time, line_kind::range};
  constexpr line_kind kernels[] = {line_kind::kernel};
  constexpr line_kind buckets[] = {line_kind::bucket};
  constexpr line_kind findings[] = {line_kind::finding};
  return {part_of(of, "Steps and Ranges", ranges, limit), part_of(of, "Kernels", kernels, limit),
          part_of(of, "Time Ledger", buckets, limit), part_of(of, "Findings", findings, limit)};
}

void write_to_read(output_file const& out, comparison const& of, compared_sides const& sides,
                   comparison_page const& page) {
  auto const is_markdown = page.format == comparison_format::markdown;
  auto const sink = [&out](std::string_view text) { out.put(text); };
  auto const line_out = [&](std::string const& line) {
    is_markdown ? out.put("- " + markdown_text(line) + "\n") : put_line(out.stream(), line);
  };
  if (is_markdown) out.put("### gpuprof compare\n\n");
  for (auto const& line : headlines_of(of, sides)) line_out(line);
  for (auto const& line : of.remarks) line_out("note: " + line);
  for (auto const& part : parts_of(of, page.limit)) {
    if (part.lines.empty()) continue;
    auto const table = table_to_read(of, part.lines);
    out.put(is_markdown ? "\n**" + part.title + "**\n\n" : "\n ** " + part.title + ":\n\n");
    if (is_markdown)
      write_markdown(table, page.unit, sink);
    else
      report::write_columns(table, page.unit, sink, page_of(out.stream(), page.wide));
    if (part.left_out > 0)
      out.put((is_markdown ? "\n" : " ") + std::string("... and ") + readable_count(part.left_out) +
              " more that cost less; --limit 0 shows all\n");
  }
}

ordered_json side_json(std::span<compare::run_digest const> runs) {
  auto list = ordered_json::array();
  for (auto const& run : runs)
    list.push_back({{"capture", run.path},
                    {"command_line", run.command_line},
                    {"gpus", run.gpus},
                    {"steps", run.step ? ordered_json(run.step->count) : ordered_json()},
                    {"kernel_ns", run.kernel_ns},
                    {"window_ns", run.window_ns},
                    {"lost", run.lost}});
  return list;
}

}  // namespace

std::string comparison_json(comparison const& of, compared_sides const& sides,
                            std::span<compare::gate_result const> gate) {
  std::string lines;
  report::write_json(table_of_all(of), {}, [&](std::string_view text) { lines += text; });
  auto const number = [](std::optional<double> value) {
    return value ? ordered_json(*value) : ordered_json();
  };
  auto answers = ordered_json::array();
  constexpr char const* words[] = {"passed", "failed", "undecided"};
  for (auto const& answer : gate)
    answers.push_back({{"answer", words[static_cast<int>(answer.answer)]}, {"text", answer.line}});
  ordered_json const all{{"base", side_json(sides.base)},
                         {"new", side_json(sides.fresh)},
                         {"step", of.step.empty() ? ordered_json() : ordered_json(of.step)},
                         {"clock", number(of.clock)},
                         {"shared", number(of.shared)},
                         {"tested", of.tested},
                         {"notes", of.remarks},
                         {"gate", answers}};
  auto text = all.dump(2, ' ', false, ordered_json::error_handler_t::replace);
  text.resize(text.rfind('}'));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text + ",\n  \"lines\": " + lines + "}\n";
}

result<void> write_comparison(comparison const& of, compared_sides const& sides,
                              std::span<compare::gate_result const> gate,
                              comparison_page const& page) {
  std::vector<std::string> read;
  for (auto const& side : {sides.base, sides.fresh})
    for (auto const& run : side) read.push_back(run.path);
  auto const out = output_file::open(page.output, page.overwrite, read);
  if (!out) return error{out.message()};
  auto const sink = [&](std::string_view text) { out->put(text); };
  switch (page.format) {
    case comparison_format::csv:
      report::write_csv(table_of_all(of), {}, sink);
      break;
    case comparison_format::tsv:
      report::write_tsv(table_of_all(of), {}, sink);
      break;
    case comparison_format::json:
      sink(comparison_json(of, sides, gate));
      break;
    default:
      write_to_read(*out, of, sides, page);
      return out->finish();
  }
  if (page.format != comparison_format::json)
    for (auto const& line : of.remarks) std::fprintf(stderr, "gpuprof compare: %s\n", line.c_str());
  return out->finish();
}

}  // namespace gpuprof
