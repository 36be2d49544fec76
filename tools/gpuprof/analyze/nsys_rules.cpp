// SPDX-License-Identifier: Apache-2.0
#include "analyze/nsys_rules.hpp"

#include "base/nearest_name.hpp"
#include "host/analysis/nsys_rules/gpu_use.hpp"
#include "host/reading/time_merge.hpp"
#include "host/report/nsys_rule_tables.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace gpuprof::host::command {
namespace {

using nsys_rules::longest_rows;
using is_listed_call = bool (*)(std::string_view name, api_domain domain) noexcept;

struct rule_words {
  std::string_view name, title;
};
constexpr std::array<rule_words, 6> words = {
    {{"cuda_memcpy_async", "CUDA Async Memcpy with Pageable Memory"},
     {"cuda_memcpy_sync", "CUDA Synchronous Memcpy"},
     {"cuda_memset_sync", "CUDA Synchronous Memset"},
     {"cuda_api_sync", "CUDA Synchronization APIs"},
     {"gpu_gaps", "GPU Gaps"},
     {"gpu_time_util", "GPU Time Utilization"}}};

std::uint64_t ns_of(duration_ns duration) noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, duration.value));
}

class rule_reading {
 public:
  rule_reading(trace_contents& trace, nsys_rule_options const& options)
      : trace_(trace), options_(options) {
    // nsys lists calls of the runtime. A program of the driver API has only driver calls.
    bool any_of_runtime = false;
    trace_.file().for_each<api_record>(
        [&](std::span<api_record const> calls) {
          for (auto const& call : calls)
            any_of_runtime = any_of_runtime || call.domain == api_domain::runtime;
        },
        capture::only(&api_record::domain));
    if (!any_of_runtime) domain_ = api_domain::driver;
  }

  report::rule_table_context context() const {
    return {trace_.origin(), trace_.process_id(), trace_.text()};
  }
  result<void> needs_calls(std::string_view rule) {
    auto const only_blocking = trace_.calls() == captured_calls::blocking;
    if (only_blocking && rule == "cuda_memcpy_async")
      return error{trace_.file().path() + ": " + std::string(rule) +
                   " lists CUDA API calls that do not block, and only those that do were recorded; "
                   "record with --trace cuda,nvtx,cuda-api"};
    if (only_blocking) return {};
    if (trace_.file().row_count<api_record>() > 0) return {};
    return error{trace_.file().path() + ": " + std::string(rule) +
                 " lists CUDA API calls, and the capture has none; record with --trace "
                 "cuda,nvtx,cuda-api"};
  }

  /// Returns copies or fills for which is_listed(row) is true and that were made by one of these
  /// calls.
  template <class Row, class IsListed>
  std::vector<nsys_rules::memory_row> made_by(is_listed_call calls, IsListed is_listed) {
    auto const names = names_of_calls(calls);
    longest_rows<nsys_rules::memory_row> found(options_.rows);
    trace_.file().for_each<Row>([&](std::span<Row const> rows) {
      for (auto const& row : rows) {
        if (!is_wanted(row) || !is_listed(row)) continue;
        auto const call = names.find(raw(row.correlation));
        if (call != names.end()) found.add(row_of(row, call->second));
      }
    });
    return found.take();
  }

  std::vector<nsys_rules::call_row> waits() {
    longest_rows<nsys_rules::call_row> found(options_.rows);
    each_call(nsys_rules::is_wait_call, [&](api_record const& call) {
      found.add({ns_of(call.duration), call.start, call.os_thread, call.name});
    });
    return found.take();
  }

  std::vector<nsys_rules::gap_row> gaps() {
    nsys_rules::gpu_gaps found(options_.gap_ms * 1'000'000, options_.rows);
    for_each_in_time<kernel_record, copy_record, memset_record, graph_record,
                     unified_memory_record>(trace_.file(),
                                            [&](auto const& row) {
                                              if (is_wanted(row))
                                                found.add(nsys_rules::work_of(row));
                                            },
                                            kernel_columns(), {}, {}, {}, {});
    return found.take();
  }

  std::vector<nsys_rules::use_row> little_use() {
    nsys_rules::gpu_time_use use(options_.chunks);
    each_work([&](nsys_rules::gpu_work const& work) { use.find_extent(work); });
    each_work([&](nsys_rules::gpu_work const& work) { use.add(work); });
    auto rows = use.below(options_.threshold_percent);
    if (options_.rows && rows.size() > *options_.rows) rows.resize(*options_.rows);
    return rows;
  }

