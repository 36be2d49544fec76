// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/launches/reading_decision.hpp"

#include "base/fork_guard.hpp"
#include "base/ledger.hpp"
#include "base/time.hpp"
#include "guest/counters/counter_access.hpp"

#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace gpuprof::guest {
namespace {

constexpr std::uint64_t patience_with_rewriting = 4;  // readings
constexpr std::uint64_t decide_every_ns = 20 * ns_per_ms;
// The readings of other ranks are compared with our own at this interval.
constexpr std::uint64_t hear_every_ns = 500 * ns_per_ms;
constexpr double as_long = 0.05;  // as a share; beyond it the work is not the same
// As a share of the time of signatures that still recur.
constexpr double min_unknown_share = 0.01;
// Cost of setting up the second group, and of some readings.
constexpr std::uint64_t price_of_refining_ns = 500 * ns_per_ms;
constexpr std::uint64_t times_as_long_rewritten = 20;  // at most
// Maximum time of a launch of a signature. A longer launch cannot be read within the time that a
// call may be held, and a rewritten kernel runs up to twenty times as long.
constexpr std::uint64_t max_kernel_ns = work_gate::max_hold_ns * 3 / 4;

}  // namespace

reading_decision::reading_decision(reading_state& state, std::uint32_t& next_metric)
    : state_(state), next_metric_(next_metric) {
  if (state.options.shared_beside && !state.options.every_launch)
    shared_.emplace(state.options.shared_beside, state.options.ranks);
}

void reading_decision::give_up(std::string why) {
  state_.on.store(false);
  if (!state_.given_up.exchange(true)) warnings_.push_back(std::move(why));
}

// Preparing ------------------------------------------------------------------

/// Returns null, after a warning, if counters are off.
device_counters const* reading_decision::counters_of(context_readings& context,
                                                     std::vector<metric_record>& metrics,
                                                     device_counters::intern const& names) {
  auto const found = devices_.find(context.device());
  if (found != devices_.end()) return &found->second;
  fork_guard const guard;
  auto const opened =
      open_counters(state_.api, counter_engine::ranges, static_cast<int>(raw(context.device())));
  if (!opened) return give_up(opened.message()), nullptr;
  auto planned = with_availability<device_counters>(
      state_.options.stored, state_.api, counter_engine::ranges, context.device(),
      [&] {
        // The image for sampling gives the same configurations, and CUPTI returns it without
        // blocking launches.
        bool busy = false;
        pause_of_call const stops(state_.options.pauses, context.device());
        return state_.api.first_missing_for_sampling() == nullptr
                   ? sampling_availability(state_.api, context.device(), busy)
                   : counter_availability(state_.api, context.handle());
      },
      [&](availability_image image) {
        return device_counters::plan(state_.api, context.device(), std::move(image),
                                     {state_.options.words, state_.options.every_launch},
                                     next_metric_, warnings_);
      },
      false);
  if (!planned) return give_up(planned.message()), nullptr;
  for (auto const& record : planned->records(context.device(), names)) metrics.push_back(record);
  return &devices_.emplace(context.device(), std::move(*planned)).first->second;
}

bool reading_decision::prepare(context_readings& context, std::vector<metric_record>& metrics,
                               device_counters::intern const& names) {
  if (context.is_prepared()) return true;
  auto const* const counters = counters_of(context, metrics, names);
  if (counters == nullptr) return false;
  auto const& prepared = counters->prepared();
  context.prepare(state_.api, prepared, state_.options.every_launch);
  auto const all = static_cast<launch_signature::groups>((std::uint64_t{1} << prepared.size()) - 1);
  state_.all_groups.store(all & ~left_out_);
  state_.rewriting.store(counters->rewriting() & ~left_out_);
  looked_ns_ = 0;  // what is missing is known from now on
  return true;
}

/// Stops reading groups that rewrite kernels: they would cost the program time and give nothing.
void reading_decision::leave_out(launch_signature::groups rewriting) {
  left_out_ |= rewriting;
  state_.rewriting.fetch_and(~rewriting);
  if ((state_.all_groups.fetch_and(~rewriting) & rewriting) == 0) return;
  warnings_.emplace_back(
      "operations of CUDA cores are not counted: CUPTI does not rewrite the kernels of this "
      "program. All other counters are read");
}

void reading_decision::evaluate_all(std::vector<counter_reading>& launches) {
  for (auto const& [device, batch] : std::exchange(batches_, {})) {
    auto const& counters = devices_.at(device);
    auto found = counters.evaluate(batch);
    if (!found.warning.empty()) warnings_.push_back(std::move(found.warning));
    auto const rewriting = counters.rewriting();
    for (auto const& one : found.readings)
      some_were_rewritten_ =
          some_were_rewritten_ || (rewriting >> one.launches.front().group & 1) != 0;
    count(state_.counts.not_rewritten, found.not_rewritten);
    if (!some_were_rewritten_ && state_.counts.not_rewritten.load() >= patience_with_rewriting)
      leave_out(rewriting);
    std::move(found.readings.begin(), found.readings.end(), std::back_inserter(launches));
  }
}

