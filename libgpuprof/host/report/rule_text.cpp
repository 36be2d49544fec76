// SPDX-License-Identifier: Apache-2.0
#include "host/report/rule_text.hpp"

#include "host/advice/advice.hpp"
#include "host/advice/rule_names.hpp"
#include "host/report/owned_rows.hpp"
#include "text/padding.hpp"

namespace gpuprof::report {
namespace {

std::string needs_of(advise::rule const& rule) {
  std::string text;
  for (auto const& name : advise::names_of(rule.needs)) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

table rules_table(std::span<advise::rule const* const> rules) {
  owned_rows rows;
  for (auto const* rule : rules)
    rows.rows.push_back(
        {rule->name, name_of(rule->group), rows.keep(needs_of(*rule)), rule->question});
  return table_of("rules", "Rules", {{"Rule"}, {"Group"}, {"Needs"}, {"Question"}},
                  std::move(rows));
}

std::string rule_description(advise::rule const& rule, std::size_t width) {
  constexpr std::size_t indent = 12;
  std::string text;
  auto const add = [&](std::string_view label, std::string_view what) {
    if (what.empty()) return;
    std::string line;
    append_padded(line, label, indent, false);
    text += wrapped(line + std::string(what), width, indent) + "\n";
  };
  add("rule", rule.name);
  add("group", name_of(rule.group));
  add("question", rule.question);
  add("needs", needs_of(rule));
  add("recorded by", advise::how_to_record(rule.needs));
  add("fires at", rule.fires_at);
  add("gain", rule.gain);
  add("ignores", rule.ignores);
  add("next", rule.next);
  return text;
}

}  // namespace gpuprof::report