 private:
  static nsys_rules::memory_row row_of(copy_record const& copy, name_id call) {
    return {ns_of(copy.duration),  copy.start,  copy.source_kind,
            copy.destination_kind, copy.bytes,  copy.device,
            copy.context,          copy.stream, call};
  }
  static nsys_rules::memory_row row_of(memset_record const& fill, name_id call) {
    return {ns_of(fill.duration), fill.start,   {},          fill.kind, fill.bytes,
            fill.device,          fill.context, fill.stream, call};
  }
  template <class Row>
  bool is_wanted(Row const& row) const {
    return options_.wanted == nullptr || options_.wanted->keeps(row);
  }
  bool is_wanted(unified_memory_record const& row) const {
    return nsys_rules::is_migration(row) &&
           (options_.wanted == nullptr ||
            options_.wanted->keeps_unlaunched(row.start, row.start + row.duration));
  }
  bool is_wanted(api_record const& call) const {
    return options_.wanted == nullptr ||
           options_.wanted->keeps(call, trace_.thread_of(call.os_thread));
  }
  capture::column_set<kernel_record> kernel_columns() const {
    if (options_.wanted != nullptr) return {};
    return capture::only(&kernel_record::start, &kernel_record::duration, &kernel_record::device,
                         &kernel_record::context);
  }

  template <class F>
  void each_work(F f) {
    auto const take = [&](auto rows) {
      for (auto const& row : rows)
        if (is_wanted(row)) f(nsys_rules::work_of(row));
    };
    auto& file = trace_.file();
    file.for_each<kernel_record>([&](std::span<kernel_record const> rows) { take(rows); },
                                 kernel_columns());
    file.for_each<copy_record>([&](std::span<copy_record const> rows) { take(rows); });
    file.for_each<memset_record>([&](std::span<memset_record const> rows) { take(rows); });
    file.for_each<graph_record>([&](std::span<graph_record const> rows) { take(rows); });
    file.for_each<unified_memory_record>(
        [&](std::span<unified_memory_record const> rows) { take(rows); });
  }

  template <class F>
  void each_call(is_listed_call is_listed, F f) {
    std::unordered_map<std::uint32_t, bool> known;  // by name
    trace_.file().for_each<api_record>([&](std::span<api_record const> calls) {
      for (auto const& call : calls) {
        if (call.domain != domain_ || !is_wanted(call)) continue;
        auto const [at, is_new] = known.try_emplace(raw(call.name));
        if (is_new) at->second = is_listed(trace_.text()(call.name), domain_);
        if (at->second) f(call);
      }
    });
  }

  std::unordered_map<std::uint32_t, name_id> names_of_calls(is_listed_call is_listed) {
    std::unordered_map<std::uint32_t, name_id> names;  // by correlation
    each_call(is_listed, [&](auto const& call) { names[raw(call.correlation)] = call.name; });
    return names;
  }

  trace_contents& trace_;
  nsys_rule_options const& options_;
  api_domain domain_ = api_domain::runtime;
};

result<text::table> table_of_rule(rule_reading& reading, rule_words const& rule) {
  std::string const name(rule.name), title(rule.title);
  auto const context = reading.context();
  if (name == "gpu_gaps") return report::gap_rule_table(name, title, reading.gaps(), context);
  if (name == "gpu_time_util")
    return report::use_rule_table(name, title, reading.little_use(), context);
  if (auto const has_calls = reading.needs_calls(name); !has_calls)
    return error{has_calls.message()};
  if (name == "cuda_api_sync")
    return report::wait_rule_table(name, title, reading.waits(), context);
  if (name == "cuda_memset_sync")
    return report::fill_rule_table(name, title,
                                   reading.made_by<memset_record>(nsys_rules::is_blocking_fill_call,
                                                                  nsys_rules::is_of_host_memory),
                                   context);
  auto const is_async = name == "cuda_memcpy_async";
  return report::copy_rule_table(
      name, title,
      reading.made_by<copy_record>(
          is_async ? nsys_rules::is_asynchronous_copy_call : nsys_rules::is_blocking_copy_call,
          is_async ? nsys_rules::is_pageable : nsys_rules::waits_for_host),
      context);
}

}  // namespace

std::span<std::string_view const> nsys_rule_names() noexcept {
  static constexpr auto names = [] {
    std::array<std::string_view, words.size()> all{};
    for (std::size_t i = 0; i < words.size(); ++i) all[i] = words[i].name;
    return all;
  }();
  return names;
}

bool is_nsys_rule(std::string_view name) noexcept {
  auto const names = nsys_rule_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

result<text::table> nsys_rule_table(trace_contents& trace, std::string_view name,
                                    nsys_rule_options const& options) {
  auto const rule =
      std::find_if(words.begin(), words.end(), [&](auto const& each) { return each.name == name; });
  if (rule == words.end()) {
    auto const names = nsys_rule_names();
    auto const near = nearest_name(name, std::vector<std::string>(names.begin(), names.end()));
    return error{"nsys has no rule '" + std::string(name) + "'" +
                 (near.empty() ? "" : ", did you mean " + near + "?")};
  }
  if (options.chunks < 1 || options.chunks > 1000)
    return error{"gpu_time_util takes 1 to 1000 chunks, not " + std::to_string(options.chunks)};
  rule_reading reading(trace, options);
  return table_of_rule(reading, *rule);
}

}  // namespace gpuprof::host::command
