// SPDX-License-Identifier: Apache-2.0
#include "base/nearest_name.hpp"
#include "host/analysis/selection.hpp"
#include "model/kernel_patterns.hpp"
#include "whatif/repair_options.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace gpuprof::host::command {
namespace {

using replay::name_set;
using replay::repair;
using replay::repair_kind;

/// The length of a smaller copy hardly depends on the rate of the link.
constexpr std::uint64_t small_copy_bytes = 65'536;

enum class subject { work, call, range };

std::string_view words_of(subject of) noexcept {
  switch (of) {
    case subject::work:
      return "GPU work";
    case subject::call:
      return "call";
    case subject::range:
      return "range";
  }
  return {};
}

/// Removes the version that CUPTI adds to runtime calls ("cudaFree_v3020"). "cuMemAlloc_v2" is the
/// name of the driver's function.
std::string without_version(std::string const& call) {
  auto const at = call.rfind("_v");
  return at == call.npos || at + 2 == call.size() ? call : call.substr(0, at);
}

class repair_list {
 public:
  repair_list(steps_of_capture const& steps, replay::step_graph const& graph)
      : steps_(steps), recorded_(graph.recorded()) {}

  void add(repair_kind kind, subject of, std::string const& option, std::string const& pattern,
           double value = 0) {
    if (failed()) return;
    auto names = match(of, pattern);
    if (!names) return fail(option + " " + names.message(), true);
    if (std::find(names->begin(), names->end(), true) == names->end())
      return fail(option + ": the steps hold no " + std::string(words_of(of)) + " '" + pattern +
                      "'" + nearest(of, pattern),
                  false);
    made_.repairs.push_back({kind, *std::move(names), value, 0});
  }
  /// Scales GPU work of this name, or calls if there is no such work.
  void add_scale(std::string const& option, std::string const& pattern, double value) {
    if (failed()) return;
    auto const calls = match(subject::call, pattern);
    auto const works = match(subject::work, pattern);
    if (!calls || !works) return fail(option + " " + works.message(), true);
    auto const has_any = [](name_set const& names) {
      return std::find(names.begin(), names.end(), true) != names.end();
    };
    if (has_any(*calls) && !has_any(*works))
      add(repair_kind::scale_calls, subject::call, option, pattern, value);
    else
      add(repair_kind::scale, subject::work, option, pattern, value);
  }
  /// A kernel whose roof is not known cannot be replayed there.
  void add_roofs(std::vector<std::string> const& patterns,
                 std::map<std::string, double> const& reached) {
    for (auto const& pattern : patterns) {
      auto const before = made_.repairs.size();
      add(repair_kind::scale, subject::work, "--roof", pattern);
      if (failed()) return;
      auto const asked = std::exchange(made_.repairs[before].names, {});
      made_.repairs.resize(before);
      for (std::size_t i = 0; i < asked.size(); ++i) {
        if (!asked[i]) continue;
        auto const known = reached.find(recorded_.work_names[i]);
        if (known == reached.end())
          return fail("--roof " + pattern + " is not replayed: the capture does not tell how far " +
                          recorded_.work_names[i] +
                          " is from its roof; record with gpuprof profile --metrics auto",
                      false);
        name_set only(asked.size());
        only[i] = true;
        made_.repairs.push_back({repair_kind::scale, std::move(only), known->second, 0});
      }
    }
  }
  void add(repair one) {
    if (!failed()) made_.repairs.push_back(std::move(one));
  }
  void fail(std::string message, bool wrong_options) {
    if (!failed()) made_.failure = {std::move(message), wrong_options};
  }
  bool failed() const noexcept { return made_.failure.has_value(); }
  stated_repairs take() { return std::move(made_); }

 private:
  std::vector<std::string> const& names_of(subject of) const noexcept {
    switch (of) {
      case subject::work:
        return steps_.raw_work_names;
      case subject::call:
        return recorded_.call_names;
      case subject::range:
        return recorded_.range_names;
    }
    return recorded_.range_names;
  }

  result<name_set> match(subject of, std::string const& pattern) const {
    auto const& names = names_of(of);
    name_set found(names.size());
    if (of == subject::work &&
        (pattern == "kernels" || pattern == "copies" || pattern == "fills")) {
      auto const kind = pattern == "kernels"  ? replay::work_kind::kernel
                        : pattern == "copies" ? replay::work_kind::copy
                                              : replay::work_kind::fill;
      for (auto const& item : recorded_.items)
        if (item.kind == kind) found[item.name] = true;
      return found;
    }
    kernel_pattern const asked[] = {kernel_pattern_of(pattern)};
    auto const patterns = kernel_patterns::make(asked);
    if (!patterns) return error{patterns.message()};
    for (std::size_t i = 0; i < names.size(); ++i)
      found[i] = patterns->match(names[i]) ||
                 (of == subject::call && patterns->match(without_version(names[i])));
    return found;
  }

  std::string nearest(subject of, std::string const& pattern) const {
    auto const& shown = of == subject::work ? recorded_.work_names : names_of(of);
    auto const near = nearest_name(pattern, shown);
    return near.empty() ? "" : "; did you mean '" + near + "'?";
  }

