#include "counters/counter_engines.hpp"

#include "base/clock.hpp"
#include "base/process.hpp"

#include <algorithm>
#include <utility>

namespace gpuprof {
namespace {

// A pass changes at most this often.
constexpr std::uint64_t launches_every_ns = 5'000'000;
// The hardware's buffer holds far more than comes in between.
constexpr std::uint64_t decode_every_ns = 2'000'000;
constexpr std::uint64_t look_every_ns = engine_turns::pause_between_windows_ns;
constexpr std::uint64_t longest_put_off_ns = 1'000'000'000;

// To have the counters for launches again: their threads stand still for half of it on an H200.
constexpr std::uint64_t price_of_launches_ns = 250'000'000;

// So many intervals fit well into the hardware's buffer, and are decoded in a tenth of a second.
constexpr std::uint64_t most_intervals = 4000;
constexpr std::uint64_t longest_window_ns = 50'000'000;

std::uint64_t window_ns(sampling_wishes const& wishes) {
  return std::min(longest_window_ns, most_intervals * wishes.interval_ns);
}

}  // namespace

counter_engines::counter_engines(cupti_api const& api, cuda_driver const& driver,
                                 counter_wishes wishes)
    : wishes_(std::move(wishes)),
      budget_(wishes_.budget_percent),
      devices_(api),
      launches_(api, driver, wishes_.launches, budget_, next_metric_, halted_),
      sampler_(api, wishes_.sampling, halted_),
      turns_({.launches = wishes_.around_launches,
              .windows = wishes_.in_windows,
              .window_ns = window_ns(wishes_.sampling)}) {}

void counter_engines::resume() noexcept {
  if (halted_.load()) return;
  at_rest_.store(false, std::memory_order_release);
  budget_.begin(monotonic_ns());
  if (wishes_.around_launches) launches_.resume();
  on_.store(true, std::memory_order_release);
}

void counter_engines::pause() noexcept {
  on_.store(false, std::memory_order_release);
  launches_.pause();
  budget_.end(monotonic_ns());
}

void counter_engines::abandon() noexcept {
  halted_.store(true);
  pause();
  holds_gpus_.store(false);
}

counter_needs counter_engines::needs() noexcept {
  auto const moment = monotonic_ns();
  auto const used = devices_.all();
  auto const window_and_pause = turns_.window_ns() + engine_turns::pause_between_windows_ns;
  auto const cost = turns_.holds_sampling() ? sampling_budget::price_of_window_ns(window_and_pause)
                                            : sampling_budget::price_of_burst_ns(window_and_pause);
  auto const come = launches_.launches();
  auto const price = launches_.holds_counters() ? 0 : price_of_launches_ns;
  return {.now_ns = moment,
          .launches_want = launches_.wants_turn(),
          .launches_come = std::exchange(launches_before_, come) != come,
          .launches_affordable = budget_.allows(moment, price),
          .in_midst = launches_.is_in_midst(),
          .window_affordable =
              budget_.allows_sampling(moment, cost) && sampler_.can_sample(used, moment),
          .must_not_switch = launches_.must_not_switch()};
}

/// What has been counted around launches is taken, and the counters are free.
void counter_engines::park(turn_kind how, counter_harvest& to,
                           device_counters::intern const& names) {
  launches_.turn(how, to.metrics, to.launches, names);
}

void counter_engines::begin_window(counter_harvest& to, device_counters::intern const& names) {
  if (wishes_.around_launches) {
    park(turn_kind::closing, to, names);
    launches_.let_go();
  }
  // Before the second look: whoever begins to destroy a context now waits.
  auto const held = holds_gpus_.exchange(true);
  if (launches_.must_not_switch()) {
    holds_gpus_.store(held);
    return held ? turns_.put_off(monotonic_ns()) : turns_.refuse();
  }
  in_window_ = launches_.is_parked() && !launches_.holds_counters() &&
               sampler_.begin_window(devices_.all(), next_metric_, to.metrics, names);
  if (!in_window_) turns_.refuse();
}

void counter_engines::end_window(counter_harvest& to) {
  if (std::exchange(in_window_, false)) sampler_.end_window(to.sampling);
}

/// It costs the program as long as it is held, in windows or not.
void counter_engines::charge_sampling() noexcept {
  auto const since = sampler_.held_since();
  if (since == 0) return;
  auto const moment = monotonic_ns();
  budget_.spend_on_sampling(sampling_budget::price_ns(moment - std::max(since, charged_until_)));
  charged_until_ = moment;
}

/// How sampling is to be done stays known.
void counter_engines::let_go_of_sampling(counter_harvest& to) {
  end_window(to);
  charge_sampling();
  if (!holds_gpus_.load()) return;
  auto const before = monotonic_ns();
  sampler_.let_go();
  budget_.spend_on_sampling(sampling_budget::price_ns(monotonic_ns() - before));
  holds_gpus_.store(false);
}

void counter_engines::give_gpus_back(counter_harvest& to) {
  end_window(to);
  charge_sampling();
  if (turns_.holds_sampling()) turns_.refuse();
  sampler_.give_back();
  holds_gpus_.store(false);
}

/// After a capture. What would break the capture of a stream is put off, for a while.
std::uint64_t counter_engines::come_to_rest(counter_harvest& to,
                                            device_counters::intern const& names) {
  auto const moment = monotonic_ns();
  if (rest_wanted_since_ == 0) rest_wanted_since_ = moment;
  auto const is_late = process_is_exiting() || moment - rest_wanted_since_ > longest_put_off_ns;
  if (launches_.must_not_switch() && !is_late) return look_every_ns;
  end_window(to);
  park(is_late ? turn_kind::closing_anyhow : turn_kind::closing, to, names);
  turns_.refuse();
  let_go_of_sampling(to);
  // A launch that is being read has the counters still.
  if (!launches_.is_parked()) return look_every_ns;
  rest_wanted_since_ = 0;
  if (is_on()) return look_every_ns;
  at_rest_.store(true, std::memory_order_release);
  return never;
}

std::uint64_t counter_engines::turn(bool closing, counter_harvest& to,
                                    device_counters::intern const& names) {
  if (halted_.load()) return never;
  if (let_go_.exchange(false, std::memory_order_acq_rel)) give_gpus_back(to);
  if (closing || !is_on() || process_is_exiting()) return come_to_rest(to, names);
  rest_wanted_since_ = 0;
  if (wishes_.around_launches && launches_.has_given_up()) turns_.forbid_windows();
  charge_sampling();
  auto const before = turns_.current();
  auto const now_has = turns_.next(needs());
  if (before != now_has) {
    end_window(to);
    if (now_has == counter_turn::nobody) park(turn_kind::closing, to, names);
    if (now_has == counter_turn::window) begin_window(to, names);
  }
  if (!turns_.holds_sampling()) let_go_of_sampling(to);
  switch (turns_.current()) {
    case counter_turn::launches:
      launches_.turn(turn_kind::usual, to.metrics, to.launches, names);
      return launches_every_ns;
    case counter_turn::window:
      sampler_.collect(to.sampling);
      return decode_every_ns;
    case counter_turn::between_windows:
    case counter_turn::nobody:
      break;
  }
  return look_every_ns;
}

void counter_engines::give_back(counter_harvest& to) noexcept {
  if (halted_.load()) return;
  try {
    give_gpus_back(to);
  } catch (...) {  // the last window is lost for want of memory
    sampler_.give_back();
    holds_gpus_.store(false);
  }
  turns_.refuse();
  launches_.end();
}

std::vector<std::string> counter_engines::take_complaints(bool all) {
  auto lines = launches_.take_complaints();
  auto more = sampler_.take_complaints();
  std::move(more.begin(), more.end(), std::back_inserter(lines));
  if (halted_.load()) return {};  // what failed then was to be expected
  std::erase_if(lines, [this](std::string const& line) { return !said_.insert(line).second; });
  auto due = std::exchange(held_back_, {});
  auto& later = all ? due : held_back_;
  std::move(lines.begin(), lines.end(), std::back_inserter(later));
  return due;
}

}  // namespace gpuprof
