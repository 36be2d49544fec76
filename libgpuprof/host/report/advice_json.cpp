// SPDX-License-Identifier: Apache-2.0
// Writes advice as one JSON object.
#include "host/advice/rule.hpp"
#include "host/report/advice_fields.hpp"
#include "host/report/advice_words.hpp"
#include "host/report/critical_path_table.hpp"
#include "host/report/json_object.hpp"

namespace gpuprof::host::report {
namespace {

void append_holds(std::string& out, advice::bottleneck const& holds) {
  json_object o(out);
  o.text("bucket", key_of(holds.bucket));
  o.number("share", holds.share);
  o.flag("launches_hold", holds.launches_hold);
  o.text("sentence", holds.sentence);
  o.text("steps", holds.steps);
  o.end();
}

void append_roof(std::string& out, std::optional<advice::roof_distance> const& roof,
                 std::string const& sentence) {
  if (!roof) {
    out += "null";
    return;
  }
  json_object o(out);
  o.number("share", roof->share);
  o.number("known_share", roof->known_share);
  o.text("bound_by", name_of(roof->bound));
  o.text("sentence", sentence);
  o.end();
}

/// Writes a row for each bucket that has time.
void append_buckets_of(std::string& out, ledger_line const& line, bool& is_first) {
  auto const all = line.times.total();
  for (std::size_t i = 0; i < time_bucket_count; ++i) {
    auto const bucket = static_cast<time_bucket>(i);
    auto const ns = line.times[bucket];
    if (ns <= 0) continue;
    if (!is_first) out += ",\n ";
    is_first = false;
    json_object o(out);
    if (!line.rank.empty()) o.text("rank", line.rank);
    o.whole("device", line.device.value_or(0));
    o.text("bucket", key_of(bucket));
    o.number("ns", ns);
    o.number("share", ns / all);
    o.end();
  }
}

void append_ledger(std::string& out, ledger const& time) {
  out += '[';
  bool is_first = true;
  for (auto const& gpu : time.gpus) append_buckets_of(out, gpu, is_first);
  out += ']';
}

/// Writes {"compute": 1200} with the buckets that have time, in nanoseconds.
void append_times(std::string& out, bucket_times const& times) {
  json_object o(out);
  for (std::size_t i = 0; i < time_bucket_count; ++i) {
    auto const bucket = static_cast<time_bucket>(i);
    if (times[bucket] > 0) o.number(key_of(bucket), times[bucket]);
  }
  o.end();
}

void append_range(std::string& out, ledger_line const& line) {
  json_object o(out);
  o.text("range", line.label);
  o.number("total_ns", line.times.total());
  o.member("inclusive_ns", [&](std::string& to) { append_times(to, line.times); });
  o.member("exclusive_ns",
           [&](std::string& to) { append_times(to, line.own.value_or(line.times)); });
  o.end();
}

void append_step(std::string& out, ledger_line const& line) {
  json_object o(out);
  o.text("step", line.label);
  o.number("period_ns", line.period_ns > 0 ? std::optional(line.period_ns) : std::nullopt);
  o.number("total_ns", line.times.total());
  o.member("ns", [&](std::string& to) { append_times(to, line.times); });
  o.end();
}

void append_rank(std::string& out, captured_rank const& rank) {
  json_object o(out);
  o.text("rank", rank.rank);
  o.text("capture", rank.capture);
  if (!rank.costs.empty())
    o.member("cost", [&](std::string& to) { append_json_counts(to, rank.costs); });
  o.number("window_ns", rank.window_ns);
  o.member("holds", [&](std::string& to) { append_holds(to, rank.holds); });
  o.end();
}

void append_part(std::string& out, analyzed_part const& part) {
  json_object o(out);
  o.text("step", part.step);
  o.whole("steps", part.steps);
  o.whole("warm_up_steps", part.warm_up);
  o.whole("first_step", part.first_step);
  o.number("before_ns", part.before_ns);
  o.number("ns", part.ns);
  o.number("behind_ns", part.behind_ns);
  o.text("line", part_line(part));
  o.end();
}

void append_not_looked_at(std::string& out, advice::rule_without_data const& one) {
  json_object o(out);
  o.text("rule", one.of->name);
  o.member("missing",
           [&](std::string& to) { append_json_texts(to, advice::names_of(one.missing)); });
  o.text("how", one.how);
  o.end();
}

}  // namespace

void write_advice_json(advice_report const& report, text::text_sink const& out) {
  std::string text;
  auto const fields = finding_fields(report.advice.ranks > 1);
  auto const findings = [&](std::vector<advice::joined_finding> const& list) {
    return [&](std::string& to) {
      append_json_array(to, list, [&](std::string& into, advice::joined_finding const& one) {
        append_object(into, fields, listed_finding{&one, false});
      });
    };
  };
  auto const& time = report.time;
  json_object o(text);
  o.text("schema", "gpuprof-analyze-1");
  o.member("heading", [&](std::string& to) { append_json_texts(to, report.heading); });
  if (!report.costs.empty())
    o.member("cost", [&](std::string& to) { append_json_counts(to, report.costs); });
  o.number("window_ns", report.window_ns);
  if (report.part) o.member("part", [&](std::string& to) { append_part(to, *report.part); });
  o.number("best_case_share",
           report.all_windows_ns > 0 ? report.best_case_ns / report.all_windows_ns : 1);
  o.member("holds", [&](std::string& to) { append_holds(to, report.holds); });
  o.member("roof", [&](std::string& to) { append_roof(to, report.roof, roof_sentence(report)); });
  if (!report.ranks.empty())
    o.member("ranks", [&](std::string& to) { append_json_array(to, report.ranks, append_rank); });
  o.member("ledger", [&](std::string& to) { append_ledger(to, time); });
  o.member("ranges", [&](std::string& to) { append_json_array(to, time.ranges, append_range); });
  o.whole("more_ranges", time.more_ranges);
  o.member("steps", [&](std::string& to) { append_json_array(to, time.steps, append_step); });
  o.whole("more_steps", time.more_steps);
  o.member("critical_path",
           [&](std::string& to) { append_paths_json(to, report.step, report.paths); });
  o.number("min_gain", report.min_gain);
  o.member("findings", findings(report.advice.findings));
  o.member("below_threshold", findings(report.advice.too_small));
  o.member("not_looked_at", [&](std::string& to) {
    append_json_array(to, report.advice.missing, append_not_looked_at);
  });
  o.member("remarks", [&](std::string& to) { append_json_texts(to, report.remarks); });
  o.end();
  out(text + "\n");
}

}  // namespace gpuprof::host::report
