// SPDX-License-Identifier: Apache-2.0
#include "host/reading/roofline_reading.hpp"

#include "base/readable.hpp"
#include "base/time.hpp"
#include "host/analysis/slowed_launches.hpp"
#include "text/overview.hpp"

#include <charconv>
#include <cmath>
#include <string>

namespace gpuprof::host {
namespace {

/// Each counts work without a record. Lost names, threads, ranges and launch notes are not listed,
/// because the kernel records still exist.
constexpr std::string_view losses[] = {"lost.kernels",
                                       "lost.graph_launches",
                                       "lost.work_of_launching_kernels",
                                       "lost.kernels_without_time",
                                       "lost.broken_buffers",
                                       "lost.other_records_without_time",
                                       "lost.buffers_refused",
                                       "lost.buffers",
                                       "lost.records_dropped_by_cupti",
                                       "lost.rows_on_disk",
                                       "lost.steps_without_memory",
                                       "lost.records_of_unknown_kind"};

/// These count single records. Up to one in a thousand changes no value by more than its error.
constexpr std::string_view single_losses[] = {"lost.kernels", "lost.kernels_without_time",
                                              "lost.other_records_without_time",
                                              "lost.records_dropped_by_cupti"};
constexpr std::uint64_t one_in = 1000;

bool are_few(trace_contents const& trace) {
  std::uint64_t single = 0, all = 0;
  for (auto const name : single_losses) single += trace.counter(name);
  for (auto const name : losses) all += trace.counter(name);
  return single == all && single * one_in <= trace.counter("seen.kernels");
}

constexpr std::uint32_t usual_flush_ms = 500, max_flush_ms = 60'000;

/// Returns why samples of the whole GPU cannot be attributed: filters left out kernels, or records
/// were lost. Empty if they can be.
std::string why_samples_are_not_used(trace_contents const& trace) {
  if (auto const left_out = trace.counter("seen.kernels_filtered"); left_out > 0)
    return counted(left_out, "kernels") +
           " that ran in them were left out by the capture's filters; capture without "
           "--kernel-name, "
           "--launch-skip and --launch-count";
  if (are_few(trace)) return {};
  text::overview lost;
  for (auto const name : losses) text::add_counter(lost, name, trace.counter(name));
  std::string list;
  for (auto const& [what, count] : lost.losses)
    if (count > 0) list += (list.empty() ? "" : ", ") + counted(count, what);
  for (auto const& what : lost.other_losses) list += (list.empty() ? "" : ", ") + what;
  return list.empty() ? list : "records of what ran in them were lost: " + list;
}

/// If a file has no end mark, records may be missing for this long before the last one: the time
/// between two flushes.
duration_ns unsure_end(trace_contents const& trace) {
  auto const text = trace.fact("environment.GPUPROF_FLUSH_INTERVAL_MS");
  std::uint32_t ms = usual_flush_ms;
  std::from_chars(text.data(), text.data() + text.size(), ms);
  return {std::int64_t{std::min(ms, max_flush_ms)} * 1'000'000};
}

template <class Row, class Take>
void each_row(capture::reader& file, Take take, capture::column_set<Row> wanted = {}) {
  file.for_each<Row>(
      [&](std::span<Row const> rows) {
        for (auto const& row : rows) take(row);
      },
      wanted);
}

}  // namespace

roofline_reading::roofline_reading(trace_contents& trace, std::optional<device_id> device,
                                   range_scope scope, selection const* wanted)
    : trace_(trace), device_(device), scope_(scope), wanted_(wanted) {
  read_devices();
}

void roofline_reading::read_devices() {
  auto const& text = trace_.text();
  each_row<device_record>(trace_.file(), [&](device_record const& device) {
    devices_[device.device] = {std::string(text(device.chip)), measured_roofs(device),
                               sm_limits_of(device)};
  });
  each_row<peak_record>(trace_.file(), [&](peak_record const& peak) {
    if (auto const device = devices_.find(peak.device); device != devices_.end())
      device->second.roofs.add(peak, text(peak.test));
  });
}

void roofline_reading::take_peaks(device_id device, gpu_peaks const& peaks) {
  auto const of = devices_.find(device);
  if (of == devices_.end()) return;
  for (auto const& peak : peaks.results) of->second.roofs.add(peak);
}

void roofline_reading::join(capture_walk& walk, bool with_ranges) {
  read_counters();
  reads_work_ = has_counters() || line_of_ || (with_ranges && declares_work());
  if (!reads_work_) return;
  if (exact_.samples() > 0) match(walk);
  sum_up(walk, with_ranges);
}

void roofline_reading::finish() {
  if (reads_work_) {
    if (exact_.samples() > 0) exact_.join();
    if (range_work_) {
      range_work_->decide(exact_, times_);
      ranges_ = range_work_->rows();
    }
    if (stack_work_) stack_work_->finish(exact_, times_);
    if (has_counters() && samples_not_used_.empty())
      sampled_.attribute(without_tensor_code(trace_.shapes(), trace_.codes()));
  }
  combine();
}

/// Returns true if ranges declare their FLOP or bytes.
bool roofline_reading::declares_work() {
  bool any = false;
  trace_.file().for_each<range_begin>(
      [&](std::span<range_begin const> ranges) {
        for (auto const& range : ranges)
          any = any || range.declared_flops > 0 || range.declared_bytes > 0;
      },
      capture::only(&range_begin::declared_flops, &range_begin::declared_bytes));
  return any;
}

void roofline_reading::combine() {
  metrics_.emplace(exact_, sampled_.figures(), counted_outside(times_, trace_.shapes()),
                   unlike_all());
}

/// How much a launch of the selection takes longer or shorter than one of all launches with its
/// shape, as a share: its FLOP and bytes may differ as much.
std::map<workload_id, double> roofline_reading::unlike_all() const {
  std::map<workload_id, double> unlike;
  for (auto const& [workload, of] : mixed_)
    if (of.kept_ns > 0 && of.kept < of.all)
      unlike[workload] = std::abs(std::log(of.kept_ns / of.kept * of.all / of.all_ns));
  return unlike;
}

identified_kernels roofline_reading::kernels() const {
  return identify(
      times_, trace_.shapes(), [this](name_id name) { return std::string(trace_.text()(name)); },
      [this](device_id device) {
        auto const of = devices_.find(device);
        return of == devices_.end() ? std::string() : of->second.chip;
      });
}

std::size_t roofline_reading::take_readings(roofline_reading const& other, std::uint32_t rank) {
  auto here = kernels();
  // Readings of the same kernel in this process are better.
  std::erase_if(here, [this](auto const& kernel) {
    return metrics_->counted_as(kernel.second.workload) != kernel.second.workload;
  });
  auto const adopted = adopt_readings(exact_, here, other.exact_, other.kernels(), rank);
  if (adopted > 0) combine();
  return adopted;
}

std::uint64_t roofline_reading::graphs_read() const {
  std::uint64_t graphs = 0;
  for (std::uint32_t i = 0; i < times_.size(); ++i)
    graphs += times_.is_level_above(i) && exact_.has_workload(times_.id(i));
  return graphs;
}

/// Sets up the attribution of samples: they count work with and without records, so all work must
/// have records.
void roofline_reading::bound_samples() {
  samples_not_used_ = why_samples_are_not_used(trace_);
  for (auto const& window : trace_.windows())
    sampled_.add_capture(window.start,
                         window.end.value == 0 ? timestamp_ns{~std::uint64_t{0}} : window.end);
  if (!trace_.file().is_complete()) sampled_.end_is_unsure(unsure_end(trace_));
}

void roofline_reading::read_counters() {
  auto& file = trace_.file();
  bound_samples();
  each_row<metric_record>(file, [&](auto const& metric) {
    exact_.define(metric, trace_.text()(metric.name));
    if (is_wanted(metric.device)) sampled_.define(metric, trace_.text()(metric.name));
  });
  each_row<read_launch_record>(file, [&](auto const& sample) {
    if (is_wanted(sample.device) && sample.closed <= stretch_.end) exact_.add(sample);
  });
  each_row<reading_value_record>(file, [&](auto const& value) { exact_.add(value); });
  each_row<sampling_window_record>(file, [&](auto const& window) {
    if (!is_wanted(window.device)) return;
    sampled_.add(window);
    cost_.add(window);
  });
  each_row<sample_record>(file, [&](auto const& sample) {
    if (sample.start >= stretch_.begin && sample.start + sample.duration <= stretch_.end)
      sampled_.add(sample);
  });
  sampled_.end_samples();
  if (sampled_.has_samples()) sampled_.use_pools(pools_of(trace_.shapes()));
}

/// Adds the GPU work that ran at the time of each reading.
void roofline_reading::match(capture_walk& walk) {
  auto const see = [this](auto const& record) { exact_.see(record); };
  for (auto const& shape : trace_.shapes()) exact_.see(shape);
  walk.add_each<kernel_record>(
      capture::only(&kernel_record::start, &kernel_record::duration, &kernel_record::shape,
                    &kernel_record::device, &kernel_record::correlation, &kernel_record::graph),
      see);
  walk.add_each<graph_record>({}, see);
  walk.add_each<copy_record>(
      capture::only(&copy_record::start, &copy_record::duration, &copy_record::device,
                    &copy_record::correlation, &copy_record::graph),
      see);
  walk.add_each<memset_record>(
      capture::only(&memset_record::start, &memset_record::duration, &memset_record::device,
                    &memset_record::correlation, &memset_record::graph),
      see);
}

std::vector<range_work> roofline_reading::ranges_by_place(
    std::span<std::uint32_t const> place_of_range,
    std::span<std::uint32_t const> place_around) const {
  return range_work_ ? range_work_->by_place(place_of_range, place_around)
                     : std::vector<range_work>();
}

/// Sums the time of each workload, and its ranges.
void roofline_reading::sum_up(capture_walk& walk, bool with_ranges) {
  std::map<range_id, range_declaration> declared;
  if (with_ranges) {
    each_row<range_begin>(
        trace_.file(),
        [&](range_begin const& range) {
          range_declaration const work{range.declared_flops, range.declared_bytes};
          if (work.flops > 0 || work.bytes > 0) declared[range.range] = work;
        },
        capture::only(&range_begin::range, &range_begin::declared_flops,
                      &range_begin::declared_bytes));
    range_work_.emplace(trace_.ranges(), trace_.open(), trace_.launched(scope_), declared,
                        line_of_ ? line_of_ : listed_by_name);
  }
  std::vector<bool> may_be_mixed;  // by shape
  if (wanted_ != nullptr)
    for (auto const& shape : trace_.shapes()) {
      if (raw(shape.id) >= may_be_mixed.size()) may_be_mixed.resize(raw(shape.id) + 1);
      may_be_mixed[raw(shape.id)] =
          shape.arguments == arguments_not_looked_at || shape.arguments == arguments_of_many_values;
    }
  auto const note_mixed = [this, may_be_mixed](auto const& record, bool is_kept) {
    if constexpr (requires { record.shape; }) {
      if (raw(record.shape) >= may_be_mixed.size() || !may_be_mixed[raw(record.shape)]) return;
      auto& of = mixed_[times_.id_of(record)];
      auto const ns = static_cast<double>(record.duration.value);
      of.all_ns += ns;
      ++of.all;
      if (!is_kept) return;
      of.kept_ns += ns;
      ++of.kept;
    }
  };
  auto const take = [this, note_mixed](auto const& record) {
    // Work that the filter excludes was counted in the samples too.
    sampled_.see(record, times_.id_of(record));
    auto const is_kept = is_wanted(record.device) && (wanted_ == nullptr || wanted_->keeps(record));
    note_mixed(record, is_kept);
    if (!is_kept) return;
    auto const seen = times_.add(record);
    cost_.add(record, seen);
    if (range_work_) range_work_->add(record, seen);
    if (stack_work_)
      stack_work_->add(record, forward_ ? forward_->of(record.range, record.stack) : record.stack,
                       seen);
  };
  auto columns =
      capture::only(&kernel_record::start, &kernel_record::duration, &kernel_record::shape,
                    &kernel_record::device, &kernel_record::correlation, &kernel_record::graph,
                    &kernel_record::range, &kernel_record::launched, &kernel_record::thread,
                    &kernel_record::stream, &kernel_record::time_of);
  if (stack_work_) columns.insert(&kernel_record::stack);
  walk.add_each<kernel_record>(columns, take);
  walk.add_each<graph_record>({}, take);
  if (!sampled_.has_samples()) return;
  walk.add_each<copy_record>({}, [this](auto const& copy) { sampled_.see(copy); });
  walk.add_each<memset_record>({}, [this](auto const& fill) { sampled_.see(fill); });
}

}  // namespace gpuprof::host
