// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/engine_turns.hpp"

namespace gpuprof::guest {
namespace {

constexpr std::uint64_t quiet_ns = 200'000'000;
constexpr std::uint64_t max_turn_ns = 2'000'000'000;
// Later passes must wait until the same launches recur.
constexpr std::uint64_t max_turn_in_midst_ns = 5'000'000'000;
// A stream capture usually ends soon. If its end was not seen, it must not keep the engine on
// forever.
constexpr std::uint64_t max_late_ns = 1'000'000'000;

bool may_read(counter_needs const& needs) noexcept {
  return needs.launches_want && needs.launches_affordable;
}

}  // namespace

counter_turn engine_turns::take(counter_turn turn, std::uint64_t now_ns) noexcept {
  if (turn != current_) {
    if (holds_sampling() && now_ns > since_) sampled_ns_ += now_ns - since_;
    since_ = now_ns;
  }
  quiet_since_ = 0;
  current_ = turn;
  if (!holds_sampling()) in_burst_ = 0;
  return turn;
}

bool engine_turns::launches_are_done(counter_needs const& needs) noexcept {
  auto const lasted = needs.now_ns - since_;
  if (needs.in_midst && lasted < max_turn_in_midst_ns) return false;
  if (!needs.is_our_turn) return true;
  if (may_read(needs)) {
    quiet_since_ = 0;
    return lasted >= max_turn_ns;
  }
  if (quiet_since_ == 0) quiet_since_ = needs.now_ns;
  return needs.now_ns - quiet_since_ >= quiet_ns;
}

counter_turn engine_turns::after_window(counter_needs const& needs) const noexcept {
  auto const may_sample = allowed_.windows && needs.window_affordable && !needs.must_not_switch;
  auto const launches_now = allowed_.launches_first && allowed_.launches && may_read(needs);
  if (may_sample && !launches_now && !is_sampled_enough(needs))
    return counter_turn::between_windows;
  if (allowed_.launches && may_read(needs)) return counter_turn::launches;
  return may_sample ? counter_turn::between_windows : counter_turn::nobody;
}

/// Waits, because setting up sampling only to release it for launches would take most of a short
/// run.
bool engine_turns::waits_for_launches(counter_needs const& needs) noexcept {
  if (!allowed_.launches_first || !allowed_.launches) return false;
  if (first_chance_ns_ == 0 && needs.window_affordable) first_chance_ns_ = needs.now_ns;
  return !may_read(needs) && needs.now_ns < first_chance_ns_ + max_wait_to_recur_ns;
}

counter_turn engine_turns::next(counter_needs const& needs) noexcept {
  using enum counter_turn;
  few_ = needs.windows_are_few;
  if (allowed_.launches && !allowed_.windows) return take(launches, needs.now_ns);
  auto const lasted = needs.now_ns - since_;
  switch (current_) {
    case launches:
      if (needs.must_not_switch || !launches_are_done(needs)) return current_;
      if (needs.window_affordable && may_begin_burst(needs)) return take(window, needs.now_ns);
      return may_read(needs) || needs.is_costly_to_stop ? current_ : take(nobody, needs.now_ns);
    case window: {
      auto const late = lasted >= allowed_.window_ns + max_late_ns;
      if (lasted < allowed_.window_ns || (needs.must_not_switch && !late)) return current_;
      return take(after_window(needs), needs.now_ns);
    }
    case between_windows: {
      if (needs.must_not_switch && lasted < max_late_ns) return current_;
      auto const turn = after_window(needs);
      if (turn != between_windows) return take(turn, needs.now_ns);
      if (pause_left_ns(needs.now_ns) > 0 || !needs.is_prepared) return current_;
      ++windows_;
      ++in_burst_;
      return take(window, needs.now_ns);
    }
    case nobody:
      break;
  }
  if (needs.must_not_switch || waits_for_launches(needs)) return current_;
  auto const turn = after_window(needs);
  if (turn != between_windows) return take(turn, needs.now_ns);
  return may_begin_burst(needs) ? take(window, needs.now_ns) : current_;
}

}  // namespace gpuprof::guest
