// SPDX-License-Identifier: Apache-2.0
#include "analyze/run_reading.hpp"

#include "../roofline_facts.hpp"
#include "analyze/fact_texts.hpp"
#include "analyze/gpu_items.hpp"
#include "analyze/phase.hpp"
#include "analyze/step_reading.hpp"
#include "host/analysis/occupancy.hpp"
#include "host/reading/time_merge.hpp"
#include "model/records.hpp"
#include "progress.hpp"
#include "roofline_of_capture.hpp"

#include <algorithm>
#include <utility>

namespace gpuprof::host::command {
namespace {

auto kernel_columns() {
  return capture::only(&kernel_record::start, &kernel_record::duration, &kernel_record::launched,
                       &kernel_record::shape, &kernel_record::device, &kernel_record::context,
                       &kernel_record::stream, &kernel_record::thread, &kernel_record::range,
                       &kernel_record::correlation, &kernel_record::graph, &kernel_record::stack);
}

std::map<range_id, double> declared_flops(capture::reader& file) {
  std::map<range_id, double> flops;
  file.for_each<range_begin>(
      [&](std::span<range_begin const> ranges) {
        for (auto const& range : ranges)
          if (range.declared_flops > 0) flops[range.range] = range.declared_flops;
      },
      capture::only(&range_begin::range, &range_begin::declared_flops));
  return flops;
}

double nanoseconds_from(timestamp_ns begin, timestamp_ns end) noexcept {
  return end > begin ? static_cast<double>((end - begin).value) : 0;
}

}  // namespace

run_reading::run_reading(trace_contents& trace, selection const* wanted, std::string step_name,
                         timeline_listener const* heard, std::span<time_stretch const> phase)
    : trace_(trace),
      wanted_(wanted),
      step_name_(std::move(step_name)),
      heard_(heard),
      phase_(phase) {}
run_reading::~run_reading() = default;

void run_reading::begin() {
  steps_ = number_steps(trace_.ranges(), trace_.text(), step_name_);
  choose_part();
  whole_steps_ = steps_;
  if (heard_ != nullptr) heard_->ahead(all_steps());
  if (!phase_.empty()) steps_ = steps_within(std::move(steps_), trace_.ranges(), phase_);
  timestamp_ns launched_until{};
  if (part_) launched_until = part_->time.end;
  if (may_have_part()) launched_until = trace_.last_moment();
  pace_reading_.emplace(trace_, launched_until);
}

/// True if there are no steps, and the part of the run that counts is chosen by its launches.
bool run_reading::may_have_part() const noexcept {
  return steps_first_ && !part_ && phase_.empty() && steps_.empty();
}

void run_reading::read() {
  if (!pace_reading_) {
    begin();
    walk();
  }
  finish_pace();
  choose_steps_to_collect();
  go_through_time();
  take_ledgers();
  facts_.kernels = read_kernels(trace_, *pass_, *counters_, *declared_);
  take_what_is_there();
  take_texts(trace_, *pass_, facts_);
  facts_.steps = read_steps(trace_, steps_, *pass_, facts_.window_ns, has_calls_);
  if (heard_ != nullptr) heard_->steps(all_steps());
  take_migrations();
  take_clock_limits();
  add_remarks();
}

/// The periods of steps that count are exact after the pass over them.
step_times run_reading::all_steps() const {
  auto const& instances = whole_steps_.instances;
  auto periods_ns = periods_ahead(trace_, whole_steps_);
  auto const& exact_ns = facts_.steps.period_ns;
  std::copy_n(exact_ns.begin(), std::min(exact_ns.size(), periods_ns.size() - steps_.first),
              periods_ns.begin() + steps_.first);
  step_times times{whole_steps_.name, {}, warm_up_steps_};
  times.all.reserve(instances.size());
  for (std::size_t i = 0; i < instances.size(); ++i) {
    auto const& step = trace_.ranges()[instances[i]];
    times.all.push_back({step.begin, step.end, periods_ns[i]});
  }
  return times;
}

/// Reads counters and the pace. The walk also notes the times of blocks, so it comes before the
/// pass in order of time.
void run_reading::walk() {
  own_counters_ =
      std::make_unique<roofline_reading>(trace_, std::nullopt, range_scope::process, wanted_);
  find_peaks(trace_, *own_counters_);
  capture_walk walk(trace_.file());
  own_counters_->join(walk, false);
  join_kernel_blocks(walk, [&](kernel_block block) { add(std::move(block)); });
  walk.run(progress_of("reading " + trace_.file().path(), walk.rows()));
  finish_and_say(trace_, *own_counters_);
  use(*own_counters_);
}

void run_reading::finish_pace() {
  auto& pace = *pace_reading_;
  pace.finish();
  take_devices();
  auto const peak_ns = [&](std::string_view test) {
    double ns = 0;
    for (auto const& device : facts_.devices)
      if (auto const known = device.peak(test)) ns = *known * 1e9;
    return ns;
  };
  pace_ = pace.measured().measured(peak_ns("launch_latency"));
  pace_.round_trip = peak_ns("synchronize");
  facts_.run = pace_;
  if (phase_.empty()) tenth_launched_ = pace.tenth_launched();
  launches_ = pace.take_launches();
  facts_.own_ns_a_launch = trace_.ns_a_launch().value_or(facts_.own_ns_a_launch);
  if (part_)
    end_part_with_its_work(pace.ended());
  else if (may_have_part())
    choose_part_without_steps(pace.ended());
  pace_reading_.reset();
}

void run_reading::choose_steps_to_collect() {
  if (!question_) return;
  question_->launches = &launches_;
  if (part_ && part_->steps > 0) question_->phase = own_phase_;
  auto chosen = choose_steps(trace_, *question_);
  if (!chosen)
    why_no_steps_ = chosen.message();
  else
    collector_ = std::make_unique<step_collector>(trace_, *std::move(chosen));
}

result<steps_of_capture> run_reading::collected_steps() {
  if (collector_ == nullptr) return error{why_no_steps_};
  return collector_->finish();
}

void run_reading::choose_part() {
  auto const& tree = trace_.ranges();
  auto steady = steady_part_of(tree, steps_);
  if (!steady) return;
  warm_up_steps_ = steps_before(tree, steps_, steady->time.begin);
  // Steps are not the whole of a phase of several stretches: it may have more than one kind.
  if (!steps_first_ || phase_.size() > 1) return;
  if (!phase_.empty()) steady = steady_part_of(tree, steps_within(steps_, tree, phase_));
  if (!steady) return;
  part_ = steady;
  whole_phase_ = phase_;
  own_phase_ = {part_->time};
  phase_ = own_phase_;
}

/// Chooses what is behind the first tenth of the launches, if the rest is a large share of the run:
/// imports, loading, compilation.
void run_reading::choose_part_without_steps(timestamp_ns last_end) {
  constexpr std::size_t min_launches = 30;
  constexpr double min_left_out = 0.25;
  auto const& launches = launches_.launches;
  if (launches.size() < min_launches || !step_name_.empty()) return;
  auto at = std::vector<timestamp_ns>();
  for (auto const& launch : launches) at.push_back(launch.at);
  auto const tenth = at.begin() + static_cast<std::ptrdiff_t>(at.size() / 10);
  std::nth_element(at.begin(), tenth, at.end());
  time_stretch const steady{*tenth, last_end};
  double all = 0, inside = 0;
  for (auto const& [begin, end] : all_windows()) {
    all += nanoseconds_from(begin, end);
    inside += nanoseconds_from(std::max(begin, steady.begin), std::min(end, steady.end));
  }
  if (inside <= 0 || inside > (1 - min_left_out) * all) return;
  part_.emplace().time = steady;
  own_phase_ = {steady};
  phase_ = own_phase_;
}

/// The CPU may run ahead of the GPU by many steps.
void run_reading::end_part_with_its_work(timestamp_ns end) {
  trace_.file().for_each<graph_record>([&](std::span<graph_record const> graphs) {
    for (auto const& graph : graphs)
      if (graph.launched.value != 0 && graph.launched <= part_->time.end)
        end = std::max(end, graph.start + graph.duration);
  });
  end = std::max(part_->time.end, end);
  if (!whole_phase_.empty()) end = std::min(end, whole_phase_.back().end);
  part_->time.end = own_phase_.front().end = end;
}

std::vector<time_stretch> run_reading::all_windows() const {
  std::vector<time_stretch> all;
  for (auto const& window : trace_.windows()) {
    auto const end = window.end.value != 0 ? window.end : trace_.last_moment();
    if (end > window.start) all.push_back({window.start, end});
  }
  if (all.empty()) all.push_back({trace_.origin(), trace_.last_moment()});
  return all;
}

/// Returns the windows of the capture, as far as they lie in the phase.
std::vector<time_stretch> run_reading::windows_in(std::span<time_stretch const> phase) const {
  auto const all = all_windows();
  if (phase.empty()) return all;
  std::vector<time_stretch> inside;
  for (auto const& window : all)
    for (auto const& one : phase) {
      time_stretch const both{std::max(window.begin, one.begin), std::min(window.end, one.end)};
      if (both.end > both.begin) inside.push_back(both);
    }
  if (inside.empty()) inside.push_back({all.front().begin, all.front().begin});
  return inside;
}

void run_reading::note_what_is_left_out() {
  if (!part_) return;
  for (auto const& [begin, end] : windows_in(whole_phase_)) {
    before_ns_ += nanoseconds_from(begin, std::min(end, part_->time.begin));
    behind_ns_ += nanoseconds_from(std::max(begin, part_->time.end), end);
  }
}

void run_reading::go_through_time() {
  auto& file = trace_.file();
  auto const recorded = trace_.fact("trace.api");
  has_all_calls_ = file.row_count<api_record>() > 0 && recorded != "blocking";
  has_calls_ = has_all_calls_ || recorded == "blocking";
  declared_.emplace(trace_.ranges(), declared_flops(file));
  idle_causes causes;
  auto const has_samples = file.row_count<thread_sample_record>() > 0;
  auto const windows = windows_in(phase_);
  if (!phase_.empty()) counted_ = windows;
  pass_.emplace(timeline_inputs{
      .ranges = &trace_.ranges(),
      .steps = &steps_,
      .run = pace_,
      .main_thread = trace_.thread_of(trace_.process_id()),
      .calls_recorded = has_calls_,
      .tenth_launched = tenth_launched_,
      .loads_data =
          [&](range_key const& key) { return is_name_of_loading(trace_.text()(key.name)); },
      .fits_beside = room_for_both(),
      .on_idle = heard_ != nullptr ? heard_->idle : idle_listener(),
      .on_gap =
          [&](device_id device, time_bucket bucket, thread_index thread, timestamp_ns begin,
              timestamp_ns end) {
            if (has_samples) causes.idle(device, bucket, trace_.os_thread(thread), begin, end);
          },
      .phase = counted_,
      .has_warm_up = !part_ || part_->steps > 0,
      .steps_of_run = &whole_steps_});
  note_what_is_left_out();
  for (auto const& window : windows)
    facts_.window_ns += static_cast<double>((window.end - window.begin).value);
  auto const progress = progress_of("reading " + file.path(),
                                    file.row_count<kernel_record>() + file.row_count<api_record>());
  gpu_items const items(trace_);
  stack_times stacks;
  time_walk walk(trace_, items, *pass_, *declared_, phase_.empty() ? wanted_ : nullptr,
                 all_windows(), collector_.get(),
                 file.row_count<stack_record>() > 0 ? &stacks : nullptr,
                 has_samples ? &causes : nullptr, progress);
  for_each_in_time<read_launch_record, hold_record, unified_memory_record, thread_sample_record,
                   api_record, copy_record, memset_record, graph_record, kernel_record>(
      file, walk, capture::column_set<read_launch_record>{}, capture::column_set<hold_record>{},
      capture::column_set<unified_memory_record>{}, capture::column_set<thread_sample_record>{},
      capture::only(&api_record::start, &api_record::duration, &api_record::name,
                    &api_record::os_thread, &api_record::correlation, &api_record::stack),
      capture::column_set<copy_record>{}, capture::column_set<memset_record>{},
      capture::column_set<graph_record>{}, kernel_columns());
  pass_->finish();
  if (has_samples) {
    facts_.looks = idle_looks_of(trace_, causes.looks());
    facts_.looks_at_children = idle_looks_of(trace_, causes.looks_at_children());
    facts_.children = causes.children();
  }
  if (file.row_count<stack_record>() == 0) return;
  stacks.finish(native_only(trace_.stacks()));
  lines_ = program_lines(trace_, stacks);
}

/// Computes how much of the blocks that a GPU can hold a kernel fills; nothing if not known.
serialized_streams::fits run_reading::room_for_both() {
  std::map<std::pair<device_id, std::uint32_t>, double> filled;
  for (auto const& device : facts_.devices) {
    auto const limits = sm_limits_of(device.record);
    if (!limits || device.record.sm_count == 0) continue;
    for (auto const& shape : trace_.shapes())
      if (auto const fits = occupancy_of(shape, *limits); fits && fits->blocks_per_sm > 0)
        filled[{device.device, raw(shape.id)}] =
            double(shape.grid.x) * shape.grid.y * shape.grid.z /
            (double(fits->blocks_per_sm) * device.record.sm_count);
  }
  return [filled = std::move(filled)](device_id device, std::uint32_t a, std::uint32_t b) {
    auto const of_a = filled.find({device, a}), of_b = filled.find({device, b});
    return of_a != filled.end() && of_b != filled.end() && of_a->second + of_b->second <= 1;
  };
}

void run_reading::take_migrations() {
  // Values of CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_*: bytes to the device and to the host,
  // page faults of the CPU, and groups of page faults of the GPU.
  constexpr std::uint32_t to_device = 1, to_host = 2, cpu_faults = 3, gpu_faults = 4;
  trace_.file().for_each<unified_memory_record>([&](std::span<unified_memory_record const> rows) {
    for (auto const& row : rows) {
      if (row.counter == to_device || row.counter == to_host)
        facts_.migrated_bytes += static_cast<double>(row.value);
      if (row.counter == cpu_faults || row.counter == gpu_faults)
        facts_.page_faults += row.counter == gpu_faults ? row.value : 1;
    }
  });
  facts_.migration_ns = pass_->migration_ns();
  facts_.migration_alone_ns = pass_->migration_alone_ns();
}

void run_reading::take_devices() {
  for (auto const& record : trace_.devices()) {
    auto& device = facts_.devices.emplace_back();
    device.device = record.device;
    device.name = std::string(trace_.text()(record.name));
    device.record = record;
    device.greatest_clock = record.max_sm_clock_khz * 1e3;
    auto const known = counters_->devices().find(record.device);
    device.peak = [roofs = known == counters_->devices().end() ? measured_roofs()
                                                               : known->second.roofs](
                      std::string_view test) { return roofs.burst(test); };
  }
}

/// The list of GPUs comes from the work: the capture may have no other record of a GPU that worked.
void run_reading::take_ledgers() {
  for (auto const& [id, ledger] : pass_->ledger().by_device()) {
    auto of = std::ranges::find(facts_.devices, id, &advice::device_facts::device);
    if (of == facts_.devices.end()) {
      of = facts_.devices.emplace(of);
      of->device = of->record.device = id;
      of->peak = [](std::string_view) { return std::optional<double>(); };
    }
    of->ledger = ledger;
  }
  std::erase_if(facts_.devices, [](auto const& device) { return device.ledger.total() <= 0; });
  std::ranges::sort(facts_.devices, {}, &advice::device_facts::device);
}

void run_reading::take_clock_limits() {
  trace_.file().for_each<chip_state_record>([&](std::span<chip_state_record const> rows) {
    for (auto const& row : rows) {
      auto const of = std::find_if(facts_.devices.begin(), facts_.devices.end(),
                                   [&](auto const& one) { return one.device == row.device; });
      if (of == facts_.devices.end() || (row.limiters & limited_by::nothing_to_do) != 0) continue;
      ++of->limits.moments;
      of->limits.by_power +=
          (row.limiters & (limited_by::power_cap | limited_by::power_brake)) != 0;
      of->limits.by_heat += (row.limiters & limited_by::heat) != 0;
    }
  });
}

void run_reading::take_what_is_there() {
  auto there = advice::data_set{};
  auto const add = [&](bool is_there, advice::data what) {
    if (is_there) there = there | what;
  };
  auto const& file = trace_.file();
  auto const is_measured = [](auto const& device) {
    return device.second.roofs.burst("dram_read");
  };
  add(!facts_.devices.empty(), advice::data::kernels);
  add(has_calls_, advice::data::blocking_calls);
  add(has_all_calls_, advice::data::all_calls);
  add(!trace_.ranges().empty(), advice::data::ranges);
  add(!steps_.empty(), advice::data::steps);
  add(counters_->has_counters(), advice::data::counters);
  add(std::any_of(counters_->devices().begin(), counters_->devices().end(), is_measured),
      advice::data::peaks);
  // If recording was on and there are no records, there was no migration.
  add(file.row_count<unified_memory_record>() > 0 || trace_.fact("trace.um") == "on",
      advice::data::unified_memory);
  // Metrics that were requested but not read have a name in the capture, too.
  add(std::any_of(facts_.kernels.begin(), facts_.kernels.end(),
                  [](auto const& kernel) {
                    return kernel.metric("smsp__warps_issue_stalled_long_scoreboard.sum");
                  }),
      advice::data::explain);
  add(std::any_of(facts_.kernels.begin(), facts_.kernels.end(),
                  [](auto const& kernel) { return kernel.figures.clock.has_value(); }),
      advice::data::clocks);
  add(std::any_of(facts_.devices.begin(), facts_.devices.end(),
                  [](auto const& device) { return sm_limits_of(device.record).has_value(); }),
      advice::data::streams);
  add(std::any_of(facts_.devices.begin(), facts_.devices.end(),
                  [](auto const& device) { return device.peak("p2p").has_value(); }),
      advice::data::peer_peaks);
  add(std::any_of(facts_.kernels.begin(), facts_.kernels.end(),
                  [](auto const& kernel) { return kernel.declared_flop.has_value(); }),
      advice::data::declared);
  facts_.there = there;
  using enum advice::data;
  if (trace_.fact("gpu.vendor") == "AMD")
    facts_.impossible =
        counters | peaks | explain | clocks | advice::data::streams | peer_peaks | unified_memory;
}

void run_reading::add_remarks() {
  if (pass_->ledger().by_device().empty())
    remarks_.emplace_back("nothing ran on a GPU while it was captured");
  for (auto const& line : trace_.missing())
    remarks_.emplace_back("missing from the capture: " + line);
  if (!step_name_.empty() && steps_.empty())
    remarks_.emplace_back("no range is called '" + step_name_ +
                          "', so there are no steps; gpuprof stats -r nvtx_sum lists the ranges");
  if (wanted_ != nullptr && phase_.empty())
    remarks_.emplace_back(
        "filters are on: what they leave out counts as idle time, so that only rules on kernels "
        "are "
        "asked");
  if (!has_calls_)
    remarks_.emplace_back(
        "calls that wait or allocate were not recorded: idle time cannot be put down to them; "
        "record "
        "with --trace cuda,nvtx,blocking");
  if (captured_metrics(trace_).explains() && !facts_.there.has(advice::data::explain))
    remarks_.emplace_back(
        "what the set explain reads around launches was read of no kernel: the program launched "
        "for too short a time, a second or two, never waited for its work, or --overhead-once "
        "forbade it; kernels longer than 1.5 ms are left out");
}

}  // namespace gpuprof::host::command
