// What launch_sampler does on the worker's thread: contexts prepared, passes turned, counters
// evaluated.
#include "base/clock.hpp"
#include "base/process.hpp"
#include "counters/counter_access.hpp"
#include "counters/launches/launch_sampler.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <thread>
#include <utility>

namespace gpuprof {
namespace {

constexpr std::uint64_t patience_with_rewriting = 4;  // readings

/// That of sampling makes the same configurations, and asking for it does not keep the program from
/// launching; for the other that takes 0.55 s on an H200.
result<std::vector<std::uint8_t>> availability_for_ranges(cupti_api const& api,
                                                          sampled_context& context,
                                                          sampling_budget& budget) {
  bool busy = false;
  if (api.first_missing_for_sampling() == nullptr) {
    auto found = sampling_availability(api, context.device(), busy);
    if (found) return found;
  }
  auto const before = monotonic_ns();
  context_change const change(context);
  auto found = counter_availability(api, context.handle());
  budget.spend(monotonic_ns() - before);
  return found;
}

}  // namespace

void launch_sampler::give_up(std::string why) {
  on_.store(false, std::memory_order_release);
  if (!given_up_.exchange(true)) complaints_.push_back(std::move(why));
}

std::vector<std::string> launch_sampler::take_complaints() {
  return std::exchange(complaints_, {});
}

/// Null after a line: counters are off then.
device_counters const* launch_sampler::counters_of(sampled_context& context,
                                                   std::vector<metric_record>& metrics,
                                                   device_counters::intern const& names) {
  auto const opened =
      open_counters(api_, counter_engine::ranges, static_cast<int>(raw(context.device())));
  auto const found = devices_.find(context.device());
  auto availability = opened && found == devices_.end()
                          ? availability_for_ranges(api_, context, budget_)
                          : result<std::vector<std::uint8_t>>(std::vector<std::uint8_t>());
  if (!opened) return give_up(opened.message()), nullptr;
  if (found != devices_.end()) return &found->second;
  if (!availability) return give_up(availability.message()), nullptr;
  auto planned =
      device_counters::plan(api_, context.device(), std::move(*availability),
                            {wishes_.words, wishes_.every_launch}, next_metric_, complaints_);
  if (!planned) return give_up(planned.message()), nullptr;
  for (auto const& record : planned->records(context.device(), names)) metrics.push_back(record);
  return &devices_.emplace(context.device(), std::move(*planned)).first->second;
}

void launch_sampler::prepare(sampled_context& context, std::vector<metric_record>& metrics,
                             device_counters::intern const& names) {
  auto const* const counters = counters_of(context, metrics, names);
  if (counters == nullptr) return;
  auto const& prepared = counters->prepared();
  context.prepare(api_, prepared, std::bind_front(&device_counters::look, counters));
  auto const all =
      static_cast<launch_signature::groups>((std::uint64_t{1} << prepared.groups.size()) - 1);
  all_groups_.store(all & ~left_out_);
  patching_.store(counters->patching() & ~left_out_);
}

/// They would cost the program time for nothing.
void launch_sampler::leave_out(launch_signature::groups patching) {
  left_out_ |= patching;
  if ((all_groups_.fetch_and(~patching) & patching) == 0) return;
  patching_.fetch_and(~patching);
  for (auto& entry : contexts_) {
    auto* const context = entry.load(std::memory_order_acquire);
    if (context == nullptr) break;
    context->forget(patching);
  }
  complaints_.push_back(
      "operations of CUDA cores are not counted: CUPTI does not rewrite the kernels of this "
      "program. All other counters are read");
}

void launch_sampler::evaluate(sampled_context& context, sampled_context::batch const& batch,
                              std::vector<launch_counters>& launches) {
  auto const& counters = devices_.at(context.device());
  auto found = counters.evaluate(batch);
  if (!found.complaint.empty()) complaints_.push_back(std::move(found.complaint));
  if (found.out_of_order) context.read_apart();
  if (found.out_of_order)
    for (auto const& reading : batch.readings) reading.read_again();
  auto const patching = counters.patching();
  for (auto const& reading : found.readings)
    some_were_rewritten_ =
        some_were_rewritten_ || (patching >> reading.launches.front().group & 1) != 0;
  counts_.not_rewritten.fetch_add(found.not_rewritten, std::memory_order_relaxed);
  if (!some_were_rewritten_ && counts_.not_rewritten.load() >= patience_with_rewriting)
    leave_out(patching);
  std::move(found.readings.begin(), found.readings.end(), std::back_inserter(launches));
}

bool launch_sampler::wants_turn() noexcept {
  auto const sampled = counts_.sampled.load(std::memory_order_relaxed);
  if (std::exchange(sampled_before_, sampled) != sampled) return true;
  for (auto const& entry : contexts_) {
    auto const* const context = entry.load(std::memory_order_acquire);
    if (context == nullptr) break;
    if (context->wants_turn()) return true;
  }
  return false;
}

bool launch_sampler::is_in_midst() const noexcept {
  return std::any_of(contexts_.begin(), contexts_.end(), [](auto const& entry) {
    auto const* const context = entry.load(std::memory_order_acquire);
    return context != nullptr && context->is_in_midst();
  });
}

bool launch_sampler::holds_counters() const noexcept {
  return std::any_of(contexts_.begin(), contexts_.end(), [](auto const& entry) {
    auto const* const context = entry.load(std::memory_order_acquire);
    return context != nullptr && context->holds_counters();
  });
}

bool launch_sampler::is_parked() const noexcept {
  for (auto const& entry : contexts_) {
    auto const* const context = entry.load(std::memory_order_acquire);
    if (context == nullptr) break;
    if (context->group() >= 0 || context->is_changing() || context->is_stuck()) return false;
  }
  return true;
}

void launch_sampler::turn(sampled_context& context, turn_kind how,
                          std::vector<metric_record>& metrics,
                          std::vector<launch_counters>& launches,
                          device_counters::intern const& names) {
  auto const is_closing = how != turn_kind::usual;
  if (!context.claim_for_turn(is_closing)) return;
  struct at_end {
    sampled_context& context;
    ~at_end() { context.release(); }
  } const released{context};
  // After the claim: a capture that begins now waits for it.
  if (safety_.is_capturing() && how != turn_kind::closing_anyhow) return;
  auto const may_prepare = !is_closing && !context.has_ended() && !given_up_.load() &&
                           !must_not_switch() && !process_is_exiting();
  if (!context.is_prepared() && may_prepare) prepare(context, metrics, names);
  std::vector<sampled_context::batch> finished;
  auto const before = monotonic_ns();
  using enum sampled_context::turn_by;
  auto since = before;
  auto const turned = context.turn_claimed(how == turn_kind::usual ? worker : closing,
                                           budget_.allows(before), finished, since);
  // Most turns look and go; those that switch take milliseconds.
  budget_.spend(monotonic_ns() - since);
  if (!turned) give_up("counters are off from here on: " + turned.message());
  for (auto const& batch : finished) evaluate(context, batch, launches);
}

void launch_sampler::turn(turn_kind how, std::vector<metric_record>& metrics,
                          std::vector<launch_counters>& launches,
                          device_counters::intern const& names) {
  for (auto& entry : contexts_) {
    if (halted_.load() || (how == turn_kind::usual && !on_.load(std::memory_order_acquire))) break;
    auto* const context = entry.load(std::memory_order_acquire);
    if (context == nullptr) break;
    turn(*context, how, metrics, launches, names);
  }
  while (ended_claim_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  auto ended = std::exchange(ended_, {});
  auto const failure = std::exchange(failure_, {});
  ended_claim_.clear(std::memory_order_release);
  for (auto const& [context, batch] : ended) evaluate(*context, batch, launches);
  if (!failure.empty()) give_up("counters are off from here on: " + failure);
  if (auto const* const why = stopped_because_.exchange(nullptr, std::memory_order_acq_rel))
    complaints_.push_back(std::string("counters are off from here on: ") + why +
                          ". The program is not affected");
}

}  // namespace gpuprof