// Choosing what is read -----------------------------------------------------------

void reading_decision::look_for_targets() noexcept {
  auto const moment = monotonic_ns();
  if (state_.options.every_launch || moment - looked_ns_ < decide_every_ns) return;
  looked_ns_ = moment;
  try {
    share_readings(moment);
    // Before anything is prepared, all groups are missing.
    auto const groups = devices_.empty() ? launch_signature::groups{1} : groups_now(moment);
    reading_targets::what_can_be_read const readable{
        groups, max_kernel_ns, state_.budget.left(moment) / times_as_long_rewritten,
        [this](launch_signature const& signature) { return useless_to(signature); }};
    outlook_ = targets_.choose(state_.signatures.all(), readable, state_.budget.has_earned(moment),
                               moment);
  } catch (...) {  // no memory: keep the earlier targets
  }
  if (outlook_.wanted == 0) wanted_since_ns_ = 0;
  if (outlook_.wanted != 0 && wanted_since_ns_ == 0) wanted_since_ns_ = moment;
}

void reading_decision::make_room(bool may_replace) {
  if (state_.signatures.age(monotonic_ns(), may_replace, state_.all_groups.load())) looked_ns_ = 0;
  if (state_.signatures.all().is_full() && !std::exchange(signatures_are_said_, true))
    warnings_.emplace_back(
        "counters are not read around all launches: the program has launched more than 12,288 "
        "kinds "
        "of them within a minute. Further kinds are left out");
  if (state_.lacks_contexts.load(std::memory_order_relaxed) &&
      !std::exchange(contexts_are_said_, true))
    warnings_.emplace_back(
        "counters are not read around launches in all contexts: the program has more than 64");
}

/// Does nothing before the metric groups are known, because group numbers have no meaning then.
void reading_decision::share_readings(std::uint64_t now_ns) {
  if (!shared_ || devices_.empty()) return;
  shared_->set_up_for(devices_.begin()->second.setup());
  shared_->tell(not_told_yet());
  if (now_ns - heard_ns_ < hear_every_ns) return;
  heard_ns_ = now_ns;
  note_what_others_read(now_ns);
}

std::vector<shared_reading> reading_decision::not_told_yet() const {
  std::vector<shared_reading> fresh;
  for (std::size_t i = 0; i < state_.signatures.all().size(); ++i) {
    auto* const signature = state_.signatures.all().at(i);
    if (signature == nullptr || signature->is() != launch_signature::standing::allowed) continue;
    auto const groups = signature->done() & ~signature->recent.told;
    if (groups == 0 || signature->identity() == 0 || signature->mean_ns() == 0) continue;
    fresh.push_back({signature->identity(), groups, signature->mean_ns()});
    signature->recent.told |= groups;
  }
  return fresh;
}

/// Uses readings of ranks that still run, if the launch takes as long here as there. Reports use
/// the same rule.
void reading_decision::note_what_others_read(std::uint64_t now_ns) {
  std::multimap<std::uint64_t, shared_reading> heard;
  for (auto const& reading : shared_->hear(now_ns)) heard.emplace(reading.signature, reading);
  for (std::size_t i = 0; i < state_.signatures.all().size(); ++i) {
    auto* const signature = state_.signatures.all().at(i);
    if (signature == nullptr || signature->is() != launch_signature::standing::allowed) continue;
    launch_signature::groups groups = 0;
    auto const here = static_cast<double>(signature->mean_ns());
    for (auto [it, end] = heard.equal_range(signature->identity()); it != end; ++it) {
      auto const there = static_cast<double>(it->second.mean_ns);
      if (std::abs(here - there) <= as_long * there) groups |= it->second.groups;
    }
    signature->note_read_elsewhere(groups);
  }
}

/// Groups that sampling covers too are read only if the budget has room to set up another group.
launch_signature::groups reading_decision::groups_now(std::uint64_t now_ns) const noexcept {
  auto const rewriting = state_.rewriting.load();
  if (rewriting == 0 || state_.budget.allows(now_ns, price_of_refining_ns))
    return state_.all_groups.load();
  return rewriting;
}

launch_signature::groups reading_decision::useless_to(
    launch_signature const& signature) const noexcept {
  // CUPTI decides when a graph is made if its kernels are rewritten.
  if (signature.is_graph()) return state_.rewriting.load();
  if (!signature.code() || devices_.empty()) return 0;
  return devices_.begin()->second.useless_to(*signature.code());
}

/// A small unknown share, when all important launches are read, is not worth slowing the program
/// down.
bool reading_decision::is_worth_it() const noexcept {
  return outlook_.wanted != 0 && outlook_.unknown_share >= min_unknown_share;
}

}  // namespace gpuprof::guest
