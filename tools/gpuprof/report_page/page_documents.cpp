// SPDX-License-Identifier: Apache-2.0
#include "report_page/page_documents.hpp"

#include "host/analysis/roofline.hpp"
#include "host/page/packed_columns.hpp"
#include "host/page/timeline_document.hpp"
#include "host/page/timeline_reading.hpp"
#include "host/reader/capture_contents.hpp"
#include "host/reading/capture_walk.hpp"
#include "host/reading/roofline_reading.hpp"
#include "host/reading/summed_kernels.hpp"
#include "host/reading/trace_contents.hpp"
#include "host/report/advice_words.hpp"
#include "host/report/json_object.hpp"
#include "host/report/ledger_table.hpp"
#include "host/report/summary_tables.hpp"
#include "report_page/json_members.hpp"
#include "report_page/kernel_document.hpp"
#include "report_page/range_places.hpp"
#include "report_page/stack_document.hpp"
#include "report_page/timeline_places.hpp"
#include "roofline_facts.hpp"
#include "roofline_of_capture.hpp"
#include "stats_reports.hpp"
#include "trace_pass.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace gpuprof::host::command {
namespace {

constexpr std::array<std::string_view, 7> tables{
    "cuda_gpu_kern_sum", "cuda_gpu_kern_gb_sum", "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum",
    "cuda_api_sum",      "nvtx_gpu_proj_sum",    "gpu_metrics_sum"};

/// {"kernels": ..., "signatures": ..., "ranges": ..., "graphs": ...}, each as `gpuprof roofline -f
/// json` has it, and "left_out": how many lines of each have no room in the page.
std::string roofline_document(trace_contents& trace, roofline_reading const& read,
                              roofline const& roofs, moments const& peaks, std::size_t max_rows) {
  using report::roofline_lines;
  json_members members, left_out;
  auto const facts = facts_of(trace, read, roofs, std::nullopt, peaks);
  constexpr std::pair<std::string_view, roofline_lines> groups[] = {
      {"kernels", roofline_lines::kernels},
      {"signatures", roofline_lines::signatures},
      {"ranges", roofline_lines::ranges},
      {"graphs", roofline_lines::graphs}};
  for (auto const& [name, by] : groups) {
    auto rows = lines_of(by, roofs, trace, read.ranges());
    auto const kept = std::min(rows.size(), max_rows);
    left_out.add(name) += std::to_string(rows.size() - kept);
    rows.resize(kept);
    auto& text = members.add(name);
    report::write_roofline_json(rows, by, facts, [&text](std::string_view part) { text += part; });
  }
  members.add("left_out") += std::move(left_out).take();
  return std::move(members).take();
}

/// Walks once over the records for all sums: the tables, the roofline and the ranges. Must not be
/// moved, because its parts refer to each other.
class walked_parts {
 public:
  /// `kernels` gets the kernels while they are read.
  walked_parts(trace_contents& trace, parts_inputs const& inputs, kernel_block_queue& kernels)
      : trace_(trace),
        inputs_(inputs),
        kernels_(trace),
        counters_(trace, std::nullopt, range_scope::process),
        peaks_(find_peaks(trace, counters_)),
        places_(trace, inputs.step.name) {
    for (auto const name : tables) asked_.push_back(*parse_report(name));
    stats_.emplace(trace, selection(), range_scope::process, asked_);
    stats_->share(kernels_, counters_);
    read(kernels);
  }

  roofline_reading const& counters() const noexcept { return counters_; }
  std::vector<capture::block_notes> const& notes() const noexcept { return notes_; }
  undisturbed_lengths const& undisturbed() const noexcept { return undisturbed_; }

  /// Call it once, because its data are then released.
  std::string stats(watched_kernels& watched) {
    auto text = tables_document(watched);
    stats_.reset();
    return text;
  }

  /// Returns {"missing": "why"} if nothing was counted.
  std::string roofline_of() {
    if (roofs_) return roofline_document(trace_, counters_, *roofs_, peaks_, inputs_.max_rows);
    json_members members;
    members.add_text("missing", trace_.without_counters());
    return std::move(members).take();
  }

