// SPDX-License-Identifier: Apache-2.0
// Advice as text: what limits the program, where its time went, what to do, what is not known.
#include "base/readable.hpp"
#include "host/report/advice_report.hpp"
#include "host/report/advice_words.hpp"
#include "host/report/ledger_table.hpp"
#include "text/padding.hpp"

#include <algorithm>
#include <map>

namespace gpuprof::host::report {
namespace {

using text_lines = std::vector<std::string>;

constexpr std::size_t findings_by_default = 10, page_length = 100;
constexpr std::size_t ledger_page = 20, ledger_page_beside = 8;

void append(text_lines& to, text_lines const& more) {
  to.insert(to.end(), more.begin(), more.end());
}

text_lines headline(advice_report const& report, std::size_t width) {
  text_lines lines;
  for (auto const& line : report.heading) append_wrapped(lines, text::on_one_line(line), width, 4);
  lines.emplace_back();
  append_wrapped(lines, report.holds.sentence, width, 0);
  if (!report.holds.steps.empty()) append_wrapped(lines, report.holds.steps, width, 0);
  if (auto const text = roof_sentence(report); !text.empty()) append_wrapped(lines, text, width, 0);
  for (auto const& remark : report.remarks)
    append_wrapped(lines, "Note: " + text::on_one_line(remark), width, 6);
  return lines;
}

text_lines shares_of(ledger const& time, ledger_lines which, std::size_t max_lines,
                     std::size_t width) {
  struct words {
    std::string_view title, plural, order;
  };
  static constexpr words of_lines[] = {{"GPU", "GPUs", ""},
                                       {"range", "ranges", "longest "},
                                       {"step", "steps", "slowest "},
                                       {"rank", "ranks", ""},
                                       {"kind", "kinds", ""}};
  auto const& [title, plural, order] = of_lines[static_cast<std::size_t>(which)];
  auto const all = lines_of(time, which);
  std::vector<ledger_line> shown(all.begin(), all.end());
  if (which == ledger_lines::steps)
    std::stable_sort(shown.begin(), shown.end(),
                     [](auto const& a, auto const& b) { return a.length_ns() > b.length_ns(); });
  auto const more = which == ledger_lines::ranges  ? time.more_ranges
                    : which == ledger_lines::steps ? time.more_steps
                                                   : 0;
  auto const count = shown.size() + more;
  if (shown.size() > max_lines) shown.resize(max_lines);
  auto lines = ledger_shares(shown, std::string(title), width);
  if (count > shown.size())
    lines.push_back("  the " + std::string(order.empty() ? "first " : order) +
                    std::to_string(shown.size()) + " of " + readable_count(count) + " " +
                    std::string(plural) + "; -f json has all that are kept");
  return lines;
}

text_lines ledger_text(advice_report const& report, std::optional<ledger_lines> by,
                       std::size_t width) {
  auto const& time = report.time;
  text_lines lines;
  if (by == ledger_lines::kinds && !time.kinds.empty()) {
    lines.emplace_back("What the time of kernels went to:");
    append(lines, kinds_table(time));
    return lines;
  }
  if (by) {
    auto const shown = shares_of(time, *by, ledger_page, width);
    lines.emplace_back("Where the time of GPUs went:");
    if (lines_of(time, *by).empty())
      lines.back() = "Where the time of GPUs went: the capture has nothing to show it by.";
    else
      append(lines, shown);
    if (*by == ledger_lines::steps && !time.steps.empty())
      append_wrapped(lines,
                     "  time: from the start of a step to that of the next one of its thread, "
                     "without the time of the profiler; shares: of what GPUs did for it",
                     width, 2);
    return lines;
  }
  bucket_times all;
  for (auto const& gpu : time.gpus) all += gpu.times;
  lines.push_back(time.gpus.size() > 1
                      ? "Where the time of " + counted(time.gpus.size(), "GPUs") + " went:"
                      : "Where the time of the GPU went:");
  append(lines,
         ledger_bars(all, width, [&](time_bucket bucket) { return causes_of(time, bucket); }));
  if (auto const kinds = kinds_of(time); !kinds.empty()) {
    lines.emplace_back();
    append_wrapped(lines, kinds, width, 0);
  }
  auto const each = !time.ranks.empty() ? ledger_lines::ranks : ledger_lines::gpus;
  if (lines_of(time, each).size() > 1) {
    lines.emplace_back();
    append(lines, shares_of(time, each, ledger_page_beside, width));
  }
  return lines;
}

/// Returns "sync_point 0.4 %, small_copies 0.1 %": each rule once, with its highest share.
std::string rules_with_shares(std::span<advice::joined_finding const> findings) {
  std::vector<std::pair<std::string_view, double>> rules;
  for (auto const& finding : findings) {
    auto const known = std::find_if(rules.begin(), rules.end(), [&](auto const& rule) {
      return rule.first == finding.one.rule;
    });
    if (known == rules.end())
      rules.emplace_back(finding.one.rule, finding.share.high);
    else
      known->second = std::max(known->second, finding.share.high);
  }
  std::string text;
  for (auto const& [rule, share] : rules)
    text += (text.empty() ? "" : ", ") + std::string(rule) + " " + percent(share);
  return text;
}

/// Lists what a capture lacks, with the rules that need it.
text_lines not_looked_at(advice_report const& report, std::size_t width) {
  std::vector<std::pair<std::string, std::string>> by_need;
  for (auto const& [rule, missing, need] : report.advice.missing) {
    auto known = std::find_if(by_need.begin(), by_need.end(),
                              [&need = need](auto const& one) { return one.first == need; });
    if (known == by_need.end()) known = by_need.insert(by_need.end(), {need, ""});
    known->second += (known->second.empty() ? "" : ", ") + std::string(rule->name);
  }
  text_lines lines;
  if (by_need.empty()) return lines;
  lines.emplace_back();
  if (by_need.size() > 2) {
    auto const most =
        std::max_element(by_need.begin(), by_need.end(), [](auto const& a, auto const& b) {
          return std::count(a.second.begin(), a.second.end(), ',') <
                 std::count(b.second.begin(), b.second.end(), ',');
        });
    append_wrapped(lines,
                   "Not looked at: " + std::to_string(report.advice.missing.size()) +
                       " rules, which need other data, most of them: " + most->first +
                       ". --list-rules says what each needs",
                   width, 2);
    return lines;
  }
  lines.emplace_back("Not looked at:");
  for (auto const& [need, rules] : by_need)
    append_wrapped(lines, "  " + rules + "; needs: " + need, width, 4);
  return lines;
}

text_lines tail_of(advice_report const& report, std::size_t width) {
  text_lines lines;
  auto const& below = report.advice.too_small;
  if (!below.empty()) {
    lines.emplace_back();
    append_wrapped(lines,
                   std::to_string(below.size()) + " more below " + percent(report.min_gain) +
                       " of the " + report.whole + ": " + rules_with_shares(below) +
                       "; --min-gain 0% shows them",
                   width, 2);
  }
  append(lines, not_looked_at(report, width));
  return lines;
}

/// Returns the number of the first of `shown` that asks for the same; 0: none does.
std::size_t number_of_same_fix(std::span<advice::joined_finding const> shown,
                               advice::finding const& one) {
  auto const same = std::find_if(shown.begin(), shown.end(), [&](auto const& other) {
    return other.one.rule == one.rule && other.one.to_do == one.to_do;
  });
  return same == shown.end() ? 0 : static_cast<std::size_t>(same - shown.begin()) + 1;
}

text_lines findings_heading(advice_report const& report, std::size_t width) {
  text_lines lines{""};
  auto const& found = report.advice.findings;
  if (found.empty()) {
    append_wrapped(lines,
                   "No finding above " + percent(report.min_gain) + " of the " + report.whole + ".",
                   width, 0);
    return lines;
  }
  auto text = counted(found.size(), "findings");
  if (report.best_case_ns < report.all_windows_ns && report.all_windows_ns > 0)
    text += std::string("; what ") + (found.size() == 1 ? "it" : "these findings") +
            " can save: up to " + percent(1 - report.best_case_ns / report.all_windows_ns) +
            " of the " + report.whole;
  append_wrapped(lines, text + ":", width, 0);
  return lines;
}

void put(text_lines const& lines, text::text_sink const& out) {
  for (auto const& line : lines) out(line + "\n");
}

}  // namespace

std::string part_line(analyzed_part const& part) {
  auto const all = part.steps + part.warm_up;
  std::string text = (part.warm_up > 0 ? readable_count(part.steps) + " of " : std::string()) +
                     readable_count(all) + " \"" + part.step + "\"";
  if (part.step.empty()) text = "the part behind the first tenth of the launches";
  text += ", " + readable_time(part.ns);
  std::string left_out, them = part.step.empty() ? "it" : "them";
  if (part.before_ns > 0)
    left_out = readable_time(part.before_ns) + " before " + them +
               (part.warm_up > 0 ? " (with " + readable_count(part.warm_up) + " of warm-up)" : "");
  if (part.behind_ns > 0)
    left_out += (left_out.empty() ? "" : ", ") + readable_time(part.behind_ns) + " after " + them;
  if (!left_out.empty())
    text += "; left out: " + left_out + "; --all shows the whole " +
            (part.is_of_phase ? "phase" : "run");
  return text;
}

void write_advice_text(advice_report const& report, advice_text_options const& options,
                       text::text_sink const& out, text::page const& on) {
  auto lines = headline(report, on.width);
  lines.emplace_back();
  append(lines, ledger_text(report, options.by, on.width));
  append(lines, findings_heading(report, on.width));
  auto const tail = tail_of(report, on.width);

  auto const& found = report.advice.findings;
  auto const limit = options.limit.value_or(findings_by_default);
  auto const& whole = report.whole;
  finding_layout layout{on.width, report.advice.ranks, on.bold_headings, whole};
  std::size_t shown = 0;
  while (shown < found.size() && (limit == 0 || shown < limit)) {
    layout.as_before = number_of_same_fix(std::span(found).first(shown), found[shown].one);
    auto const block = finding_text(shown + 1, found[shown], layout);
    constexpr std::size_t lines_of_rest = 5;  // blanks, and the number of further findings
    if (!options.limit && lines.size() + block.size() + tail.size() + lines_of_rest > page_length)
      break;
    lines.emplace_back();
    append(lines, block);
    ++shown;
  }
  if (shown < found.size()) {
    lines.emplace_back();
    append_wrapped(lines,
                   std::to_string(found.size() - shown) +
                       " more findings: " + rules_with_shares(std::span(found).subspan(shown)) +
                       "; --limit 0 shows them",
                   on.width, 2);
  }
  append(lines, tail);
  put(lines, out);
}

}  // namespace gpuprof::host::report
