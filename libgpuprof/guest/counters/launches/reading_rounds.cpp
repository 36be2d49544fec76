// SPDX-License-Identifier: Apache-2.0
// What launch_reader does on the worker's thread: rounds of readings while the gate is kept.
#include "base/fork_guard.hpp"
#include "base/ledger.hpp"
#include "base/log.hpp"
#include "base/own_descriptor.hpp"
#include "base/process.hpp"
#include "base/time.hpp"
#include "guest/counters/counter_access.hpp"
#include "guest/counters/launches/launch_reader.hpp"

#include <algorithm>
#include <utility>

namespace gpuprof::guest {
namespace {

// For so long an idle moment is hoped for that comes by itself, as after a wait of the program,
// which is let run meanwhile. Then calls are slowed down until the GPU has worked off what was
// queued.
constexpr std::uint64_t hope_ns = 500 * ns_per_ms;
constexpr std::uint64_t hope_at_once_ns =
    20 * ns_per_ms;  // before the worker looks at all else again
constexpr std::uint64_t drain_ns = 250 * ns_per_ms;
constexpr unsigned max_drains = 8;  // one after the other, where every launch is read
// A stream that works for longer on what it has is not going to be idle soon.
constexpr std::uint64_t long_work_ns = 250 * ns_per_ms;
// After that has failed; twice as long each time.
constexpr std::uint64_t drains_put_off_ns = 2'000 * ns_per_ms,
                        max_drains_put_off_ns = 60'000 * ns_per_ms;
constexpr std::uint64_t ask_again_after_ns = 10'000 * ns_per_ms;

// A round ends when for so long no launch came that is to be read, or when so many did not find the
// GPU idle.
constexpr std::uint64_t round_quiet_ns = 20 * ns_per_ms, max_wait_for_launch_ns = 100 * ns_per_ms;
constexpr std::uint64_t max_busy = 20, max_busy_at_large = 3;
constexpr std::uint64_t max_round_ns = 400 * ns_per_ms;
// Inside CUPTI a launch whose kernel is rewritten waits for it.
constexpr std::uint64_t max_launch_ns = 5'000 * ns_per_ms;
constexpr unsigned max_proofs = 3;  // that failed

}  // namespace

void launch_reader::give_up(std::string why) {
  on_.store(false);
  if (!given_up_.exchange(true)) warnings_.push_back(std::move(why));
}

/// False after a line: counters are off then, or for a while when another tool has them.
bool launch_reader::checked(result<void> const& done) {
  if (done) return true;
  if (!is_held_by_another(done.message())) {
    give_up("counters are off from here on: " + done.message());
  } else {
    warnings_.push_back(done.message() + "; asked again every 10 s");
    not_before_ns_ = monotonic_ns() + ask_again_after_ns;
  }
  return false;
}

bool launch_reader::is_interrupted() const noexcept {
  return must_not_switch() || !on_.load() || halted_.load() || process_is_exiting() ||
         to_be_released_.load() != 0;
}

/// CUPTI has the counters of a GPU set up for one context at a time.
bool launch_reader::is_held_for_another(context_readings const& context) const noexcept {
  return any_context([&](auto const& other) {
    return &other != &context && other.device() == context.device() && other.holds_counters();
  });
}

bool launch_reader::may_begin_round(context_readings& context) noexcept {
  auto const moment = monotonic_ns();
  if (context.has_ended() || !context.streams.is_known() || is_interrupted()) return false;
  if (is_held_for_another(context)) return false;
  if (options_.every_launch) return true;
  if (moment < not_before_ns_) return false;
  auto* const cycle = context.cycle();
  auto const is_due = cycle != nullptr && cycle->has_readings() && cycle->pass_is_over(0, moment);
  return (is_worth_it() || is_due) && budget_.allows(moment);
}

result<void> launch_reader::start(context_readings& context) {
  if (!context.holds_counters() && options_.turns != nullptr) {
    auto const gpu = options_.uuid(context.device());
    auto turn = options_.turns->try_take(gpu);
    if (!turn) return held_by_process(counter_engine::ranges, options_.turns->holder(gpu));
    context.keep(std::move(*turn));
  }
  auto const groups = options_.every_launch ? ~launch_signature::groups{0} : outlook_.groups;
  fork_guard const guard;
  auto const held_before = gate_.held_ns();
  result<void> done;  // also when it was not tried: the next idle moment serves
  idle_moments_.call(context.streams, [&] { done = context.start(groups, monotonic_ns()); });
  // Later ones are part of what reading costs all the time.
  if (budget_.noted_once() == 0) budget_.note_once(gate_.held_ns() - held_before);
  return done;
}

/// Around every launch means that a long queue is worked off first: were the gate opened after a
/// while, the program would be as far ahead again.
bool launch_reader::shut_when_idle(context_readings& context, std::uint64_t hope_for_ns,
                                   std::uint64_t patience_ns) {
  for (unsigned tries = 1;; ++tries) {
    if (idle_moments_.shut_when_idle(context.streams, hope_for_ns, patience_ns,
                                     [&] { context.drop_open_range(); }))
      return true;
    if (!options_.every_launch || patience_ns == 0 || tries == max_drains || is_interrupted())
      return false;
    if (context.streams.works_long(monotonic_ns(), long_work_ns)) return false;
  }
}

void launch_reader::round(context_readings& context, std::vector<counter_reading>& launches) {
  auto const began = monotonic_ns();
  auto const hopes = !options_.every_launch && began - wanted_since_ns_ < hope_ns;
  if (driver_.cuCtxSetCurrent != nullptr) driver_.cuCtxSetCurrent(context.handle());
  auto const drains = !hopes && !context.streams.works_long(began, long_work_ns);
  if (!shut_when_idle(context, hopes ? hope_at_once_ns : 0, drains ? drain_ns : 0)) {
    gate_.open();
    auto const lost = gate_.take_waited_ns();
    if (!drains && hopes) return;
    count(counts_.not_idle);
    budget_.spend(lost);
    log_debug("counters: no idle moment in " +
              std::to_string((monotonic_ns() - began) / ns_per_ms) + " ms");
    put_off_ns_ = std::clamp(2 * put_off_ns_, drains_put_off_ns, max_drains_put_off_ns);
    not_before_ns_ = options_.every_launch ? 0 : monotonic_ns() + put_off_ns_;
    return;
  }
  put_off_ns_ = 0;
  budget_.spend(gate_.take_waited_ns());
  auto const switched = monotonic_ns();
  auto goes_on = true;
  if (context.cycle() == nullptr) {
    goes_on = checked(start(context));
  }
  busy_in_round_ = 0;
  one_at_a_time_ = options_.every_launch;
  auto const set_up = monotonic_ns();
  while (goes_on && !is_interrupted() && monotonic_ns() - set_up < max_round_ns &&
         (options_.every_launch || busy_in_round_ < max_busy)) {
    goes_on = serve(context);
    if (options_.every_launch) evaluate_all(launches);  // those of a cycle: calls wait meanwhile
  }
  // Around every launch means around the next one, too.
  if (!options_.every_launch || is_interrupted()) gate_.open();
  budget_.spend(gate_.take_waited_ns());
  evaluate_all(launches);
  looked_ns_ = 0;  // less is wanted now
  log_debug("counters: a round of " + std::to_string((monotonic_ns() - began) / ns_per_ms) +
            " ms, idle after " + std::to_string((switched - began) / 1000) + " us; " +
            std::to_string(counts_.read.load()) + " launches read so far, " +
            std::to_string(counts_.busy.load()) + " found the GPU busy, " +
            std::to_string(counts_.disturbed.load()) + " disturbed; wanted " +
            std::to_string(outlook_.wanted) + " kinds, " +
            std::to_string(static_cast<int>(outlook_.unknown_share * 100)) + " % of the time");
}

/// Waits for a launch that is to be read, and reads it. False: the round is over.
bool launch_reader::serve(context_readings& context) {
  budget_.spend(gate_.take_waited_ns());
  if (!options_.every_launch && !budget_.may_go_on(monotonic_ns())) {
    take_what_was_read(context);
    return false;
  }
  if (!advance(context)) return false;
  if (!options_.every_launch) want_signatures_of(context);
  if (!one_at_a_time_) gate_.choose();
  auto const caller = gate_.next(options_.every_launch ? round_quiet_ns : max_wait_for_launch_ns);
  if (!caller) return false;
  gate_.shut();
  auto* const cycle = context.cycle();
  auto const is_here = caller->call.context == &context && caller->call.signature != nullptr;
  auto const range =
      is_here && cycle != nullptr && context.streams.may_wait_for(caller->call.stream)
          ? cycle->range_for(*caller->call.signature)
          : std::nullopt;
  if (range) return read(context, *caller, *range);
  if (is_here && cycle != nullptr && cycle->needs_proof(*caller->call.signature))
    return prove_that_it_ends(context, *caller);
  if (!options_.every_launch) (void)idle_moments_.reach_before_impatience(context.streams);
  gate_.admit(caller->ticket, false);
  return true;
}

/// Where the program launches so far ahead that the GPU is never idle in time when a launch comes
/// that is to be read, all calls pass one at a time.
bool launch_reader::found_busy(context_readings& context) noexcept {
  if (!options_.every_launch) count(counts_.busy);  // else left() counts it
  if (is_interrupted()) return false;
  if (++busy_in_round_ >= max_busy_at_large) one_at_a_time_ = true;
  return drain(context);
}

/// For now nothing more is read: what there is is taken, and ranges do not stay on for it. Several
/// passes are left for when there is room again: half of them say nothing.
void launch_reader::take_what_was_read(context_readings& context) {
  auto const* const cycle = context.cycle();
  if (cycle == nullptr || !cycle->has_readings() || cycle->group().passes != 1) return;
  if (!idle_moments_.reach(context.streams, work_gate::max_hold_ns)) return;
  std::optional<reading_batch> done;
  result<void> ok;
  if (!idle_moments_.call(context.streams, [&] { ok = context.finish(done); })) return;
  if (done) batches_.emplace_back(context.device(), std::move(*done));
  (void)checked(ok);
}

/// Others pass the gate freely meanwhile.
void launch_reader::want_signatures_of(context_readings& context) noexcept {
  auto const* const cycle = context.cycle();
  for (std::size_t i = 0; i < signatures_.all().size(); ++i)
    if (auto* const signature = signatures_.all().at(i))
      signature->want(cycle != nullptr &&
                      (cycle->needs_proof(*signature) || cycle->range_for(*signature).has_value()));
}

/// Turns to the next pass when this one has all that it can get.
bool launch_reader::advance(context_readings& context) {
  auto* const cycle = context.cycle();
  auto const moment = monotonic_ns();
  if (cycle != nullptr && !cycle->pass_is_over(outlook_.wanted, moment)) return true;
  if (cycle == nullptr && !options_.every_launch && (!is_worth_it() || !budget_.allows(moment)))
    return false;
  if (!idle_moments_.reach(context.streams, work_gate::max_hold_ns)) return false;
  if (cycle == nullptr) {
    return checked(start(context));
  }
  std::optional<reading_batch> done;
  result<void> ok;
  if (!idle_moments_.call(context.streams, [&] { ok = context.turn_pass(moment, done); })) {
    gate_.relax();
    return true;  // tried again before the next launch
  }
  if (done) batches_.emplace_back(context.device(), std::move(*done));
  gate_.relax();
  // What the next cycle is for depends on what this one has told.
  if (!checked(ok)) return false;
  return !done || (options_.every_launch && advance(context));
}

/// False: the round is over.
bool launch_reader::read(context_readings& context, work_gate::visitor const& launch,
                         std::size_t range) {
  auto const impatient = gate_.impatient();
  if (!idle_moments_.reach_before_impatience(context.streams))
    return found_busy(context);  // it went on, unread
  auto const rewrites = context.cycle()->group().rewrites;
  if (rewrites && !options_.pause_kernel_records()) {
    gate_.admit(launch.ticket, false);
    return true;
  }
  auto const resume = [&] {
    if (rewrites) options_.resume_kernel_records();
  };
  try {
    auto const goes_on = read_held(context, launch, range, rewrites, impatient);
    resume();
    return goes_on;
  } catch (...) {  // no memory
    resume();
    throw;
  }
}

/// Its thread waits after the launch, 2 ms at most: a kernel that ends meanwhile needs nothing that
/// the program does next.
bool launch_reader::prove_that_it_ends(context_readings& context,
                                       work_gate::visitor const& launch) {
  if (!idle_moments_.reach_before_impatience(context.streams)) return found_busy(context);
  remark_ = {};
  if (!gate_.admit(launch.ticket, true) || !gate_.wait_for_departure(max_launch_ns)) return false;
  auto const ended = idle_moments_.reach_before_impatience(context.streams);
  auto const waited = gate_.release_read();
  auto& signature = *launch.call.signature;
  if (ended && waited)
    signature.note_ends_alone();
  else if (signature.count_failure() >= max_proofs)
    signature.give_up(launch_signature::groups{1} << context.cycle()->group().number);
  return ended || drain(context);
}

/// Calls are slowed down until the GPU has worked off what was queued. Charged as any wait: whether
/// the program had run ahead so far that it loses nothing is not known.
bool launch_reader::drain(context_readings& context) noexcept {
  return idle_moments_.reach(context.streams, drain_ns);
}

/// The gate is held, and the GPU has nothing to do. `impatient`: calls that had gone on by
/// themselves before that.
bool launch_reader::read_held(context_readings& context, work_gate::visitor const& launch,
                              std::size_t range, bool rewrites, std::uint64_t impatient) {
  auto& signature = *launch.call.signature;
  auto const opened = now();
  remark_ = {};
  if (rewrites) {
    auto const alike = signature.pattern(capture_.load());
    if (alike == correlation_id{}) return gate_.admit(launch.ticket, false), true;
    remark_ = {
        .is = launch_remark::kind::unrecorded, .alike = alike, .ran_from = opened, .ran_to{}};
  }
  auto is_open = false;
  if (!idle_moments_.call(context.streams,
                          [&] { is_open = context.push(range, signature, opened); }))
    return found_busy(context);  // it went on, unread
  if (!is_open) {
    count(counts_.failed);
    gate_.admit(launch.ticket, false);
    return true;
  }
  auto const before = monotonic_ns();
  auto const admitted = gate_.admit(launch.ticket, true);
  auto const departure = admitted ? gate_.wait_for_departure(max_launch_ns) : std::nullopt;
  if (rewrites) budget_.spend(monotonic_ns() - before);  // CUPTI waits for the kernel in the launch
  if (admitted && !departure) {
    count(counts_.abandoned);
    give_up("counters are off from here on: a launch that was read did not return in five seconds");
    return false;
  }
  if (rewrites) count(counts_.unrecorded);
  // Rewritten it may not have fitted the GPU.
  if (rewrites && signature.is_cooperative() && departure && departure->failed)
    cooperative_failed_.store(true);
  // CUPTI puts the end of a range before all work that is launched after it: with a kernel that
  // still runs, whatever it waits for would wait as well.
  if (!idle_moments_.reach_before_impatience(context.streams)) {
    count(counts_.disturbed);
    return false;
  }
  // A call that went on by itself meanwhile may have put work into the range.
  auto is_alone = false, popped = false;
  if (!idle_moments_.call(context.streams, [&] {
        is_alone = gate_.impatient() == impatient;
        popped = context.pop(is_alone && departure && !departure->failed,
                             departure ? departure->correlation : correlation_id{});
      })) {
    count(counts_.disturbed);
    return false;
  }
  if (gate_.release_read()) signature.note_ends_alone();
  count(popped ? counts_.read : is_alone ? counts_.failed : counts_.disturbed);
  return true;
}

void launch_reader::work(turn_kind how, std::vector<metric_record>& metrics,
                         std::vector<counter_reading>& launches,
                         device_counters::intern const& names) {
  budget_.spend(gate_.take_waited_ns());  // of calls that went on only after the last round
  for (auto& entry : contexts_) {
    auto* const context = entry.load();
    if (context == nullptr || halted_.load()) break;
    if (how == turn_kind::closing) {
      close(*context);
      continue;
    }
    if (context->has_ended()) {
      context->leave();
      continue;
    }
    if (!on_.load() || is_interrupted()) continue;
    if (!context->holds_counters() && descriptors_are_scarce()) continue;
    if (!prepare(*context, metrics, names)) break;
    look_for_targets();
    if (!may_begin_round(*context)) continue;
    try {
      round(*context, launches);
    } catch (...) {  // no memory: calls of the program must not wait for the next round
      gate_.open();
      throw;
    }
  }
  if (how == turn_kind::closing || is_interrupted()) gate_.open();
  evaluate_all(launches);
}

}  // namespace gpuprof::guest