  std::string ranges(report::ledger const& time) {
    std::optional<counted_ranges> counted;
    if (roofs_) counted.emplace(counted_ranges{counters_, *roofs_});
    return places_.document(time, counted ? &*counted : nullptr, inputs_.max_paths);
  }

 private:
  void read(kernel_block_queue& kernels) {
    capture_walk walk(trace_.file());
    join_kernel_blocks(walk, [&](kernel_block block) { kernels.add(std::move(block)); });
    counters_.join(walk, true);
    stats_->join(walk);
    places_.join(walk, kernels_);
    note_undisturbed(kernels_, undisturbed_);
    kernels_.join(walk);
    walk.run();
    kernels.end();
    kernels_.finish();
    counters_.finish();
    stats_->finish_reading();
    notes_ = trace_.file().notes();
    if (counters_.has_counters())
      roofs_.emplace(counters_.metrics(), counters_.times(), counters_.devices(), trace_.shapes(),
                     counters_.codes());
  }

  std::string tables_document(watched_kernels& watched) {
    std::vector<finished_report> reports;
    for (auto const& one : asked_) {
      reports.push_back(stats_->finish(one));
      name_missing(reports.back(), one.kind);
    }
    watched = kernels_to_watch(reports, inputs_.max_kernels);
    json_members members;
    for (auto const& report : reports)
      members.add(report.table.name) += table_document(report, inputs_.max_rows);
    return std::move(members).take();
  }

  trace_contents& trace_;
  parts_inputs const& inputs_;
  summed_kernels kernels_;
  roofline_reading counters_;
  moments peaks_;
  range_places places_;
  undisturbed_lengths undisturbed_;
  std::vector<capture::block_notes> notes_;
  std::vector<chosen_report> asked_;
  std::optional<trace_pass> stats_;
  std::optional<roofline> roofs_;
};

/// Returns the result of analyze, or {"missing": "why"}: a capture with only ranges has a page,
/// too.
std::string advice_text(advice_outcome const& outcome) {
  std::string text;
  if (outcome.made) {
    report::write_advice_json(*outcome.made, [&text](std::string_view part) { text += part; });
    return text;
  }
  json_members members;
  members.add_text("missing", outcome.failure.message);
  return std::move(members).take();
}

std::string facts_document(std::string const& capture, trace_contents& trace) {
  json_members members;
  members.add_text("capture", std::filesystem::path(capture).filename().string());
  members.add_text("version", GPUPROF_VERSION);
  members.add_texts("overview", overview_lines(trace.overview()));
  members.add_texts("lost", trace.missing());
  return std::move(members).take();
}

page::timeline_steps steps_of(step_times const& times, std::size_t max_steps) {
  auto const& all = times.all;
  page::timeline_steps steps{times.name, {}, all.size() - std::min(all.size(), max_steps)};
  for (auto const& step : std::span(all).first(all.size() - steps.left_out))
    steps.shown.push_back({step.begin.value, std::max(step.begin, step.end).value,
                           static_cast<std::uint64_t>(step.period_ns)});
  steps.warm_up = std::min(times.warm_up, steps.shown.size());
  return steps;
}

/// Returns nothing if no single step is asked for, or there is no such step.
std::optional<std::size_t> number_of(asked_step const& asked, page::timeline_steps const& steps) {
  if (asked.number && *asked.number < steps.shown.size()) return asked.number;
  if (!asked.is_slowest || steps.warm_up == steps.shown.size()) return std::nullopt;
  auto const slowest = std::max_element(
      steps.shown.begin() + static_cast<std::ptrdiff_t>(steps.warm_up), steps.shown.end(),
      [](auto const& a, auto const& b) { return a.period_ns < b.period_ns; });
  return static_cast<std::size_t>(slowest - steps.shown.begin());
}

captured_stretch around(page::timeline_step const& step) {
  auto const length = std::max(step.end_ns - step.begin_ns, step.period_ns);
  auto const edge = length / 10;
  return {step.begin_ns - std::min(edge, step.begin_ns), step.begin_ns + length + edge};
}

/// Returns the steps that people look at first: the slowest, one with median time, and more slow
/// ones, none of them of the warm-up.
std::vector<captured_stretch> steps_to_look_into(page::timeline_steps const& steps,
                                                 std::size_t max_slow) {
  std::vector by_time(steps.shown.begin() + static_cast<std::ptrdiff_t>(steps.warm_up),
                      steps.shown.end());
  // The page sorts in the same way and goes to the first of the slowest.
  std::stable_sort(by_time.begin(), by_time.end(),
                   [](auto const& a, auto const& b) { return a.period_ns > b.period_ns; });
  std::vector<captured_stretch> windows;
  for (std::size_t i = 0; i < std::min(by_time.size(), max_slow); ++i)
    windows.push_back(around(by_time[i]));
  if (!windows.empty()) windows.insert(windows.begin() + 1, around(by_time[by_time.size() / 2]));
  if (steps.shown_first) windows.insert(windows.begin(), around(steps.shown[*steps.shown_first]));
  return windows;
}

void add_timeline(std::vector<page::data_block>& blocks, page::timeline_document document) {
  blocks.push_back({"timeline", page::packed(document.head)});
  for (auto& [name, bytes] : document.columns)
    blocks.push_back({"timeline-" + name, std::move(bytes)});
}

/// Gives the records of a capture to the details of its kernels.
class details_listener final : public page::record_listener {
 public:
  details_listener(page::kernel_details& to, undisturbed_lengths const& undisturbed)
      : to_(to), undisturbed_(undisturbed) {}

