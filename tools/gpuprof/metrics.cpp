// SPDX-License-Identifier: Apache-2.0
// gpuprof metrics: what the hardware of a chip can count, and how many launches are needed to read
// it.
#include "chip_at_hand.hpp"
#include "guest/metrics/planning/counter_library.hpp"
#include "guest/metrics/planning/metric_sets.hpp"
#include "metrics_output.hpp"
#include "progress.hpp"
#include "subcommands.hpp"
#include "word_option.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <regex>

namespace gpuprof::host::command {

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
  auto const out = output_file::open(options.output.output, options.output.force_overwrite);
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
  auto const out = output_file::open(options.output.output, options.output.force_overwrite);
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
