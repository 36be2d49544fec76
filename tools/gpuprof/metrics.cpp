// SPDX-License-Identifier: Apache-2.0
// gpuprof metrics: what the hardware of a chip can count, and how many launches are needed to read
// it.
#include "chip_at_hand.hpp"
#include "guest/metrics/planning/counter_library.hpp"
#include "guest/metrics/planning/metric_sets.hpp"
#include "guest/metrics/planning/pass_plan.hpp"
#include "output_file.hpp"
#include "progress.hpp"
#include "report_format.hpp"
#include "subcommands.hpp"
#include "text/table.hpp"
#include "texts.hpp"
#include "word_option.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::command {
namespace {

struct shown_metric {
  std::string name;
  guest::metric_properties properties;
  /// Number of launches that it needs by itself, and if it can be sampled; empty: not asked. passes
  /// 0: readings cannot include it.
  std::optional<std::size_t> passes;
  std::optional<bool> sampled;
};

struct metric_list {
  std::string chip, cupti;  // "GH100", "13.0.1"
  std::vector<shown_metric> metrics;
  guest::metric_catalog const* catalog = nullptr;  // lists its suffixes
};

struct set_plan {
  std::string cupti;
  std::vector<std::string> words;     // the requested sets and names
  std::vector<shown_metric> metrics;  // the metrics in the order of the plan
  std::vector<std::string> absent;    // metrics of the sets that only other chips have
  guest::pass_plan plan;
};

using namespace guest;

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

/// JSON includes unusable metrics; for other formats the caller reports them.
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

}  // namespace

using namespace guest;

namespace {

struct metrics_options {
  std::string chip, query;
  std::vector<std::string> set;
  bool passes = false;
  output_options output;
  report_format format{};
};

/// Up to this many metrics can be queried one by one in about a second.
constexpr std::size_t asked_at_once = 200;

int fail(int code, std::string const& message) {
  std::fprintf(stderr, "gpuprof metrics: %s\n", message.c_str());
  return code;
}

struct counters_of_chip {
  counter_library const& library;
  std::string chip;

