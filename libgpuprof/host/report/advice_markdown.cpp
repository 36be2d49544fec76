// SPDX-License-Identifier: Apache-2.0
// Advice as Markdown for pull requests and assistants: at most 60 lines.
#include "base/readable.hpp"
#include "host/report/advice_report.hpp"
#include "host/report/advice_words.hpp"
#include "host/report/ledger_table.hpp"
#include "text/padding.hpp"

#include <algorithm>

namespace gpuprof::host::report {
namespace {

constexpr std::size_t max_lines = 60, max_heading = 12, max_remarks = 6, lines_of_finding = 3;
constexpr std::size_t ledger_width = 76, longest_name = 120;

/// Escapes what Markdown or HTML would interpret.
std::string prose(std::string_view text) {
  std::string safe;
  for (auto const c : text::on_one_line(text)) {
    if (std::string_view("\\`*_[]<>|#~@!&").find(c) != std::string_view::npos) safe += '\\';
    safe += c;
  }
  return safe;
}

/// A name as code, in which only a backtick has a meaning.
std::string code(std::string_view name) {
  std::string const line = text::on_one_line(name);
  auto const shortened = text::shortened_apart({line}, longest_name);
  auto shown = shortened.empty() ? line : shortened.begin()->second;
  std::replace(shown.begin(), shown.end(), '`', '\'');
  return "`" + shown + "`";
}

std::string place_of(advice::finding const& one) {
  std::string text;
  auto const add = [&](std::string_view what, std::string const& name) {
    if (name.empty()) return;
    text += (text.empty() ? "" : ", ") + std::string(what) + code(name);
  };
  add("", one.kernel);
  add("range ", one.range);
  add("", one.call);
  add("line ", one.line);
  add("module ", one.module);
  return text.empty() ? std::string("the program") : text;
}

void append_finding(std::vector<std::string>& lines, std::size_t number,
                    advice::joined_finding const& of, std::string const& whole) {
  auto const gain = of.ns.high > 0 ? time_interval(of.ns) + " (" + share_interval(of.share) +
                                         " of the " + whole + ")" + condition_of(of.one)
                                   : std::string("no time to win by itself");
  auto const indent = std::string(std::to_string(number).size() + 2, ' ');
  lines.push_back(std::to_string(number) + ". **" + prose(of.one.what) + "** (" +
                  code(of.one.rule) + "): " + prose(gain));
  lines.push_back(indent + "at " + place_of(of.one) + "  ");
  lines.push_back(indent + prose(of.one.to_do));
}

std::vector<std::string> beginning_of(advice_report const& report) {
  std::vector<std::string> lines = {"### gpuprof analyze", ""};
  for (std::size_t i = 0; i < std::min(report.heading.size(), max_heading); ++i)
    lines.push_back("- " + prose(report.heading[i]));
  for (std::size_t i = 0; i < std::min(report.remarks.size(), max_remarks); ++i)
    lines.push_back("- Note: " + prose(report.remarks[i]));
  lines.emplace_back();
  auto sentence = "**" + prose(report.holds.sentence) + "**";
  for (auto const& more : {report.holds.steps, roof_sentence(report)})
    if (!more.empty()) sentence += " " + prose(more);
  lines.push_back(std::move(sentence));
  bucket_times all;
  for (auto const& gpu : report.time.gpus) all += gpu.times;
  lines.insert(lines.end(), {"", "```"});
  for (auto& line : ledger_bars(all, ledger_width)) lines.push_back(std::move(line));
  lines.insert(lines.end(), {"```", ""});
  return lines;
}

}  // namespace

void write_advice_markdown(advice_report const& report, advice_text_options const& options,
                           text::text_sink const& out) {
  auto lines = beginning_of(report);
  auto const& found = report.advice.findings;
  auto const asked = options.limit.value_or(0);
  auto const room = max_lines - std::min(max_lines, lines.size() + 2);
  auto const count =
      std::min({found.size(), asked > 0 ? asked : found.size(), room / lines_of_finding});
  for (std::size_t i = 0; i < count; ++i) append_finding(lines, i + 1, found[i], report.whole);
  if (found.empty())
    lines.push_back("No finding above " + percent(report.min_gain) + " of the " + report.whole +
                    ".");
  else if (count < found.size())
    lines.insert(lines.end(), {"", counted(found.size() - count, "more findings")});
  for (auto const& line : lines) out(line + "\n");
}

}  // namespace gpuprof::host::report
