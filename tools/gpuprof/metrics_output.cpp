// SPDX-License-Identifier: Apache-2.0
#include "metrics_output.hpp"

#include "text/table.hpp"
#include "texts.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string_view>

namespace gpuprof::host::command {

using namespace guest;

namespace {

using nlohmann::ordered_json;
constexpr auto no_unit = text::time_unit::nanoseconds;

void put_json(ordered_json const& json, output_file const& out) {
  out.put(json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

char const* word_for(metric_type type) {
  switch (type) {
    case metric_type::ratio:
      return "ratio";
    case metric_type::throughput:
      return "throughput";
    case metric_type::counter:
      break;
  }
  return "counter";
}

std::string_view yes_or_no(std::optional<bool> answer) {
  if (!answer) return {};
  return *answer ? "yes" : "no";
}

text::cell passes_cell(std::optional<std::size_t> passes) {
  if (!passes) return {};
  return static_cast<std::int64_t>(*passes);
}

ordered_json json_of(shown_metric const& metric) {
  ordered_json json{{"name", metric.name},
                    {"type", word_for(metric.properties.type)},
                    {"hardware_unit", metric.properties.hardware_unit},
                    {"unit", metric.properties.unit}};
  if (metric.passes) json["passes"] = *metric.passes;
  if (metric.sampled) json["sampled"] = *metric.sampled;
  json["description"] = metric.properties.description;
  return json;
}

/// A table for readers; data that were not requested have no column.
text::table text_table(std::vector<shown_metric> const& metrics, bool with_passes) {
  text::table table{"metrics", "Metrics", {{"Name"}, {"Unit"}}, {}};
  if (with_passes) {
    table.columns.push_back({"Passes", text::column_kind::integer});
    table.columns.push_back({"Sampled"});
  }
  table.columns.push_back({"Description"});
  table.each_row = [&metrics, with_passes](std::function<void(text::row const&)> const& take) {
    for (auto const& metric : metrics) {
      text::row row{metric.name, metric.properties.unit};
      if (with_passes) {
        row.push_back(passes_cell(metric.passes));
        row.emplace_back(yes_or_no(metric.sampled));
      }
      row.emplace_back(metric.properties.description);
      take(row);
    }
  };
  return table;
}

/// All fields, always the same columns.
text::table csv_table(std::vector<shown_metric> const& metrics) {
  return {"metrics",
          "Metrics",
          {{"name"},
           {"type"},
           {"hardware_unit"},
           {"unit"},
           {"passes", text::column_kind::integer},
           {"sampled"},
           {"description"}},
          [&metrics](std::function<void(text::row const&)> const& take) {
            for (auto const& metric : metrics)
              take({metric.name, word_for(metric.properties.type), metric.properties.hardware_unit,
                    metric.properties.unit, passes_cell(metric.passes), yes_or_no(metric.sampled),
                    metric.properties.description});
          }};
}

bool any_of_type(std::vector<shown_metric> const& metrics, metric_type type) {
  return std::any_of(metrics.begin(), metrics.end(),
                     [&](shown_metric const& metric) { return metric.properties.type == type; });
}

void put_list_text(metric_list const& list, output_file const& out) {
  auto const put = [&out](std::string_view text) { out.put(text); };
  auto const with_passes = !list.metrics.empty() && list.metrics.front().passes.has_value();
  text::write_columns(text_table(list.metrics, with_passes), no_unit, put);
  put("\n" + std::to_string(list.metrics.size()) + " of " +
      std::to_string(list.catalog->metrics().size()) + " metrics of " + list.chip + ", CUPTI " +
      list.cupti + ". To be read a name needs a suffix:\n");
  if (any_of_type(list.metrics, metric_type::counter))
    put("  counters     .sum .avg .min .max, alone or with .per_second, .per_cycle_active,\n"
        "               .pct_of_peak_sustained_elapsed, ...\n");
  if (any_of_type(list.metrics, metric_type::ratio)) put("  ratios       .ratio .pct .max_rate\n");
  if (any_of_type(list.metrics, metric_type::throughput))
    put("  throughputs  .avg .max .min .sum with .pct_of_peak_sustained_elapsed or _active\n");
  if (!with_passes)
    put("--passes adds the launches each takes and whether it can be sampled; for a narrower "
        "--query they are always given.\n");
}

ordered_json json_of(metric_list const& list) {
  ordered_json json{{"chip", list.chip}, {"cupti", list.cupti}};
  for (auto const type : {metric_type::counter, metric_type::ratio, metric_type::throughput})
    json["suffixes"][word_for(type)] = list.catalog->suffixes(type);
  json["metrics"] = ordered_json::array();
  for (auto const& metric : list.metrics) json["metrics"].push_back(json_of(metric));
  return json;
}

/// "basic,roofline"
std::string count_of(std::size_t count, std::string const& one, std::string const& several) {
  return std::to_string(count) + " " + (count == 1 ? one : several);
}

/// Returns the launches that a group takes: "3", or "3-4".
std::string span_of(std::size_t first, std::size_t passes) {
  auto text = std::to_string(first);
  if (passes > 1) text += "-" + std::to_string(first + passes - 1);
  return text;
}

shown_metric const* find(std::vector<shown_metric> const& metrics, std::string const& name) {
  auto const found = std::find_if(metrics.begin(), metrics.end(),
                                  [&](shown_metric const& metric) { return metric.name == name; });
  return found != metrics.end() ? &*found : nullptr;
}

struct plan_row {
  std::string launch;
  shown_metric const* metric = nullptr;
  bool sampled = false;
};

/// Rows in the order of reading; metrics that only the sampler reads come last.
std::vector<plan_row> rows_of(set_plan const& set) {
  std::vector<plan_row> rows;
  auto const add = [&](std::string const& launch, std::string const& name) {
    auto const& sampled = set.plan.sampled;
    rows.push_back({launch, find(set.metrics, name),
                    std::find(sampled.begin(), sampled.end(), name) != sampled.end()});
  };
  std::size_t first = 1;
  for (auto const& group : set.plan.launches) {
    for (auto const& name : group.metrics) add(span_of(first, group.passes), name);
    first += group.passes;
  }
  for (auto const& metric : set.plan.metrics)
    if (metric.launch_passes == 0) add("", metric.name);
  return rows;
}

text::table plan_table(std::vector<plan_row> const& rows, bool for_reading) {
  auto const names =
      for_reading
          ? std::vector<text::column>{{"Launch"}, {"Sampled"}, {"Unit"}, {"Name"}, {"Description"}}
          : std::vector<text::column>{{"launch"}, {"sampled"}, {"unit"}, {"name"}, {"description"}};
  return {"plan", "Plan", names, [&rows](std::function<void(text::row const&)> const& take) {
            for (auto const& row : rows)
              take({row.launch, row.sampled ? "yes" : "no", row.metric->properties.unit,
                    row.metric->name, row.metric->properties.description});
          }};
}

std::string sampling_line(pass_plan const& plan) {
  if (!plan.sampling_refused.empty()) return "Sampling: " + plan.sampling_refused + ".\n";
  auto line = "Sampling: " + std::to_string(plan.sampled.size()) + " of " +
              count_of(plan.metrics.size(), "metric", "metrics") + " together";
  if (plan.sampling_passes > 1)
    line += "; all that can be sampled would take " +
            count_of(plan.sampling_passes, "pass", "passes") + ", and sampling has one";
  return line + ".\n";
}

void put_plan_text(set_plan const& set, output_file const& out) {
  auto const put = [&out](std::string_view text) { out.put(text); };
  auto const& plan = set.plan;
  auto const rows = rows_of(set);
  text::write_columns(plan_table(rows, true), no_unit, put);
  put("\n" + joined(set.words, ", ") + " on " + plan.chip + ": " +
      count_of(plan.metrics.size(), "metric", "metrics") + " by CUPTI " + set.cupti + ".\n");
  put("Launches: " + count_of(plan.launch_passes(), "pass", "passes") +
      ", one a launch, spread over launches of the same work.\n");
  std::size_t first = 1;
  for (auto const& group : plan.launches) {
    if (group.patches_kernel)
      put("  Launch " + span_of(first, group.passes) +
          " runs a rewritten kernel, which is slower, to count instructions.\n");
    first += group.passes;
  }
  put(sampling_line(plan));
  if (!set.absent.empty()) put("Not on " + plan.chip + ": " + joined(set.absent, " ") + "\n");
}

ordered_json json_of(set_plan const& set) {
  auto const& plan = set.plan;
  ordered_json json{{"chip", plan.chip},
                    {"cupti", set.cupti},
                    {"set", set.words},
                    {"launch_passes", plan.launch_passes()}};
  json["launches"] = ordered_json::array();
  for (auto const& group : plan.launches)
    json["launches"].push_back({{"passes", group.passes},
                                {"patches_kernel", group.patches_kernel},
                                {"metrics", group.metrics}});
  json["sampled"] = plan.sampled;
  json["sampling_passes"] = plan.sampling_passes;
  if (!plan.sampling_refused.empty()) json["sampling_refused"] = plan.sampling_refused;
  json["metrics"] = ordered_json::array();
  for (auto const& metric : set.metrics) json["metrics"].push_back(json_of(metric));
  json["unusable"] = ordered_json::array();
  for (auto const& metric : plan.unusable)
    json["unusable"].push_back(
        {{"name", metric.name}, {"reason", metric.reason}, {"nearest", metric.nearest}});
  json["absent"] = set.absent;
  return json;
}

}  // namespace

void write_metrics(metric_list const& list, report_format format, output_file const& out) {
  auto const sink = [&out](std::string_view text) { out.put(text); };
  switch (format) {
    case report_format::json:
      return put_json(json_of(list), out);
    case report_format::csv:
      return text::write_csv(csv_table(list.metrics), no_unit, sink);
    case report_format::tsv:
      return text::write_tsv(csv_table(list.metrics), no_unit, sink);
    case report_format::table:
      return put_list_text(list, out);
  }
}

void write_plan(set_plan const& set, report_format format, output_file const& out) {
  auto const sink = [&out](std::string_view text) { out.put(text); };
  switch (format) {
    case report_format::json:
      return put_json(json_of(set), out);
    case report_format::csv:
      return text::write_csv(plan_table(rows_of(set), false), no_unit, sink);
    case report_format::tsv:
      return text::write_tsv(plan_table(rows_of(set), false), no_unit, sink);
    case report_format::table:
      return put_plan_text(set, out);
  }
}

}  // namespace gpuprof::host::command