  steps_of_capture const& steps_;
  replay::recorded_steps const& recorded_;
  stated_repairs made_;
};

struct factor_of_name {
  std::string name;
  double factor = 0;
};

/// "NAME=0.5": the last '=' counts, names of kernels may have some.
std::optional<factor_of_name> factor_of(std::string const& text) {
  auto const at = text.rfind('=');
  if (at == text.npos || at == 0) return std::nullopt;
  double factor = 0;
  auto const* const end = text.data() + text.size();
  auto const [stop, failed] = std::from_chars(text.data() + at + 1, end, factor);
  if (failed != std::errc{} || stop != end || !(factor >= 0)) return std::nullopt;
  return factor_of_name{text.substr(0, at), factor};
}

void add_factors(repair_list& list, std::string const& option, std::vector<std::string> const& all,
                 bool is_cpu) {
  for (auto const& text : all) {
    auto const factor = factor_of(text);
    if (!factor)
      return list.fail(option + " takes NAME=FACTOR, as in NAME=0.5, not '" + text + "'", true);
    if (is_cpu)
      list.add(repair_kind::scale_cpu, subject::range, option, factor->name, factor->factor);
    else
      list.add_scale(option, factor->name, factor->factor);
  }
}

void add_pinned(repair_list& list, steps_of_capture const& steps, replay::step_graph const& graph) {
  bool is_any = false, to_device = false, to_host = false;
  for (auto const& item : graph.items()) {
    is_any = is_any || item.is_pageable;
    if (!item.is_pageable || item.bytes <= small_copy_bytes) continue;
    (item.to_host ? to_host : to_device) = true;
  }
  auto const to_device_rate = steps.pinned_to_device_bytes_per_ns;
  auto const to_host_rate = steps.pinned_to_host_bytes_per_ns;
  if (!is_any) return list.fail("--pinned: no copy in the steps uses pageable memory", false);
  if ((to_device && to_device_rate <= 0) || (to_host && to_host_rate <= 0))
    return list.fail(
        "--pinned is not replayed: the rate of pinned copies is not known; record a run that has "
        "the peaks of this GPU, or a pinned copy of 1 MiB or more in each direction",
        false);
  list.add(repair{repair_kind::pin, {}, to_device_rate, to_host_rate});
}

void add_launch_cost(repair_list& list, repair_options const& options,
                     replay::step_graph const& graph) {
  auto const now_ns = graph.pace().launch_ns;
  if (now_ns <= 0)
    return list.fail("what a launch costs is not known: too few launches follow each other", false);
  auto const cost = options.launch_cost_ns.value_or(
      std::max(0.0, static_cast<double>(now_ns) - options.traced_launch_ns));
  list.add(repair{repair_kind::launch_cost, {}, cost, 0});
}

}  // namespace

std::vector<std::string> repair_texts(repair_options const& options) {
  std::vector<std::string> texts;
  auto const add = [&](char const* option, std::vector<std::string> const& values) {
    for (auto const& value : values) texts.push_back(std::string(option) + " " + value);
  };
  add("--drop", options.drop);
  add("--merge", options.merge);
  add("--no-call", options.no_call);
  add("--graph", options.graph);
  if (options.pinned) texts.emplace_back("--pinned");
  add("--overlap", options.overlap);
  add("--scale", options.scale);
  add("--roof", options.roof);
  add("--cpu", options.cpu);
  if (!options.no_cpu_longer.empty()) texts.push_back("--no-cpu-longer " + options.no_cpu_longer);
  if (options.launch_cost_ns) {
    auto text = std::to_string(*options.launch_cost_ns);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    texts.push_back("--launch-cost " + text);
  }
  if (options.without_profiler) texts.emplace_back("--without-profiler");
  return texts;
}

stated_repairs repairs_of(repair_options const& options, steps_of_capture const& steps,
                          replay::step_graph const& graph, reached_roofs const& roofs) {
  repair_list list(steps, graph);
  for (auto const& name : options.drop) list.add(repair_kind::drop, subject::work, "--drop", name);
  for (auto const& name : options.merge)
    list.add(repair_kind::merge, subject::work, "--merge", name);
  for (auto const& name : options.no_call)
    list.add(repair_kind::drop_calls, subject::call, "--no-call", name);
  if (options.launch_cost_ns && options.without_profiler)
    list.fail("choose one of --launch-cost and --without-profiler", true);
  if (options.launch_cost_ns || options.without_profiler) add_launch_cost(list, options, graph);
  for (auto const& name : options.graph)
    list.add(repair_kind::as_graph, subject::range, "--graph", name);
  if (options.pinned) add_pinned(list, steps, graph);
  for (auto const& name : options.overlap)
    list.add(repair_kind::overlap, subject::work, "--overlap", name);
  add_factors(list, "--scale", options.scale, false);
  if (!options.roof.empty()) list.add_roofs(options.roof, roofs());
  add_factors(list, "--cpu", options.cpu, true);
  if (!options.no_cpu_longer.empty()) {
    auto const limit = parse_time_stretch(options.no_cpu_longer + "/", timestamp_ns{});
    if (!limit)
      list.fail("--no-cpu-longer takes a time, as in 1ms, not '" + options.no_cpu_longer + "'",
                true);
    else
      list.add(repair{.kind = repair_kind::scale_long_cpu,
                      .limit_ns = static_cast<double>(limit->begin.value)});
  }
  return list.take();
}

}  // namespace gpuprof::host::command