  void add(captured_range const& range) override { to_.open(range); }
  void add(captured_kernel const& kernel) override {
    auto const instead = undisturbed_.find({kernel.correlation, kernel.start_ns});
    to_.add(kernel, instead == undisturbed_.end() ? std::nullopt : std::optional(instead->second));
  }
  void add(captured_copy const& copy) override { to_.add_other(copy); }
  void add(captured_fill const& fill) override { to_.add_other(fill); }
  void add(captured_sample const& sample) override { to_.add(sample); }

 private:
  page::kernel_details& to_;
  undisturbed_lengths const& undisturbed_;
};

/// Makes the first pass of the timeline. Returns the details of kernels from the same pass, packed.
std::string read_details(page::timeline_reader& bars, parts_inputs const& inputs,
                         watched_kernels const& watched, undisturbed_lengths const& undisturbed,
                         trace_contents& trace) {
  page::kernel_details details(watched.kernels, watched.signatures, {});
  details_listener also(details, undisturbed);
  bars.read(inputs.advance, also);
  details.finish();
  return page::packed(kernel_document(watched, details, trace));
}

/// Does something at the end of a scope, also if an exception leaves it.
class when_left {
 public:
  explicit when_left(std::function<void()> act) : act_(std::move(act)) {}
  ~when_left() { act_(); }
  when_left(when_left const&) = delete;
  when_left& operator=(when_left const&) = delete;

 private:
  std::function<void()> act_;
};

/// The result of analyze, and the data for the timeline from its pass over the capture.
struct advice_read {
  explicit advice_read(std::size_t max_bars)
      : limits(max_bars), idle(limits.idle_bars, limits.finer_bars) {}

  result<std::string> read(parts_inputs const& inputs, other_walk walk) {
    timeline_listener const listener{
        [&](step_times const& all) {
          constexpr std::size_t max_slow = 16;
          looked_into = steps_to_look_into(shown_steps(all, inputs.step), max_slow);
          idle.look_into(looked_into);
        },
        [&](device_id device, time_bucket cause, timestamp_ns begin, timestamp_ns end) {
          idle.add(raw(device), report::key_of(cause), begin.value, end.value);
        },
        [&](step_times const& all) { steps = shown_steps(all, inputs.step); },
        [&](std::vector<traced_path> found) { paths = std::move(found); }};
    auto text = advice_document({.captures = {inputs.capture},
                                 .filters = {},
                                 .step = {.name = inputs.step.name},
                                 .rules = {},
                                 .timeline = &listener,
                                 .whole_run = inputs.whole_run,
                                 .elsewhere = &walk},
                                &time);
    idle.finish();
    return text;
  }

