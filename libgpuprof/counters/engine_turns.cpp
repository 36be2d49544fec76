#include "counters/engine_turns.hpp"

namespace gpuprof {
namespace {

// Passes wait for launches that come again: a pause between two steps of a program is no end.
constexpr std::uint64_t quiet_ns = 200'000'000;
constexpr std::uint64_t longest_quiet_ns = 3'000'000'000;
// A program that launches nothing for so long does something else meanwhile.
constexpr std::uint64_t pause_ns = 100'000'000;
constexpr std::uint64_t longest_ns = 2'000'000'000;
// A thousand launches may have to run before each pass, since that many fit into a queue.
constexpr std::uint64_t longest_in_midst_ns = 15'000'000'000;
// A capture of a stream is over soon. One that was not heard to end does not keep the hardware on.
constexpr std::uint64_t most_ns_late = 1'000'000'000;

}  // namespace

counter_turn engine_turns::take(counter_turn turn, std::uint64_t now_ns) noexcept {
  if (turn != current_) since_ = now_ns;
  quiet_since_ = idle_since_ = 0;
  return current_ = turn;
}

bool engine_turns::launches_are_done(counter_needs const& needs) noexcept {
  if (needs.in_midst && needs.now_ns - since_ < longest_in_midst_ns) return false;
  if (needs.launches_want && needs.launches_affordable) {
    quiet_since_ = idle_since_ = 0;
    return needs.now_ns - since_ >= longest_ns;
  }
  if (quiet_since_ == 0) quiet_since_ = active_since_ = needs.now_ns;
  if (needs.now_ns - quiet_since_ >= longest_quiet_ns) return true;
  // While the program does something else nothing is wanted, and there is nothing to sample either.
  // To give the counters away in the midst of reading would cost a second setting up.
  if (!needs.launches_come) {
    if (idle_since_ == 0) idle_since_ = needs.now_ns;
    return false;
  }
  if (idle_since_ != 0 && needs.now_ns - idle_since_ > pause_ns) active_since_ = needs.now_ns;
  idle_since_ = 0;
  return needs.now_ns - active_since_ >= quiet_ns;
}

counter_turn engine_turns::after_window(counter_needs const& needs) noexcept {
  if (allowed_.launches && needs.launches_want && needs.launches_affordable)
    return counter_turn::launches;
  if (allowed_.windows && needs.window_affordable && !needs.must_not_switch)
    return counter_turn::between_windows;
  return counter_turn::nobody;
}

counter_turn engine_turns::next(counter_needs const& needs) noexcept {
  using enum counter_turn;
  if (allowed_.launches && !allowed_.windows) return take(launches, needs.now_ns);
  switch (current_) {
    case launches:
      if (needs.must_not_switch || !needs.window_affordable || !launches_are_done(needs))
        return current_;
      return take(window, needs.now_ns);
    case window: {
      auto const lasted = needs.now_ns - since_;
      auto const late = lasted >= allowed_.window_ns + most_ns_late;
      if (lasted < allowed_.window_ns || (needs.must_not_switch && !late)) return current_;
      return take(after_window(needs), needs.now_ns);
    }
    case between_windows: {
      auto const lasted = needs.now_ns - since_;
      if (needs.must_not_switch && lasted < most_ns_late) return current_;
      auto const turn = after_window(needs);
      if (turn != between_windows) return take(turn, needs.now_ns);
      return lasted < pause_between_windows_ns ? current_ : take(window, needs.now_ns);
    }
    case nobody:
      break;
  }
  if (needs.must_not_switch) return current_;
  auto const turn = after_window(needs);
  return take(turn == between_windows ? window : turn, needs.now_ns);
}

}  // namespace gpuprof
