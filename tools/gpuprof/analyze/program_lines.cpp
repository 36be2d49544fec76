// SPDX-License-Identifier: Apache-2.0
#include "analyze/program_lines.hpp"

#include "host/analysis/module_tree.hpp"
#include "host/analysis/timeline/time_bucket.hpp"
#include "lines/stack_places.hpp"

#include <algorithm>
#include <cstdio>
#include <tuple>

namespace gpuprof::host::command {
namespace {

constexpr double nearly_all = 0.9;

/// The text with most of the time, with its share if it is not nearly all; empty if that is less
/// than `least` of it.
std::string main_text(std::map<std::string, double> const& texts, double all, double least) {
  auto const most = std::ranges::max_element(texts, {}, [](auto const& one) { return one.second; });
  if (most == texts.end() || all <= 0 || most->second < least * all) return {};
  if (most->second >= nearly_all * all) return most->first;
  char share[32];
  std::snprintf(share, sizeof share, " (%.0f %% of it)", 100 * most->second / all);
  return most->first + share;
}

bool is_idle_by_cpu(time_bucket bucket) noexcept {
  return bucket == time_bucket::launch_bound || bucket == time_bucket::cpu_work ||
         bucket == time_bucket::between_steps || bucket == time_bucket::data_loading;
}

}  // namespace

program_lines::program_lines(trace_contents& trace, stack_times const& times) {
  auto const& stacks = trace.stacks();
  auto const text = [&](name_id name) { return trace.text()(name); };
  module_tree const modules(stacks, text);
  for (auto const& [stack, sum] : times.stacks()) {
    program_place place;
    if (auto const* const frame = named_frame(stacks, stack, text)) {
      place.line = place_of(*frame, text);
      idle_[raw(stack)] += sum.idle_ns;
    }
    if (auto const number = modules.of(stack); number != 0) {
      auto const& module = modules.modules()[number];
      place.module = folded_path(module.path);
      // The path of an outermost module is its class.
      if (!place.module.starts_with('(')) place.module += ": " + module.type;
    }
    places_.emplace(raw(stack), std::move(place));
  }
  auto const& base = trace.labels(kernel_name_style::base);
  auto const& full = trace.labels(kernel_name_style::demangled);
  times.each_recorded([&](stack_times::ran what, stack_id stack, stack_sum const& sum) {
    if (what.is == stack_times::ran::kind::call) {
      calls_[std::string(text(static_cast<name_id>(what.id)))][raw(stack)] += sum.wait_ns;
    } else if (what.is == stack_times::ran::kind::kernel) {
      auto const shape = static_cast<shape_id>(what.id);
      auto const& name = full.text(full.label_of(shape));
      auto const& short_name = base.text(base.label_of(shape));
      kernels_[name][raw(stack)] += sum.gpu_ns;
      if (short_name != name) kernels_[short_name][raw(stack)] += sum.gpu_ns;
    }
  });
}

void program_lines::name(std::span<advice::finding> findings) const {
  for (auto& one : findings) {
    program_place place;
    if (auto const kernel = kernels_.find(one.kernel); kernel != kernels_.end())
      place = main_place(kernel->second);
    else if (auto const call = calls_.find(one.call); call != calls_.end())
      place = main_place(call->second);
    else if (one.kernel.empty() && one.call.empty() && is_idle_by_cpu(one.bucket))
      place = main_place(idle_);
    if (one.line.empty()) one.line = std::move(place.line);
    if (one.module.empty()) one.module = std::move(place.module);
  }
}

program_place program_lines::main_place(by_stack const& stacks) const {
  std::map<std::string, double> lines, modules;
  double all = 0, with_line = 0;
  for (auto const& [stack, ns] : stacks) {
    all += ns;
    auto const place = places_.find(stack);
    if (place == places_.end()) continue;
    if (!place->second.line.empty()) {
      lines[place->second.line] += ns;
      with_line += ns;
    }
    if (!place->second.module.empty()) modules[place->second.module] += ns;
  }
  return {main_text(lines, with_line, 0), main_text(modules, all, 0.5)};
}

std::vector<advice::idle_look> idle_looks_of(trace_contents& trace,
                                             idle_causes::looks_sum const& seen) {
  stack_places const places(trace);
  std::map<std::tuple<time_bucket, std::string, std::string, std::string>, advice::idle_look> sums;
  for (auto const& [key, looks] : seen.by_key) {
    advice::idle_look one{.bucket = key.bucket,
                          .cause = key.cause,
                          .has_python = raw(key.stack) != 0,
                          .loads_data = places.loads_data(key.stack),
                          .words = places.words_of(key),
                          .where = places.where(places.own_frame_of(key.stack)),
                          .held_by = places.where(places.own_frame_of(key.holder)),
                          .looks = 0,
                          .in_module = 0};
    auto& sum =
        sums.try_emplace({key.bucket, one.words, one.where, one.held_by}, one).first->second;
    sum.looks += looks;
    if (places.is_in_module(key.stack)) sum.in_module += looks;
  }
  std::vector<advice::idle_look> all;
  for (auto& [_, one] : sums) all.push_back(std::move(one));
  std::stable_sort(all.begin(), all.end(),
                   [](auto const& a, auto const& b) { return a.looks > b.looks; });
  return all;
}

}  // namespace gpuprof::host::command