  /// The steps to show by their exact times, those whose path is shown, then the windows in which
  /// each gap is known.
  std::vector<captured_stretch> to_look_into() const {
    auto all = steps_to_look_into(steps, 1);
    for (auto const& path : paths) {
      auto const length = (path.end - path.begin).value;
      all.push_back(around({path.begin.value, path.end.value, static_cast<std::uint64_t>(length)}));
    }
    all.insert(all.end(), looked_into.begin(), looked_into.end());
    return all;
  }

  page::timeline_steps shown_steps(step_times const& all, asked_step const& asked) const {
    auto made = steps_of(all, limits.steps);
    made.shown_first = number_of(asked, made);
    return made;
  }

  page::timeline_limits const limits;
  page::idle_times idle;
  page::timeline_steps steps;
  std::vector<traced_path> paths;
  std::vector<captured_stretch> looked_into;
  report::ledger time;
};

}  // namespace

result<std::string> advice_document(advice_inputs const& inputs, report::ledger* time) {
  auto outcome = read_advice(inputs);
  if (outcome.failure.wrong_options) return error{outcome.failure.message};
  auto text = advice_text(outcome);
  if (outcome.made && time != nullptr) *time = std::move(outcome.made->time);
  return text;
}

// One thread walks over the capture for all sums. It hands the kernels on to a second thread, which
// measures for the advice how fast they were launched. Then the advice and the timeline are read in
// order of time, each by a thread. The advice has its own reader, the timeline uses the one of the
// walk.
result<capture_parts> read_parts(parts_inputs const& inputs) try {
  capture_file run(inputs.capture);
  auto& trace = captured_detail::inside::of(run).trace();
  if (inputs.step.is_one())
    if (auto const found = find_step(trace, inputs.step); !found)
      return error{inputs.capture + ": " + found.message()};
  kernel_block_queue kernels;
  std::optional<walked_parts> made_by_walk;
  auto const walk = std::async(std::launch::async, [&]() -> walked_parts& {
                      when_left const end([&] { kernels.end(); });
                      return made_by_walk.emplace(trace, inputs, kernels);
                    }).share();
  advice_read heard(inputs.max_bars);
  auto waiting = std::async(std::launch::async, [&] {
    when_left const stop([&] { kernels.stop_taking(); });
    return heard.read(inputs, {kernels, [&] {
                                 return known_capture{walk.get().notes(), walk.get().counters()};
                               }});
  });
  auto& walked = walk.get();
  watched_kernels watched;
  auto const stats = page::packed(walked.stats(watched));
  page::timeline_reader bars(run, inputs.max_bars);
  auto details = read_details(bars, inputs, watched, walked.undisturbed(), trace);
  auto const roofline = page::packed(walked.roofline_of());
  auto const advice = waiting.get();
  if (!advice) return error{advice.message()};
  bars.read_finer(heard.to_look_into());
  auto places = bars.places();
  add_places(places, trace);
  capture_parts parts;
  parts.time = std::move(heard.time);
  auto& blocks = parts.blocks;
  blocks.push_back({"analyze", page::packed(*advice)});
  blocks.push_back({"stats", stats});
  blocks.push_back({"roofline", roofline});
  blocks.push_back({"places", page::packed(walked.ranges(parts.time))});
  blocks.push_back({"facts", page::packed(facts_document(inputs.capture, trace))});
  blocks.push_back({"details", std::move(details)});
  blocks.push_back({"stacks", page::packed(stack_document(trace))});
  add_timeline(blocks, page::document_of(bars.made(), heard.idle, heard.steps, heard.paths));
  return parts;
} catch (std::runtime_error const& what) {
  return error{what.what()};
}

}  // namespace gpuprof::host::command
