#include "counters/counter_engines.hpp"

#include "base/clock.hpp"

#include <algorithm>
#include <utility>

namespace gpuprof {
namespace {

// A pass changes at most this often.
constexpr std::uint64_t launches_every_ns = 5'000'000;
// The hardware's buffer holds far more than comes in between.
constexpr std::uint64_t decode_every_ns = 2'000'000;
constexpr std::uint64_t look_every_ns = 20'000'000;

// While a GPU is sampled, kernels that draw all the power there is run 4 to 5 % slower on an H200,
// others do not; the interval makes no difference.
constexpr double price_of_sampling = 0.05;
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
      launches_(api, driver, wishes_.launches, budget_, next_metric_),
      sampler_(api, wishes_.sampling),
      turns_({.launches = wishes_.around_launches,
              .windows = wishes_.in_windows,
              .window_ns = window_ns(wishes_.sampling)}) {}

void counter_engines::resume() noexcept {
  budget_.begin(monotonic_ns());
  if (wishes_.around_launches) launches_.resume();
  on_.store(true, std::memory_order_release);
}

void counter_engines::pause() noexcept {
  on_.store(false, std::memory_order_release);
  launches_.pause();
  budget_.end(monotonic_ns());
}

counter_needs counter_engines::needs() noexcept {
  auto const moment = monotonic_ns();
  auto const used = devices_.all();
  auto const cost =
      static_cast<std::uint64_t>(price_of_sampling * static_cast<double>(turns_.window_ns()));
  return {.now_ns = moment,
          .launches_want = launches_.wants_turn(),
          .launches_affordable = budget_.allows(moment),
          .window_affordable =
              budget_.allows_sampling(moment, cost) && sampler_.can_sample(used, moment),
          .must_not_switch = launches_.must_not_switch()};
}

/// What has been counted around launches is taken, and the counters are free.
void counter_engines::park(counter_harvest& to, device_counters::intern const& names) {
  launches_.turn(true, to.metrics, to.launches, names);
}

void counter_engines::begin_window(counter_harvest& to, device_counters::intern const& names) {
  if (wishes_.around_launches) park(to, names);
  // Before the second look: whoever begins to destroy a context now waits.
  auto const held = holds_gpus_.exchange(true);
  if (launches_.must_not_switch()) {
    holds_gpus_.store(held);
    return turns_.refuse();
  }
  in_window_ = launches_.is_parked() &&
               sampler_.begin_window(devices_.all(), next_metric_, to.metrics, names);
  if (!in_window_) turns_.refuse();
}

void counter_engines::end_window(counter_harvest& to) {
  if (!std::exchange(in_window_, false)) return;
  auto const before = to.sampling.windows.size();
  sampler_.end_window(to.sampling);
  duration_ns longest{};
  for (auto i = before; i < to.sampling.windows.size(); ++i)
    longest = std::max(longest, to.sampling.windows[i].end - to.sampling.windows[i].start);
  budget_.spend_on_sampling(
      static_cast<std::uint64_t>(price_of_sampling * static_cast<double>(longest.value)));
}

void counter_engines::give_gpus_back(counter_harvest& to) {
  end_window(to);
  if (turns_.current() == counter_turn::window) turns_.refuse();
  sampler_.give_back();
  holds_gpus_.store(false);
}

std::uint64_t counter_engines::turn(bool closing, counter_harvest& to,
                                    device_counters::intern const& names) {
  if (let_go_.exchange(false, std::memory_order_acq_rel)) give_gpus_back(to);
  if (closing || !is_on()) {
    end_window(to);
    park(to, names);
    turns_.refuse();
    return is_on() ? look_every_ns : never;
  }
  if (wishes_.around_launches && launches_.has_given_up()) turns_.forbid_windows();
  auto const before = turns_.current();
  auto const now_has = turns_.next(needs());
  if (before != now_has) {
    end_window(to);
    if (now_has == counter_turn::nobody) park(to, names);
    if (now_has == counter_turn::window) begin_window(to, names);
  }
  switch (turns_.current()) {
    case counter_turn::launches:
      launches_.turn(false, to.metrics, to.launches, names);
      return launches_every_ns;
    case counter_turn::window:
      sampler_.collect(to.sampling);
      return decode_every_ns;
    case counter_turn::nobody:
      break;
  }
  return look_every_ns;
}

void counter_engines::give_back(counter_harvest& to) noexcept {
  try {
    give_gpus_back(to);
  } catch (...) {  // the last window is lost for want of memory
    sampler_.give_back();
    holds_gpus_.store(false);
  }
  turns_.refuse();
  launches_.end();
}

std::vector<std::string> counter_engines::take_complaints() {
  auto lines = launches_.take_complaints();
  auto more = sampler_.take_complaints();
  std::move(more.begin(), more.end(), std::back_inserter(lines));
  std::erase_if(lines, [this](std::string const& line) { return !said_.insert(line).second; });
  return lines;
}

}  // namespace gpuprof
