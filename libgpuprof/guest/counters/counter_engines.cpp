// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/counter_engines.hpp"

#include "base/own_descriptor.hpp"
#include "base/process.hpp"
#include "base/time.hpp"
#include "guest/counters/sampling_budget.hpp"

#include <algorithm>
#include <utility>

namespace gpuprof::guest {
namespace {

// Passes change at most once in this time.
constexpr std::uint64_t launches_every_ns = 5'000'000;
constexpr std::uint64_t least_sleep_ns = 1'000'000;
constexpr std::uint64_t look_every_ns = engine_turns::pause_between_windows_ns;
constexpr std::uint64_t files_every_ns = 100'000'000;
constexpr std::uint64_t max_put_off_ns = 1'000'000'000;
// A GPU with a smaller busy share is idle: no window begins until this many launches have come.
constexpr double idle_share = 0.02;
constexpr std::uint64_t launches_after_idle = 10;
constexpr std::uint64_t patience_with_pauses_ns = 1'000'000'000;

// Cost of setting up the counters for launches, which stops launches for 0.2 s on an H200, and of
// some readings.
constexpr std::uint64_t price_of_launches_ns = sampling_budget::usual_once_ns;
// How long to wait until the GPU is idle, so that sampling can get the counters.
constexpr std::uint64_t patience_with_release_ns = 250'000'000;
constexpr std::uint64_t patience_at_end_ns = 200'000'000;
// Each try may slow the program down until its queue is worked off.
constexpr std::uint64_t park_again_after_ns = 2'000'000'000;
constexpr std::uint64_t max_park_again_after_ns = 60'000'000'000;

// Many short windows see more of a program than few long ones, for the same CPU time. All samples
// of a window fit into one call of the decoder, also if our thread wakes some milliseconds late.
constexpr std::uint64_t intervals_in_window = 360;
constexpr std::uint64_t max_window_ns = 100'000'000;
// If more windows than this are affordable, pauses between them stay short.
constexpr std::uint64_t many_windows = 20;

std::uint64_t window_ns(std::uint64_t interval_ns) {
  return std::min(max_window_ns, intervals_in_window * interval_ns);
}

std::uint64_t thread_cpu_ns() noexcept {
  return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

/// With every_launch, ranks do not take turns: each rank reads.
job_turns turns_in_job(counter_options const& options) {
  auto const window_and_pause =
      window_ns(options.sampling.interval_ns) + engine_turns::mean_long_pause_ns;
  return {options.launches.every_launch ? job_place{} : options.place,
          sampling_budget::burst_earned_in_ns(options.budget_percent, window_and_pause)};
}

reading_options with_devices(reading_options options, used_devices& devices) {
  options.devices = &devices;
  return options;
}

template <class Options>
Options with_pauses(Options options, gpu_pauses& pauses) {
  options.pauses = &pauses;
  return options;
}

}  // namespace

counter_engines::counter_engines(cupti_api const& api, cuda_driver const& driver,
                                 counter_options options)
    : options_(std::move(options)),
      budget_(options_.budget_percent, options_.once_ns, options_.place, options_.explains),
      devices_(api),
      launches_(api, driver,
                with_pauses(options_.in_windows ? with_devices(options_.launches, devices_)
                                                : options_.launches,
                            pauses_),
                budget_, next_metric_, halted_),
      sampler_(api, with_pauses(options_.sampling, pauses_), halted_),
      job_(turns_in_job(options_)),
      turns_({.launches = options_.around_launches,
              .windows = options_.in_windows,
              .launches_first = options_.explains,
              .window_ns = window_ns(options_.sampling.interval_ns)}),
      effort_(options_.explains ? 0 : options_.budget_percent),
      interval_ns_(options_.sampling.interval_ns) {}

void counter_engines::resume() noexcept {
  if (halted_.load()) return;
  is_idle_.store(false, std::memory_order_release);
  if (options_.around_launches) launches_.passage().resume();
  on_.store(true, std::memory_order_release);
}

void counter_engines::pause() noexcept {
  on_.store(false, std::memory_order_release);
  launches_.passage().pause();
  budget_.end(monotonic_ns());
}

void counter_engines::abandon() noexcept {
  halted_.store(true);
  pause();
  holds_gpus_.store(false);
}

/// In a job: readings in progress continue to the end of our turn, but none begin late in it.
bool counter_engines::may_read_now() const noexcept {
  auto const time_of_day = now().value;
  return launches_.is_in_midst() ? job_.is_our_turn(time_of_day)
                                 : job_.may_begin_to_read(time_of_day);
}

/// CUPTI opens files to count. If the program has few descriptors left, it needs them: no counting
/// begins, and running counting ends.
bool counter_engines::may_open_files(std::uint64_t now_ns) noexcept {
  if (now_ns - asked_for_files_ns_ < files_every_ns) return has_files_;
  asked_for_files_ns_ = now_ns;
  has_files_ = !descriptors_are_scarce();
  lacks_files_ = lacks_files_ || !has_files_;
  return has_files_;
}

/// Sampling that is set up stays so for a while when the program pauses: setting it up again takes
/// as much CPU time as five windows.
bool counter_engines::gpus_rest(std::uint64_t now_ns) noexcept {
  if (anything_runs()) ran_ns_ = now_ns;
  return now_ns - ran_ns_ > (turns_.holds_sampling() ? patience_with_pauses_ns : 0);
}

bool counter_engines::is_steady(std::uint64_t now_ns) noexcept {
  work_.note(now_ns, launches_.launches());
  if (work_.is_steady()) {
    steady_ns_ = now_ns;
    has_worked_.store(true);
  }
  return now_ns - steady_ns_ <= (turns_.holds_sampling() ? patience_with_pauses_ns : 0);
}

counter_needs counter_engines::needs() {
  auto const moment = monotonic_ns();
  auto const time_of_day = now().value;
  auto const used = devices_.all();
  auto const works = is_steady(moment);
  auto const few = !may_use_cpu(used.size(), moment, many_windows, works);
  auto const window_and_pause = turns_.window_ns() + (few ? engine_turns::mean_long_pause_ns
                                                          : engine_turns::pause_between_windows_ns);
  auto const cost = turns_.holds_sampling() ? sampling_budget::price_of_window_ns(window_and_pause)
                                            : sampling_budget::price_of_burst_ns(window_and_pause);
  auto const windows = turns_.holds_sampling() ? 1 : sampling_budget::windows_in_burst;
  auto const has_launches = launches_.holds_counters();
  auto const price = has_launches ? 0 : price_of_launches_ns;
  auto const may_read =
      has_launches ? job_.is_our_turn(time_of_day) : job_.may_begin_to_read(time_of_day);
  auto const may_open = may_open_files(moment);
  return {
      .now_ns = moment,
      .launches_want = launches_.wants_turn(),
      .launches_affordable = may_open && may_read && budget_.allows(moment, price),
      .in_midst = launches_.is_in_midst(),
      .is_costly_to_stop = launches_.is_costly_to_stop(),
      .window_affordable =
          may_open && !gpus_rest(moment) && budget_.allows_sampling(moment, cost) &&
          may_use_cpu(used.size(), moment, windows, works) && sampler_.can_sample(used, moment),
      .is_our_turn = job_.is_our_turn(time_of_day),
      // If another process holds the GPU at those moments, this rank samples when it can.
      .is_burst_moment = job_.may_begin_burst(time_of_day) || sampler_.counts().busy.load() != 0,
      .sampled_enough = launches_.is_sampled_enough(),
      .windows_are_few = few,
      .must_not_switch = launches_.must_not_switch(),
      .is_prepared = anything_runs() && is_prepared(moment)};
}

/// Takes what has been counted around launches.
void counter_engines::park(counter_results& to, device_counters::intern const& names) {
  launches_.turn(turn_kind::closing, to.metrics, to.launches, names);
}

/// Asks for the setup, too, if it is needed.
bool counter_engines::may_use_cpu(std::size_t gpus, std::uint64_t now_ns, std::uint64_t windows,
                                  bool is_steady) const noexcept {
  auto const setup = turns_.holds_sampling() ? 0 : sampling_effort::usual_setup_ns;
  auto const price = setup + effort_.price_ns(windows * turns_.window_ns() / interval_ns_);
  return effort_.allows(budget_.passed(now_ns), price, std::max<std::size_t>(gpus, 1),
                        launches_.is_sampled_enough(), is_steady);
}

/// Kernels that were long enough so far are sampled at longer intervals, unless the user has chosen
/// one.
void counter_engines::choose_interval() noexcept {
  auto const is_first = sampler_.counts().windows.load() == 0;
  if (is_first || holds_gpus_.load() || options_.sampling.interval_ns != usual_interval_ns) return;
  interval_ns_ = interval_for(lengths_, usual_interval_ns);
  turns_.set_window_ns(window_ns(interval_ns_));
}

void counter_engines::begin_window(counter_results& to, device_counters::intern const& names) {
  if (launches_.holds_counters()) {
    park(to, names);
    if (!launches_.is_parked() || !launches_.release(patience_with_release_ns))
      return turns_.put_off(monotonic_ns(), counter_turn::launches);
  }
  choose_interval();
  // Set before must_not_switch() is checked: a thread that begins to destroy a context now waits.
  auto const held = holds_gpus_.exchange(true);
  if (launches_.must_not_switch()) {
    holds_gpus_.store(held);
    return held ? turns_.put_off(monotonic_ns(), counter_turn::between_windows) : turns_.refuse();
  }
  in_window_ = sampler_.begin_window(devices_.all(), interval_ns_, next_metric_, to.metrics, names);
  if (!in_window_) return turns_.refuse();
  turns_.window_began(monotonic_ns());
  record_nodes(true);
  launches_.window_begins();
}

void counter_engines::end_window(counter_results& to) {
  if (!std::exchange(in_window_, false)) return;
  launches_.window_ends();
  auto const before = thread_cpu_ns();
  sampler_.stop_window();
  record_nodes(false);
  sampler_.end_window(to.sampling);
  decoding_ns_ += thread_cpu_ns() - before;
  effort_.note_decoded(sampler_.counts().samples.load(), decoding_ns_);
  launches_at_window_ = launches_.launches();
}

/// Judged by what is known without waiting for records. Windows on an idle GPU tell nothing.
bool counter_engines::anything_runs() const noexcept {
  return sampler_.counts().windows.load() == 0 || sampler_.busy_share() >= idle_share ||
         launches_.launches() - launches_at_window_ >= launches_after_idle;
}

/// Sampling costs the program time as long as it is set up, in windows or not.
void counter_engines::charge_sampling() noexcept {
  auto const since = sampler_.held_since();
  if (since == 0) return;
  auto const moment = monotonic_ns();
  budget_.spend_on_sampling(
      sampling_budget::price_ns(moment - std::max(since, charged_until_), sampler_.busy_share()));
  charged_until_ = moment;
}

void counter_engines::record_nodes(bool all) {
  if ((nodes_since_ns_ != 0) == all) return;
  nodes_since_ns_ = all ? monotonic_ns() : 0;
  if (options_.record_nodes) options_.record_nodes(all);
}

/// A graph that was launched as a whole gives no kernel its time, so the samples in which it still
/// runs would be of no use.
bool counter_engines::is_prepared(std::uint64_t now_ns) const noexcept {
  if (!options_.record_nodes) return true;
  return nodes_since_ns_ != 0 && now_ns - nodes_since_ns_ >= lead_of_window(in_graphs_);
}

/// Between windows: has graphs recorded by nodes when the next one is near, and from the start as
/// long as no graph has come back. Returns the time until something is to be done.
std::uint64_t counter_engines::prepare_window() {
  if (!anything_runs()) return look_every_ns;
  auto const left = turns_.pause_left_ns(monotonic_ns());
  auto const lead = lead_of_window(in_graphs_);
  if (lead != 0 && left > lead) return left - lead;
  record_nodes(true);
  auto const passed = monotonic_ns() - nodes_since_ns_;
  return std::max(left, lead - std::min(lead, passed));
}

/// Keeps the sampling setup for later.
void counter_engines::release_sampling(counter_results& to) {
  end_window(to);
  record_nodes(false);
  charge_sampling();
  if (!holds_gpus_.load()) return;
  auto const before = monotonic_ns();
  sampler_.release();
  budget_.spend_on_sampling(
      sampling_budget::price_ns(monotonic_ns() - before, sampler_.busy_share()));
  holds_gpus_.store(false);
}

void counter_engines::release_gpus(counter_results& to) {
  end_window(to);
  record_nodes(false);
  charge_sampling();
  if (turns_.holds_sampling()) turns_.refuse();
  sampler_.release_all();
  holds_gpus_.store(false);
}

/// Called after a capture. Work that would break a stream capture is put off, for a limited time.
std::uint64_t counter_engines::become_idle(counter_results& to,
                                           device_counters::intern const& names) {
  auto const moment = monotonic_ns();
  if (idle_wanted_since_ == 0) idle_wanted_since_ = moment;
  auto const is_late = process_is_exiting() || moment - idle_wanted_since_ > max_put_off_ns;
  if (launches_.must_not_switch() && !is_late) return look_every_ns;
  end_window(to);
  park(to, names);
  turns_.refuse();
  release_sampling(to);
  // The GPU was not idle for a moment: tried again, unless the process ends.
  if (!launches_.is_parked() && !is_late) return look_every_ns;
  idle_wanted_since_ = 0;
  if (is_on()) return look_every_ns;
  launches_.end_sharing();
  is_idle_.store(true, std::memory_order_release);
  return never;
}

std::uint64_t counter_engines::turn(bool closing, counter_results& to,
                                    device_counters::intern const& names) {
  if (halted_.load()) return never;
  auto const before = thread_cpu_ns();
  auto const sampled = turns_.holds_sampling();
  note_pace(false);
  auto const sleep_ns = take_turn(closing, to, names);
  note_pace(true);
  auto const cpu_ns = thread_cpu_ns();
  cpu_ns_.store(cpu_ns, std::memory_order_relaxed);
  if (sampled || turns_.holds_sampling()) effort_.spend(cpu_ns - before);
  to.holds = launches_.take_holds();
  to.pauses = pauses_.take();
  return sleep_ns;
}

/// Called before and after each turn, which may set counters up or release them.
void counter_engines::note_pace(bool is_after) noexcept {
  auto const taken = turns_.current() != counter_turn::nobody;
  if (!is_on() || !budget_.is_counting()) {
    work_.interrupt();
    return lost_.interrupt();
  }
  lost_.note(monotonic_ns(), launches_.launches(), taken || (is_after && was_taken_));
  was_taken_ = taken;
  auto const found = lost_.so_far();
  if (!found || options_.launches.every_launch) return;
  auto const surely = std::max(0.0, found->lost_ns - found->error_ns);
  if (found->has_both_sides) budget_.note_lost(static_cast<std::uint64_t>(surely));
  lost_ns_.store(static_cast<std::uint64_t>(std::max(0.0, found->lost_ns)));
  lost_error_ns_.store(static_cast<std::uint64_t>(found->error_ns) + 1);
}

std::uint64_t counter_engines::take_turn(bool closing, counter_results& to,
                                         device_counters::intern const& names) {
  if (release_gpus_.exchange(false, std::memory_order_acq_rel)) release_gpus(to);
  if (closing || !is_on() || process_is_exiting()) return become_idle(to, names);
  idle_wanted_since_ = 0;
  // The time before the first launch does not count for the budget.
  if (!budget_.is_counting() && (!devices_.all().empty() || launches_.launches() > 0))
    budget_.begin(monotonic_ns());
  // Also while no launches are read: a call of the program waits for it.
  launches_.release_for_endings();
  launches_.make_room();
  if (options_.around_launches && launches_.has_given_up()) turns_.forbid_launches();
  charge_sampling();
  auto const before = turns_.current();
  auto const now_has = turns_.next(needs());
  if (now_has != counter_turn::nobody) parks_from_ns_ = put_off_parking_ns_ = 0;
  if (before != now_has) {
    end_window(to);
    if (now_has == counter_turn::window) begin_window(to, names);
  }
  if (!turns_.holds_sampling()) release_sampling(to);
  switch (turns_.current()) {
    case counter_turn::launches:
      if (!may_read_now()) return launches_every_ns;
      launches_.turn(turn_kind::usual, to.metrics, to.launches, names);
      return launches_every_ns;
    case counter_turn::window:
      return std::clamp(turns_.window_left_ns(monotonic_ns()), least_sleep_ns, look_every_ns);
    case counter_turn::between_windows:
      return std::clamp(prepare_window(), least_sleep_ns, look_every_ns);
    case counter_turn::nobody:
      // Try again if the GPU was not idle for a moment.
      if (!launches_.is_parked() && monotonic_ns() >= parks_from_ns_) {
        park(to, names);
        put_off_parking_ns_ =
            std::clamp(2 * put_off_parking_ns_, park_again_after_ns, max_park_again_after_ns);
        parks_from_ns_ = monotonic_ns() + put_off_parking_ns_;
      }
      break;
  }
  return look_every_ns;
}

void counter_engines::release_all(counter_results& to) noexcept {
  if (halted_.load()) return;
  try {
    release_gpus(to);
  } catch (...) {  // no memory: the last window is lost
    sampler_.release_all();
    holds_gpus_.store(false);
  }
  turns_.refuse();
  (void)launches_.release(patience_at_end_ns);
}

std::string counter_engines::take_slowdown_line() {
  auto const passed = budget_.passed(monotonic_ns());
  if (!options_.launches.every_launch || pace_is_said_ || passed < pace_after_ns ||
      launches_.has_given_up())
    return {};
  pace_is_said_ = true;
  return slowdown_line({.passed_ns = passed,
                        .held_ns = launches_.held_ns(),
                        .kernel_ns = launches_.kernel_ns(),
                        .launches_read = launches_.counts().read.load()});
}

std::vector<std::string> counter_engines::take_warnings(bool all) {
  auto lines = launches_.take_warnings();
  auto more = sampler_.take_warnings();
  std::move(more.begin(), more.end(), std::back_inserter(lines));
  if (halted_.load()) return {};  // errors after the halt are expected
  if (std::exchange(lacks_files_, false))
    lines.emplace_back(
        "counters are not read while the program has fewer than 64 descriptors left. Raise its "
        "limit (ulimit -n)");
  // Both engines may be refused for one reason.
  std::erase_if(lines, [this](std::string const& line) {
    auto const reason = line.substr(line.find("off: ") != line.npos ? line.find("off: ") : 0);
    return !said_.insert(reason.substr(0, reason.find(". Kernels are traced"))).second;
  });
  auto due = std::exchange(held_back_, {});
  auto& later = all ? due : held_back_;
  std::move(lines.begin(), lines.end(), std::back_inserter(later));
  return due;
}

void counter_engines::report(ledger& to) const {
  auto const& read = launch_counts();
  to.add("counters.launches_read", read.read);
  to.add("counters.failed", read.failed);
  to.add("counters.missed", read.disturbed);
  to.add("counters.unrecorded", read.unrecorded);
  to.add("counters.not_rewritten", read.not_rewritten);
  to.add("counters.skipped_busy", read.busy);
  to.add("counters.abandoned", read.abandoned);
  to.add("counters.skipped_cooperative", read.cooperative);
  to.add("counters.skipped_by_name", read.by_name);
  to.add("counters.skipped_graphs", read.graphs);
  to.add("counters.skipped_unknown", read.unknown);
  to.add("counters.no_idle_moment", read.not_idle);
  auto const signatures = launch_tally();
  to.add("counters.kinds", signatures.signatures);
  to.add("counters.kinds_unread", signatures.unread);
  to.add("counters.kinds_partly_read", signatures.partly);
  to.add("counters.kinds_left_to_samples", signatures.left_out);
  auto const& windows = window_counts();
  to.add("counters.sampling_windows", windows.windows);
  to.add("counters.samples", windows.samples);
  to.add("counters.sampling_refused", windows.busy);
  to.add("lost.sampling_overflows", windows.overflows);
  to.add("cost.longest_hold_ns", gate().longest_hold_ns());
  to.add("cost.longest_switch_ns", gate().longest_switch_ns());
  to.add("cost.counters_ns", budget_.spent());
  to.add("cost.counters_once_ns", budget_.noted_once());
  to.add("cost.once_allowed_ns", budget_.once_ns());
  to.add("cost.sampling_ns", budget_.spent_on_sampling());
  to.add("cost.counter_cpu_ns", cpu_ns_);
  if (auto const error = lost_error_ns_.load(); error != 0) {
    to.add("cost.counters_lost_ns", lost_ns_);
    to.add("cost.counters_lost_error_ns", error);
  }
  auto const works = launches_.launches() > 0;
  auto const reads_later = works && options_.around_launches && !options_.launches.every_launch &&
                           !budget_.reading_pays(monotonic_ns());
  to.add("note.readings_begin_after_s",
         reads_later ? (budget_.reading_pays_after_ns() + ns_per_second - 1) / ns_per_second : 0);
  auto const samples_later = works && options_.in_windows && !has_worked_.load();
  to.add("note.sampling_begins_after_ms",
         samples_later ? recurring_work::slices * recurring_work::slice_ns / 1'000'000 : 0);
}

}  // namespace gpuprof::guest
