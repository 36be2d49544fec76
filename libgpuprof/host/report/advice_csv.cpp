// SPDX-License-Identifier: Apache-2.0
// Findings as rows for programs.
#include "host/report/advice_report.hpp"
#include "host/report/advice_words.hpp"
#include "host/report/owned_rows.hpp"

namespace gpuprof::host::report {
namespace {

std::string ranks_of(advice::joined_finding const& of) {
  std::string text;
  for (auto const& rank : of.ranks)
    if (!rank.rank.empty()) text += (text.empty() ? "" : " ") + rank.rank;
  return text;
}

std::string evidence_of(advice::finding const& one) {
  std::string text;
  for (auto const& evidence : one.because)
    text += (text.empty() ? "" : "; ") + evidence_words(evidence);
  return text;
}

void add(owned_rows& rows, advice::joined_finding const& of, bool is_below) {
  auto const& one = of.one;
  std::uint64_t instances = 0;
  for (auto const& rank : of.ranks) instances += rank.instances;
  rows.rows.push_back({rows.keep(std::string(one.rule)),
                       group_of(one.rule),
                       name_of(one.level),
                       rows.keep(one.what),
                       one.device ? text::cell(std::int64_t{raw(*one.device)}) : text::cell(),
                       rows.keep(one.range),
                       rows.keep(one.kernel),
                       rows.keep(one.call),
                       rows.keep(ranks_of(of)),
                       whole(instances),
                       text::number_cell(of.ns.low / 1e6),
                       text::number_cell(of.ns.high / 1e6),
                       text::number_cell(of.share.low),
                       text::number_cell(of.share.high),
                       key_of(one.bucket),
                       rows.keep(evidence_of(one)),
                       rows.keep(one.to_do),
                       rows.keep(one.arithmetic),
                       std::int64_t{one.changes_results},
                       std::int64_t{one.is_hidden_by_launches},
                       std::int64_t{is_below}});
}

}  // namespace

text::table advice_csv_table(advice_report const& report) {
  using enum text::column_kind;
  std::vector<text::column> columns = {{"rule"},
                                       {"group"},
                                       {"severity"},
                                       {"what"},
                                       {"device", integer},
                                       {"range"},
                                       {"kernel"},
                                       {"call"},
                                       {"ranks"},
                                       {"instances", integer},
                                       {"gain_low_ms", number},
                                       {"gain_high_ms", number},
                                       {"of_window_low", number},
                                       {"of_window_high", number},
                                       {"bucket"},
                                       {"evidence"},
                                       {"to_do"},
                                       {"arithmetic"},
                                       {"changes_results", integer},
                                       {"hidden_by_launches", integer},
                                       {"below_threshold", integer}};
  owned_rows rows;
  for (auto const& one : report.advice.findings) add(rows, one, false);
  for (auto const& one : report.advice.too_small) add(rows, one, true);
  return table_of("findings", "Findings", std::move(columns), std::move(rows));
}

}  // namespace gpuprof::host::report
