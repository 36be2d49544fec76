// SPDX-License-Identifier: Apache-2.0
#include "host/report/advice_fields.hpp"

#include "host/report/advice_words.hpp"
#include "host/report/json_object.hpp"

namespace gpuprof::host::report {
namespace {

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
  to.push_back(text_field("gain_from", "gain_from",
                          [](auto const& one) { return one.is_replayed ? "replay" : "sums"; }));
  to.push_back(text_field("then_held_by", "then_held_by", [](auto const& one) {
    return one.then ? replay::name_of(*one.then) : std::string_view();
  }));
}

}  // namespace

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

}  // namespace gpuprof::host::report