  result<host_profiler> open(counter_engine engine) const {
    return host_profiler::open(library.api(), engine, chip);
  }
};

/// Accepts a metric with or without suffix. The sampler knows some metrics that the other engine
/// does not.
metric_properties properties_of(std::string const& metric, host_profiler const& ranges,
                                host_profiler const* sampling) {
  auto known = ranges.properties(metric);
  if (!known && sampling != nullptr) known = sampling->properties(metric);
  return known ? *std::move(known) : metric_properties{};
}

/// Asks CUPTI for the passes of each metric with its usual suffix.
result<void> add_passes(std::vector<shown_metric>& metrics, host_profiler const& ranges,
                        host_profiler const* sampling) {
  progress_line progress("asking for passes", metrics.size());
  for (auto& metric : metrics) {
    std::string const name = metric.name + std::string(usual_suffix(metric.properties.type));
    auto const launched = ranges.configure(std::span(&name, 1));
    if (!launched) return error{launched.message()};
    metric.passes = launched->passes;
    metric.sampled = false;
    if (sampling != nullptr) {
      auto const sampled = sampling->configure(std::span(&name, 1));
      if (!sampled) return error{sampled.message()};
      metric.sampled = sampled->passes == 1;
    }
    progress.advance(1);
  }
  return {};
}

int list_metrics(metrics_options const& options, counters_of_chip const& chip) {
  std::regex expression;
  try {
    expression.assign(options.query);
  } catch (std::regex_error const&) {
    return fail(2, "--query '" + options.query + "' is not a regular expression");
  }
  auto const ranges = chip.open(counter_engine::ranges);
  if (!ranges) return fail(1, ranges.message());
  auto const sampling = chip.open(counter_engine::sampling);
  auto const* const sampler = sampling ? &*sampling : nullptr;
  auto const catalog = metric_catalog::read(*ranges, sampler);
  if (!catalog) return fail(1, catalog.message());

  metric_list list{
      .chip = chip.chip, .cupti = chip.library.version(), .metrics = {}, .catalog = &*catalog};
  auto const* const named = catalog->base_of(options.query);  // a full name with suffix
  for (auto const& metric : catalog->metrics()) {
    if (&metric != named && !std::regex_search(metric.name, expression)) continue;
    list.metrics.push_back({.name = metric.name,
                            .properties = properties_of(metric.name, *ranges, sampler),
                            .passes = {},
                            .sampled = {}});
    list.metrics.back().properties.type = metric.type;
  }
  if (list.metrics.empty()) {
    auto const nearest = catalog->explain(options.query).nearest;
    return fail(1, "no metric of " + chip.chip + " matches '" + options.query + "'" +
                       (nearest.empty() ? "" : ", did you mean " + nearest + "?"));
  }
  if (options.passes || list.metrics.size() <= asked_at_once) {
    if (auto const added = add_passes(list.metrics, *ranges, sampler); !added)
      return fail(1, added.message());
  }
  auto out = output_file::open(options.output.output, options.output.force_overwrite);
  if (!out) return fail(1, out.message());
  write_metrics(list, options.format, *out);
  auto const written = out->finish();
  return written ? 0 : fail(1, written.message());
}

result<pass_plan> plan_watched(counters_of_chip const& chip, std::vector<std::string> metrics) {
  terminal_line line;
  auto const begun = std::chrono::steady_clock::now();
  return plan_passes(
      chip.library.api(),
      {.chip = chip.chip,
       .metrics = std::move(metrics),
       .range_availability = {},
       .sampling_availability = {},
       .on_progress = [&](std::size_t tried) {
         if (std::chrono::steady_clock::now() - begun > std::chrono::seconds(1))
           line.show("gpuprof: planning, " + std::to_string(tried) + " combinations tried");
       }});
}

void add_absent(set_plan& set, std::string const& chip) {
  for (auto const& word : set.words) {
    auto const named = metric_set_named(word);
    if (!named) continue;
    for (auto const& metric : contents_of(*named, chip).absent)
      if (std::find(set.absent.begin(), set.absent.end(), metric) == set.absent.end())
        set.absent.push_back(metric);
  }
}

int plan_set(metrics_options const& options, counters_of_chip const& chip) {
  auto const metrics = chosen_metrics(options.set, chip.chip);
  if (!metrics) return fail(2, metrics.message());
  auto plan = plan_watched(chip, *metrics);
  if (!plan) return fail(1, plan.message());
  auto const ranges = chip.open(counter_engine::ranges);
  if (!ranges) return fail(1, ranges.message());
  auto const sampling = chip.open(counter_engine::sampling);

  set_plan set{.cupti = chip.library.version(),
               .words = options.set,
               .metrics = {},
               .absent = {},
               .plan = *std::move(plan)};
  for (auto const& metric : set.plan.metrics)
    set.metrics.push_back(
        {.name = metric.name,
         .properties = properties_of(metric.name, *ranges, sampling ? &*sampling : nullptr),
         .passes = metric.launch_passes,
         .sampled = metric.sampling_passes == 1});
  add_absent(set, chip.chip);
  for (auto const& metric : set.plan.unusable)
    fail(1, metric.name + ": " + metric.reason +
                (metric.nearest.empty() ? "" : ", did you mean " + metric.nearest + "?"));
  if (set.metrics.empty() && options.format != report_format::json) return 1;
  auto out = output_file::open(options.output.output, options.output.force_overwrite);
  if (!out) return fail(1, out.message());
  write_plan(set, options.format, *out);
  if (auto const written = out->finish(); !written) return fail(1, written.message());
  return set.plan.unusable.empty() ? 0 : 1;
}

int run(metrics_options options) {
  auto const format = chosen_format(options.output);
  if (!format) return fail(2, format.message());
  options.format = *format;
  auto const place = output_file::check(options.output.output, options.output.force_overwrite);
  if (!place) return fail(1, place.message());
  if (!options.set.empty() && !options.query.empty())
    return fail(2, "--set says which metrics: leave out --query");
  if (auto const words = chosen_metrics(options.set, {}); !words) return fail(2, words.message());
  auto const library = counter_library::open();
  if (!library) return fail(1, library.message());
  auto const chips = known_chips(library->api());
  if (!chips) return fail(1, chips.message());

  if (!options.chip.empty()) {
    auto chip = chip_named(options.chip, *chips);
    if (!chip) return fail(2, chip.message());
    counters_of_chip const counters{*library, *std::move(chip)};
    return options.set.empty() ? list_metrics(options, counters) : plan_set(options, counters);
  }
  auto chip = chip_at_hand();
  if (!chip) {
    std::string known;
    for (auto const& name : *chips) known += ' ' + name;
    return fail(1, "there is no GPU whose chip could be asked about (" + chip.message() +
                       "); give one by --chip, known are" + known);
  }
  counters_of_chip const counters{*library, *std::move(chip)};
  return options.set.empty() ? list_metrics(options, counters) : plan_set(options, counters);
}

}  // namespace

void add_metrics(CLI::App& app, int& exit_code) {
  auto const options = std::make_shared<metrics_options>();
  auto* const command = app.add_subcommand(
      "metrics", "List what the hardware can count, and plan how it is read; needs no GPU");
  std::string sets = "Sets:\n";
  for (auto const& set : metric_sets())
    sets += "  " + std::string(set.name) + std::string(10 - set.name.size(), ' ') +
            std::string(set.purpose) + "\n";
  command->footer(sets +
                  "Exit status: 0 done, 1 when it could not be done or a metric cannot be read; 2 "
                  "when the command line is wrong.");
  command->add_option("--chip", options->chip,
                      "NAME: this chip (GH100) instead of that of the GPU here");
  command->add_option("--query", options->query, "REGEX: only metrics whose name has a match");
  auto* const set = command->add_option(
      "--set", options->set, "NAME[,NAME...]: how these sets or metrics are read, pass by pass");
  value_words set_names{.words = {}, .is_list = true};
  for (auto const& known : metric_sets()) set_names.words.emplace_back(known.name);
  complete_with(set, std::move(set_names));
  set->delimiter(',')->expected(1)->allow_extra_args(false)->multi_option_policy(
      CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--passes", options->passes,
                    "Passes of every metric listed, however many: half a minute for all");
  add_output_options(*command, options->output);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace gpuprof::host::command
