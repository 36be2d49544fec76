// SPDX-License-Identifier: Apache-2.0
// Writes advice as one JSON object.
#include "host/advice/rule.hpp"
#include "host/report/advice_report.hpp"
#include "host/report/advice_words.hpp"
#include "host/report/critical_path_table.hpp"
#include "host/report/fields.hpp"
#include "host/report/json_object.hpp"

#include <vector>

namespace gpuprof::host::report {
namespace {

struct listed_finding {
  advice::joined_finding const* of;
  bool is_below;  // its potential gain is below the requested minimum
};

using finding_field = field<listed_finding>;
using enum text::column_kind;

std::uint64_t instances_of(advice::joined_finding const& of) {
  std::uint64_t instances = 0;
  for (auto const& rank : of.ranks) instances += rank.instances;
  return instances;
}

void append_evidence(std::string& out, advice::evidence const& one) {
  json_object o(out);
  o.text("name", one.name);
  o.number("value", one.value);
  o.text("unit", one.unit);
  o.text("source", one.source);
  if (one.error > 0) o.number("error", one.error);
  o.end();
}

void append_gain_of_rank(std::string& out, advice::gain_of_rank const& of) {
  json_object o(out);
  o.text("rank", of.rank);
  o.whole("instances", of.instances);
  o.member("potential_gain_ms", [&](std::string& to) {
    json_object gain(to);
    gain.number("low", of.gain.low_ns / 1e6);
    gain.number("high", of.gain.high_ns / 1e6);
    gain.end();
  });
  o.end();
}

written_value written(std::vector<advice::evidence> const& list) {
  written_value all;
  for (auto const& one : list) all.cell += (all.cell.empty() ? "" : "; ") + evidence_words(one);
  append_json_array(all.json, list, append_evidence);
  return all;
}

written_value written(std::vector<advice::gain_of_rank> const& ranks) {
  written_value all;
  for (auto const& one : ranks)
    if (!one.rank.empty()) all.cell += (all.cell.empty() ? "" : " ") + one.rank;
  append_json_array(all.json, ranks, append_gain_of_rank);
  return all;
}

/// `get` takes the finding and returns a text.
template <class Get>
finding_field text_field(std::string column, std::string member, Get get) {
  return {std::move(column), std::move(member), text::column_kind::text,
          [get](listed_finding const& l) { return std::string(get(l.of->one)); }};
}

finding_field bound_field(std::string column, std::string member, double unit,
                          advice::interval advice::joined_finding::*of,
                          double advice::interval::*bound) {
  return {std::move(column), std::move(member), number,
          [=](listed_finding const& l) { return known((l.of->*of).*bound / unit); }};
}

/// Shown as a whole number in a table cell, as true or false in JSON.
finding_field flag_field(std::string column, std::string member,
                         std::function<bool(listed_finding const&)> get) {
  return {std::move(column), std::move(member), integer,
          [get = std::move(get)](listed_finding const& l) {
            return written_value{get(l) ? "1" : "0", get(l) ? "true" : "false"};
          }};
}

void add_place(std::vector<finding_field>& to, bool has_several_ranks) {
  to.push_back({"device", "device", integer, [=](listed_finding const& l) -> field_value {
                  if (!l.of->one.device) return {};
                  auto const device = std::to_string(raw(*l.of->one.device));
                  return written_value{device, has_several_ranks ? "null" : device};
                }});
  to.push_back(text_field("range", "where.range", [](auto const& one) { return one.range; }));
  to.push_back(text_field("kernel", "where.kernel", [](auto const& one) { return one.kernel; }));
  to.push_back(text_field("call", "where.call", [](auto const& one) { return one.call; }));
  to.push_back(text_field("line", "where.line", [](auto const& one) { return one.line; }));
  to.push_back(text_field("module", "where.module", [](auto const& one) { return one.module; }));
  to.push_back({"ranks", has_several_ranks ? "ranks" : "", text::column_kind::text,
                [](listed_finding const& l) { return written(l.of->ranks); }});
}

void add_gain(std::vector<finding_field>& to) {
  using advice::interval, advice::joined_finding;
  to.push_back(bound_field("gain_low_ms", "potential_gain_ms.low", 1e6, &joined_finding::ns,
                           &interval::low));
  to.push_back(bound_field("gain_high_ms", "potential_gain_ms.high", 1e6, &joined_finding::ns,
                           &interval::high));
  to.push_back(
      bound_field("of_window_low", "of_window.low", 1, &joined_finding::share, &interval::low));
  to.push_back(
      bound_field("of_window_high", "of_window.high", 1, &joined_finding::share, &interval::high));
  to.push_back(text_field("condition", "condition", [](auto const& one) { return one.condition; }));
  to.push_back(text_field("gain_from", "gain_from",
                          [](auto const& one) { return one.is_replayed ? "replay" : "sums"; }));
  to.push_back(text_field("then_held_by", "then_held_by", [](auto const& one) {
    return one.then ? replay::name_of(*one.then) : std::string_view();
  }));
}

/// In the order of the columns. With several ranks JSON has the potential gain of each.
std::vector<field<listed_finding>> finding_fields(bool has_several_ranks) {
  std::vector<finding_field> fields;
  fields.push_back(text_field("rule", "rule", [](auto const& one) { return one.rule; }));
  fields.push_back(
      text_field("group", "group", [](auto const& one) { return group_of(one.rule); }));
  fields.push_back(
      text_field("severity", "severity", [](auto const& one) { return name_of(one.level); }));
  fields.push_back(text_field("what", "what", [](auto const& one) { return one.what; }));
  add_place(fields, has_several_ranks);
  fields.push_back({"instances", "instances", integer,
                    [](listed_finding const& l) { return instances_of(*l.of); }});
  add_gain(fields);
  fields.push_back(
      text_field("bucket", "bucket", [](auto const& one) { return key_of(one.bucket); }));
  fields.push_back({"evidence", "evidence", text::column_kind::text,
                    [](listed_finding const& l) { return written(l.of->one.because); }});
  fields.push_back(text_field("to_do", "to_do", [](auto const& one) { return one.to_do; }));
  fields.push_back(
      text_field("arithmetic", "arithmetic", [](auto const& one) { return one.arithmetic; }));
  fields.push_back(flag_field("changes_results", "changes_results",
                              [](auto const& l) { return l.of->one.changes_results; }));
  fields.push_back(flag_field("hidden_by_launches", "hidden_by_launches",
                              [](auto const& l) { return l.of->one.is_hidden_by_launches; }));
  fields.push_back(flag_field("below_threshold", "", [](auto const& l) { return l.is_below; }));
  return fields;
}

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

void append_kind(std::string& out, kind_line const& line) {
  json_object o(out);
  o.text("kind", key_of(line.kind));
  o.whole("launches", line.launches);
  o.number("ns", line.ns);
  o.number("share", line.share);
  o.number("dram_bytes", line.dram_bytes);
  o.number("of_roof", line.of_roof);
  o.end();
}

void append_cause(std::string& out, idle_cause_line const& cause) {
  json_object o(out);
  o.text("bucket", key_of(cause.bucket));
  o.text("cause", cause.words);
  o.text("where", cause.where);
  o.text("held_by", cause.held_by);
  o.number("ns", cause.ns);
  o.number("share", cause.share);
  o.number("looks", cause.looks);
  o.end();
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

text::table advice_csv_table(advice_report const& report) {
  auto const lines = std::make_shared<std::vector<listed_finding>>();
  for (auto const& one : report.advice.findings) lines->push_back({&one, false});
  for (auto const& one : report.advice.too_small) lines->push_back({&one, true});
  auto made = table_of_fields("findings", "Findings", finding_fields(report.advice.ranks > 1),
                              std::span<listed_finding const>(*lines));
  made.each_row = [lines, each_row = std::move(made.each_row)](auto const& take) {
    each_row(take);
  };
  return made;
}

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
  o.member("kinds", [&](std::string& to) { append_json_array(to, time.kinds, append_kind); });
  o.member("idle_causes",
           [&](std::string& to) { append_json_array(to, time.causes, append_cause); });
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
