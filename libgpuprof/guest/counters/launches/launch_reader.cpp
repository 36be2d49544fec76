// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/launches/launch_reader.hpp"

#include "base/fork_guard.hpp"
#include "base/futex.hpp"
#include "base/ledger.hpp"
#include "base/log.hpp"
#include "base/own_descriptor.hpp"
#include "base/process.hpp"
#include "base/time.hpp"
#include "guest/counters/counter_access.hpp"

#include <algorithm>
#include <utility>

namespace gpuprof::guest {
namespace {

// How long to hope for an idle moment, such as after a wait of the program, which runs on
// meanwhile. After that, calls are slowed down until the GPU has finished its queue.
constexpr std::uint64_t hope_ns = 500 * ns_per_ms;
constexpr std::uint64_t hope_at_once_ns =
    20 * ns_per_ms;  // before the worker looks after its other work again
constexpr std::uint64_t drain_ns = 250 * ns_per_ms;
constexpr unsigned max_drains = 8;  // in a row, with every_launch
// A stream that is busy for longer with its queued work will not be idle soon.
constexpr std::uint64_t long_work_ns = 250 * ns_per_ms;
// The pause after a failed try; it doubles each time.
constexpr std::uint64_t drains_put_off_ns = 2'000 * ns_per_ms,
                        max_drains_put_off_ns = 60'000 * ns_per_ms;
constexpr std::uint64_t ask_again_after_ns = 10'000 * ns_per_ms;

// A round ends after this long without a launch to read, or after this many launches that found the
// GPU busy.
constexpr std::uint64_t round_quiet_ns = 20 * ns_per_ms, max_wait_for_launch_ns = 100 * ns_per_ms;
constexpr std::uint64_t max_busy = 20, max_busy_at_large = 3;
constexpr std::uint64_t max_round_ns = 400 * ns_per_ms;
// A launch whose kernel is rewritten waits for it inside CUPTI.
constexpr std::uint64_t max_launch_ns = 5'000 * ns_per_ms;
constexpr unsigned max_proofs = 3;  // that failed

// At the end an idle moment is hoped for so long; then calls are slowed down.
constexpr std::uint64_t hope_to_end_ns = 500'000'000;
constexpr std::uint64_t max_end_ns = 200'000'000;

}  // namespace

launch_reader::launch_reader(cupti_api const& api, cuda_driver const& driver,
                             reading_options options, sampling_budget& budget,
                             std::uint32_t& next_metric, std::atomic<bool> const& halted)
    : passage_(api, driver, std::move(options), budget, halted),
      state_(passage_.state()),
      decision_(state_, next_metric) {}

bool launch_reader::wants_turn() noexcept {
  if (state_.given_up.load() || state_.contexts[0].load() == nullptr) return false;
  decision_.look_for_targets();
  return state_.options.every_launch || decision_.is_worth_it();
}

/// Returns false, after a warning, if counters are off; or off for a while because another tool
/// holds them.
bool launch_reader::checked(result<void> const& done) {
  if (done) return true;
  if (!is_held_by_another(done.message())) {
    decision_.give_up("counters are off from here on: " + done.message());
  } else {
    decision_.warn(done.message() + "; asked again every 10 s");
    not_before_ns_ = monotonic_ns() + ask_again_after_ns;
  }
  return false;
}

/// CUPTI can set up the counters of a GPU for only one context at a time.
bool launch_reader::is_held_for_another(context_readings const& context) const noexcept {
  return state_.any_context([&](auto const& other) {
    return &other != &context && other.device() == context.device() && other.holds_counters();
  });
}

bool launch_reader::may_begin_round(context_readings& context) noexcept {
  auto const moment = monotonic_ns();
  if (context.has_ended() || !context.streams.is_known() || state_.is_interrupted()) return false;
  if (is_held_for_another(context)) return false;
  if (state_.options.every_launch) return true;
  if (moment < not_before_ns_) return false;
  auto* const cycle = context.cycle();
  auto const is_due = cycle != nullptr && cycle->has_readings() && cycle->pass_is_over(0, moment);
  return (decision_.is_worth_it() || is_due) && state_.budget.allows(moment);
}

result<void> launch_reader::start(context_readings& context) {
  if (!context.holds_counters() && state_.options.turns != nullptr) {
    auto const gpu = state_.options.uuid(context.device());
    auto turn = state_.options.turns->try_take(gpu);
    if (!turn) return held_by_process(counter_engine::ranges, state_.options.turns->holder(gpu));
    context.keep(std::move(*turn));
  }
  auto const groups =
      state_.options.every_launch ? ~launch_signature::groups{0} : decision_.outlook().groups;
  fork_guard const guard;
  auto const held_before = state_.gate.held_ns();
  result<void> done;  // success also if it was not tried: the next idle moment is used
  state_.idle.call(context.streams, [&] { done = context.start(groups, monotonic_ns()); });
  // Later setups count as normal cost of reading.
  if (state_.budget.noted_once() == 0) state_.budget.note_once(state_.gate.held_ns() - held_before);
  return done;
}

/// With every_launch, a long queue is finished first, even in several tries: if the gate were
/// opened in between, the program would be as far ahead again.
bool launch_reader::shut_when_idle(context_readings& context, std::uint64_t hope_for_ns,
                                   std::uint64_t patience_ns) {
  for (unsigned tries = 1;; ++tries) {
    if (state_.idle.shut_when_idle(context.streams, hope_for_ns, patience_ns,
                                   [&] { context.drop_open_range(); }))
      return true;
    if (!state_.options.every_launch || patience_ns == 0 || tries == max_drains ||
        state_.is_interrupted())
      return false;
    if (context.streams.works_long(monotonic_ns(), long_work_ns)) return false;
  }
}

void launch_reader::round(context_readings& context, std::vector<counter_reading>& launches) {
  auto const began = monotonic_ns();
  auto const hopes = !state_.options.every_launch && began - decision_.wanted_since_ns() < hope_ns;
  if (state_.driver.cuCtxSetCurrent != nullptr) state_.driver.cuCtxSetCurrent(context.handle());
  auto const drains = !hopes && !context.streams.works_long(began, long_work_ns);
  if (!shut_when_idle(context, hopes ? hope_at_once_ns : 0, drains ? drain_ns : 0)) {
    state_.gate.open();
    auto const lost = state_.gate.take_waited_ns();
    if (!drains && hopes) return;
    count(state_.counts.not_idle);
    state_.budget.spend(lost);
    log_debug("counters: no idle moment in " +
              std::to_string((monotonic_ns() - began) / ns_per_ms) + " ms");
    put_off_ns_ = std::clamp(2 * put_off_ns_, drains_put_off_ns, max_drains_put_off_ns);
    not_before_ns_ = state_.options.every_launch ? 0 : monotonic_ns() + put_off_ns_;
    return;
  }
  put_off_ns_ = 0;
  state_.budget.spend(state_.gate.take_waited_ns());
  auto const switched = monotonic_ns();
  auto goes_on = true;
  if (context.cycle() == nullptr) {
    goes_on = checked(start(context));
  }
  busy_in_round_ = 0;
  one_at_a_time_ = state_.options.every_launch;
  auto const set_up = monotonic_ns();
  while (goes_on && !state_.is_interrupted() && monotonic_ns() - set_up < max_round_ns &&
         (state_.options.every_launch || busy_in_round_ < max_busy)) {
    goes_on = serve(context);
    if (state_.options.every_launch)
      decision_.evaluate_all(launches);  // results of a cycle: calls wait meanwhile
  }
  // With every_launch the gate stays shut, so that the next launch is read too.
  if (!state_.options.every_launch || state_.is_interrupted()) state_.gate.open();
  state_.budget.spend(state_.gate.take_waited_ns());
  decision_.evaluate_all(launches);
  decision_.look_at_once();  // fewer targets now
  log_debug("counters: a round of " + std::to_string((monotonic_ns() - began) / ns_per_ms) +
            " ms, idle after " + std::to_string((switched - began) / 1000) + " us; " +
            std::to_string(state_.counts.read.load()) + " launches read so far, " +
            std::to_string(state_.counts.busy.load()) + " found the GPU busy, " +
            std::to_string(state_.counts.disturbed.load()) + " disturbed; wanted " +
            std::to_string(decision_.outlook().wanted) + " kinds, " +
            std::to_string(static_cast<int>(decision_.outlook().unknown_share * 100)) +
            " % of the time");
}

/// Waits for a launch to read, and reads it. Returns false if the round is over.
bool launch_reader::serve(context_readings& context) {
  state_.budget.spend(state_.gate.take_waited_ns());
  if (!state_.options.every_launch && !state_.budget.may_go_on(monotonic_ns())) {
    take_what_was_read(context);
    return false;
  }
  if (!advance(context)) return false;
  if (!state_.options.every_launch) want_signatures_of(context);
  if (!one_at_a_time_) state_.gate.choose();
  auto const caller =
      state_.gate.next(state_.options.every_launch ? round_quiet_ns : max_wait_for_launch_ns);
  if (!caller) return false;
  state_.gate.shut();
  auto* const cycle = context.cycle();
  auto const is_here = caller->call.context == &context && caller->call.signature != nullptr;
  auto const range =
      is_here && cycle != nullptr && context.streams.may_wait_for(caller->call.stream)
          ? cycle->range_for(*caller->call.signature)
          : std::nullopt;
  if (range) return read(context, *caller, *range);
  if (is_here && cycle != nullptr && cycle->needs_proof(*caller->call.signature))
    return prove_that_it_ends(context, *caller);
  if (!state_.options.every_launch) (void)state_.idle.reach_before_impatience(context.streams);
  state_.gate.admit(caller->ticket, false);
  return true;
}

/// If the program launches so far ahead that the GPU is never idle in time for a launch to read,
/// all calls pass one at a time.
bool launch_reader::found_busy(context_readings& context) noexcept {
  if (!state_.options.every_launch) count(state_.counts.busy);  // otherwise left() counts it
  if (state_.is_interrupted()) return false;
  if (++busy_in_round_ >= max_busy_at_large) one_at_a_time_ = true;
  return drain(context);
}

/// Nothing more is read for now: takes the readings there are, so that ranges need not stay on. A
/// cycle with several passes is kept until there is budget again, because half of its passes give
/// nothing.
void launch_reader::take_what_was_read(context_readings& context) {
  auto const* const cycle = context.cycle();
  if (cycle == nullptr || !cycle->has_readings() || cycle->group().passes != 1) return;
  if (!state_.idle.reach(context.streams, work_gate::max_hold_ns)) return;
  std::optional<reading_batch> done;
  result<void> ok;
  if (!state_.idle.call(context.streams, [&] { ok = context.finish(done); })) return;
  if (done) decision_.add(context.device(), std::move(*done));
  (void)checked(ok);
}

/// Other signatures pass the gate freely meanwhile.
void launch_reader::want_signatures_of(context_readings& context) noexcept {
  auto const* const cycle = context.cycle();
  for (std::size_t i = 0; i < state_.signatures.all().size(); ++i)
    if (auto* const signature = state_.signatures.all().at(i))
      signature->want(cycle != nullptr &&
                      (cycle->needs_proof(*signature) || cycle->range_for(*signature).has_value()));
}

/// Turns to the next pass when this one has all that it can get.
bool launch_reader::advance(context_readings& context) {
  auto* const cycle = context.cycle();
  auto const moment = monotonic_ns();
  if (cycle != nullptr && !cycle->pass_is_over(decision_.outlook().wanted, moment)) return true;
  if (cycle == nullptr && !state_.options.every_launch &&
      (!decision_.is_worth_it() || !state_.budget.allows(moment)))
    return false;
  if (!state_.idle.reach(context.streams, work_gate::max_hold_ns)) return false;
  if (cycle == nullptr) {
    return checked(start(context));
  }
  std::optional<reading_batch> done;
  result<void> ok;
  if (!state_.idle.call(context.streams, [&] { ok = context.turn_pass(moment, done); })) {
    state_.gate.relax();
    return true;  // tried again before the next launch
  }
  if (done) decision_.add(context.device(), std::move(*done));
  state_.gate.relax();
  // The choice of the next cycle depends on the results of this one.
  if (!checked(ok)) return false;
  return !done || (state_.options.every_launch && advance(context));
}

/// Returns false if the round is over.
bool launch_reader::read(context_readings& context, work_gate::visitor const& launch,
                         std::size_t range) {
  auto const impatient = state_.gate.impatient();
  if (!state_.idle.reach_before_impatience(context.streams))
    return found_busy(context);  // it has gone on, unread
  auto const rewrites = context.cycle()->group().rewrites;
  if (rewrites && !state_.options.pause_kernel_records()) {
    state_.gate.admit(launch.ticket, false);
    return true;
  }
  auto const resume = [&] {
    if (rewrites) state_.options.resume_kernel_records();
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

/// Lets the thread wait after the launch, for up to 2 ms: a kernel that ends meanwhile does not
/// depend on what the program does next.
bool launch_reader::prove_that_it_ends(context_readings& context,
                                       work_gate::visitor const& launch) {
  if (!state_.idle.reach_before_impatience(context.streams)) return found_busy(context);
  state_.remark = {};
  if (!state_.gate.admit(launch.ticket, true) || !state_.gate.wait_for_departure(max_launch_ns))
    return false;
  auto const ended = state_.idle.reach_before_impatience(context.streams);
  auto const waited = state_.gate.release_read();
  auto& signature = *launch.call.signature;
  if (ended && waited)
    signature.note_ends_alone();
  else if (signature.count_failure() >= max_proofs)
    signature.give_up(launch_signature::groups{1} << context.cycle()->group().number);
  return ended || drain(context);
}

/// Slows calls down until the GPU has finished its queue. This is charged as any wait, because it
/// is not known whether the program was so far ahead that it loses nothing.
bool launch_reader::drain(context_readings& context) noexcept {
  return state_.idle.reach(context.streams, drain_ns);
}

/// Called with the gate held and the GPU idle. `impatient`: gate_.impatient() before that.
bool launch_reader::read_held(context_readings& context, work_gate::visitor const& launch,
                              std::size_t range, bool rewrites, std::uint64_t impatient) {
  auto& signature = *launch.call.signature;
  auto const opened = now();
  state_.remark = {};
  if (rewrites) {
    auto const alike = signature.pattern(state_.capture.load());
    if (alike == correlation_id{}) return state_.gate.admit(launch.ticket, false), true;
    state_.remark = {
        .is = launch_remark::kind::unrecorded, .alike = alike, .ran_from = opened, .ran_to{}};
  }
  auto is_open = false;
  if (!state_.idle.call(context.streams, [&] { is_open = context.push(range, signature, opened); }))
    return found_busy(context);  // it has gone on, unread
  if (!is_open) {
    count(state_.counts.failed);
    state_.gate.admit(launch.ticket, false);
    return true;
  }
  auto const before = monotonic_ns();
  auto const admitted = state_.gate.admit(launch.ticket, true);
  auto const departure = admitted ? state_.gate.wait_for_departure(max_launch_ns) : std::nullopt;
  if (rewrites)
    state_.budget.spend(monotonic_ns() - before);  // CUPTI waits for the kernel in the launch
  if (admitted && !departure) {
    count(state_.counts.abandoned);
    decision_.give_up(
        "counters are off from here on: a launch that was read did not return in five seconds");
    return false;
  }
  if (rewrites) count(state_.counts.unrecorded);
  // The rewritten kernel may not have fitted on the GPU.
  if (rewrites && signature.is_cooperative() && departure && departure->failed)
    state_.cooperative_failed.store(true);
  // CUPTI orders the end of a range before all work that is launched after it. If the kernel is
  // still running, the work that it waits for would wait too.
  if (!state_.idle.reach_before_impatience(context.streams)) {
    count(state_.counts.disturbed);
    return false;
  }
  // A call that stopped waiting for the gate may have put work into the range.
  auto is_alone = false, popped = false;
  if (!state_.idle.call(context.streams, [&] {
        is_alone = state_.gate.impatient() == impatient;
        popped = context.pop(is_alone && departure && !departure->failed,
                             departure ? departure->correlation : correlation_id{});
      })) {
    count(state_.counts.disturbed);
    return false;
  }
  if (state_.gate.release_read()) signature.note_ends_alone();
  count(popped ? state_.counts.read : is_alone ? state_.counts.failed : state_.counts.disturbed);
  return true;
}

void launch_reader::work(turn_kind how, std::vector<metric_record>& metrics,
                         std::vector<counter_reading>& launches,
                         device_counters::intern const& names) {
  state_.budget.spend(state_.gate.take_waited_ns());  // waits that ended only after the last round
  for (auto& entry : state_.contexts) {
    auto* const context = entry.load();
    if (context == nullptr || state_.halted.load()) break;
    if (how == turn_kind::closing) {
      close(*context);
      continue;
    }
    if (context->has_ended()) {
      context->leave();
      continue;
    }
    if (!state_.on.load() || state_.is_interrupted()) continue;
    if (!context->holds_counters() && descriptors_are_scarce()) continue;
    if (!decision_.prepare(*context, metrics, names)) break;
    decision_.look_for_targets();
    if (!may_begin_round(*context)) continue;
    try {
      round(*context, launches);
    } catch (...) {  // no memory: calls must not wait until the next round
      state_.gate.open();
      throw;
    }
  }
  if (how == turn_kind::closing || state_.is_interrupted()) state_.gate.open();
  decision_.evaluate_all(launches);
}

/// Takes what was counted so far, if the GPU is idle for a moment.
void launch_reader::close(context_readings& context) {
  if (!context.is_counting() || context.has_ended()) return;
  (void)state_.idle.shut_when_idle(
      context.streams, state_.options.every_launch ? 0 : hope_to_end_ns, max_end_ns, [&] {
        context.drop_open_range();
        std::optional<reading_batch> done;
        auto const ok = context.finish(done);
        if (done) decision_.add(context.device(), std::move(*done));
        (void)ok;  // what cannot be taken now is lost
      });
  state_.gate.open();
  state_.budget.spend(state_.gate.take_waited_ns());
}

bool launch_reader::release(std::uint64_t patience_ns) noexcept {
  auto all = true;
  for (auto& entry : state_.contexts) {
    auto* const context = entry.load();
    if (context == nullptr || state_.halted.load()) break;
    if (!context->holds_counters() || context->has_ended()) continue;
    auto const since = monotonic_ns();
    auto const hope = state_.options.every_launch ? 0 : hope_to_end_ns;
    auto const is_idle = state_.idle.shut_when_idle(context->streams, hope, patience_ns, [&] {
      context->drop_open_range();
      context->release();
    });
    state_.gate.open();
    state_.budget.spend(state_.gate.take_waited_ns());
    all = all && is_idle;
    if (!is_idle) put_off_ns_ = std::max(put_off_ns_, monotonic_ns() - since);
  }
  return all;
}

/// Some context is ending: first releases the counters of all contexts that are idle.
void launch_reader::end_contexts() noexcept {
  for (auto& entry : state_.contexts) {
    auto* const context = entry.load();
    if (context == nullptr || state_.halted.load()) break;
    try {
      close(*context);
    } catch (...) {  // no memory: what was counted is lost
    }
  }
  (void)release(max_end_ns);
  state_.to_be_released.store(0);
  futex_wake(state_.to_be_released);
}

}  // namespace gpuprof::guest
