// SPDX-License-Identifier: Apache-2.0
#include "analyze/program_lines.hpp"

#include "host/analysis/timeline/time_bucket.hpp"
#include "lines/stack_places.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <tuple>

namespace gpuprof::host::command {
namespace {

constexpr double nearly_all = 0.9;

/// "train.py:61", with its share if it is not nearly all.
std::string main_line(std::map<std::string, double> const& lines) {
  auto const of_all = [](double sum, auto const& line) { return sum + line.second; };
  auto const all = std::accumulate(lines.begin(), lines.end(), 0.0, of_all);
  auto const most = std::max_element(
      lines.begin(), lines.end(), [](auto const& a, auto const& b) { return a.second < b.second; });
  if (most == lines.end() || all <= 0) return {};
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
  auto const stacks = stacks_of(trace.file());
  auto const is_own = [&](stack_record const& frame) {
    return is_own_by_default(trace.text()(frame.file));
  };
  auto const line_of = [&](stack_id stack) -> std::string {
    auto const* const frame = own_frame(stacks, stack, is_own);
    if (frame == nullptr) return {};
    auto const file = trace.text()(frame->file);
    return std::string(file.substr(file.rfind('/') + 1)) + ':' + std::to_string(frame->line);
  };
  std::map<stack_id, std::string> lines;
  for (auto const& [stack, sum] : times.stacks()) {
    auto line = line_of(stack);
    if (line.empty()) continue;
    idle_[line] += sum.idle_ns;
    lines_.emplace(raw(stack), line);
    lines.emplace(stack, std::move(line));
  }
  auto const& base = trace.labels(kernel_name_style::base);
  auto const& full = trace.labels(kernel_name_style::demangled);
  times.each_recorded([&](stack_times::ran what, stack_id stack, stack_sum const& sum) {
    auto const line = lines.find(stack);
    if (line == lines.end()) return;
    if (what.is == stack_times::ran::kind::call) {
      calls_[std::string(trace.text()(static_cast<name_id>(what.id)))][line->second] += sum.wait_ns;
    } else if (what.is == stack_times::ran::kind::kernel) {
      auto const shape = static_cast<shape_id>(what.id);
      auto const& name = full.text(full.label_of(shape));
      auto const& short_name = base.text(base.label_of(shape));
      kernels_[name][line->second] += sum.gpu_ns;
      if (short_name != name) kernels_[short_name][line->second] += sum.gpu_ns;
    }
  });
}

void program_lines::name(std::span<advice::finding> findings) const {
  for (auto& one : findings) {
    if (!one.line.empty()) continue;
    if (auto const kernel = kernels_.find(one.kernel); kernel != kernels_.end())
      one.line = main_line(kernel->second);
    else if (auto const call = calls_.find(one.call); call != calls_.end())
      one.line = main_line(call->second);
    else if (one.kernel.empty() && one.call.empty() && is_idle_by_cpu(one.bucket))
      one.line = main_line(idle_);
  }
}

std::string program_lines::line_of(std::map<std::uint32_t, double> const& stacks) const {
  by_line lines;
  for (auto const& [stack, ns] : stacks)
    if (auto const line = lines_.find(stack); line != lines_.end()) lines[line->second] += ns;
  return main_line(lines);
}

std::vector<advice::idle_look> idle_looks_of(trace_contents& trace, idle_causes const& causes) {
  stack_places const places(trace);
  std::map<std::tuple<time_bucket, std::string, std::string, std::string>, advice::idle_look> sums;
  for (auto const& [key, looks] : causes.looks()) {
    advice::idle_look one{.bucket = key.bucket,
                          .cause = key.cause,
                          .has_python = raw(key.stack) != 0,
                          .loads_data = places.loads_data(key.stack),
                          .words = places.words_of(key),
                          .where = places.where(places.own_frame_of(key.stack)),
                          .held_by = places.where(places.own_frame_of(key.holder)),
                          .looks = 0};
    auto& sum =
        sums.try_emplace({key.bucket, one.words, one.where, one.held_by}, one).first->second;
    sum.looks += looks;
  }
  std::vector<advice::idle_look> all;
  for (auto& [_, one] : sums) all.push_back(std::move(one));
  std::stable_sort(all.begin(), all.end(),
                   [](auto const& a, auto const& b) { return a.looks > b.looks; });
  return all;
}

}  // namespace gpuprof::host::command
