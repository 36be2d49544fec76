#include "counters/launches/sampled_context.hpp"

#include "base/clock.hpp"
#include "base/log.hpp"

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>

namespace gpuprof {
namespace {

// An image of so many ranges of the roofline set takes some megabytes.
constexpr std::size_t most_ranges = 32;
// The first pass is over when for so many turns launches came, so many at least, and none that it
// had use for: each round over costs the program as much as a dozen readings.
constexpr std::uint32_t patience_in_launches = 8;
constexpr std::size_t patience_in_first_turns = 20;
// How many turns a later pass waits for a kind of launch that was there in the one before.
constexpr std::size_t patience_in_turns = 100;
// A switch waits so long for a launch.
constexpr std::uint64_t patience_for_launch_ns = 20'000'000;
constexpr std::uint64_t put_off_ns = 30'000'000'000;
constexpr std::uint64_t longest_drying_ns = 1'500'000'000;
constexpr std::uint64_t patience_at_end_ns = 200'000'000;
// Another group costs the program some 150 ms in all.
constexpr std::uint64_t between_changes_ns = 1'000'000'000;
constexpr unsigned most_attempts = 3;

std::atomic<std::uint32_t> last_reading{0};

}  // namespace

bool sampled_context::wants(launch_signature const& signature) const noexcept {
  auto const current = group();
  if (current < 0) return false;
  if (every_launch_) return true;
  if ((signature.done() >> current & 1) != 0) return false;
  auto const number = pass_number_.load(std::memory_order_relaxed);
  if (number % 64 != 0) return signature.read_in() == number - 1;
  return signature.read_in() != number;
}

bool sampled_context::has_room() const noexcept {
  return pass() != 0 || readings_.size() < most_ranges;
}

bool sampled_context::open_range(launch_signature& signature) noexcept {
  auto const first = pass() == 0;
  // A reading of which one pass failed is over.
  if (!first && (signature.range() >= readings_.size() ||
                 readings_[signature.range()].signature != &signature))
    return false;
  opened_range_ = first ? readings_.size() : signature.range();
  char name[24];
  std::snprintf(name, sizeof name, "%zu", opened_range_);
  opened_ = now();
  return profiler_->push(name);
}

bool sampled_context::close_range(launch_signature* signature,
                                  correlation_id correlation) noexcept {
  auto const kept = profiler_->pop() && signature != nullptr;
  open_ns_ += now().value - opened_.value;
  try {
    // A range that is not kept has its place all the same: names count ranges.
    if (pass() == 0) readings_.emplace_back();
    auto& reading = readings_[opened_range_];
    if (!kept) {
      reading.signature = nullptr;
      return false;
    }
    reading.signature = signature;
    reading.launches.push_back(
        {correlation, device_, id_, static_cast<std::uint16_t>(group()), opened_, now(), 0});
  } catch (...) {
    return false;
  }
  signature->is_range(static_cast<std::uint16_t>(opened_range_));
  signature->note_read(pass_number_.load(std::memory_order_relaxed));
  ++ranges_in_pass_;
  return true;
}

void sampled_context::prepare(cupti_api const& api, std::vector<prepared_group> const& groups) {
  api_ = &api;
  groups_ = &groups;
  readings_.reserve(most_ranges);
  prepared_.store(true, std::memory_order_release);
}

bool sampled_context::has_other_groups() const noexcept {
  auto const mine = launch_signature::groups{1} << static_cast<unsigned>(group());
  return (wanted_.load(std::memory_order_relaxed) & ~mine) != 0;
}

bool sampled_context::pass_is_over() const noexcept {
  if (pass() != 0) {
    return ranges_in_pass_ >= ranges_in_last_pass_ || quiet_turns_ > patience_in_turns;
  }
  if (readings_.size() >= most_ranges) return true;
  auto const quiet = quiet_turns_ >= patience_in_first_turns &&
                     declined_.load(std::memory_order_relaxed) >= patience_in_launches;
  return quiet && (!readings_.empty() || has_other_groups());
}

bool sampled_context::claim_for_turn(bool closing) {
  auto const deadline = monotonic_ns() + (closing ? patience_at_end_ns : 0);
  while (!claim()) {
    if (monotonic_ns() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

/// False: not now. The time is the GPU's, which works off what was queued.
bool sampled_context::wait_for_a_launch() noexcept {
  if (every_launch_) return true;  // it waits already
  auto const begun = monotonic_ns();
  stream_.store(stream_state::unknown, std::memory_order_relaxed);
  awaits_launch_.store(true, std::memory_order_release);
  auto found = stream_state::unknown;
  for (;;) {
    found = stream_.load(std::memory_order_acquire);
    if (is_interrupted_()) {
      awaits_launch_.store(false, std::memory_order_release);
      return false;
    }
    auto const patience =
        found == stream_state::waited_for ? longest_drying_ns : patience_for_launch_ns;
    if (found == stream_state::dry || found == stream_state::busy) break;
    if (monotonic_ns() - begun > patience) break;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  if (found != stream_state::busy) return true;
  awaits_launch_.store(false, std::memory_order_release);
  put_off_until_ = monotonic_ns() + put_off_ns;
  return false;
}

result<void> sampled_context::turn_claimed(turn_by who, bool may_start,
                                           std::vector<batch>& finished,
                                           std::uint64_t& switching_since) {
  if (!is_prepared()) return {};  // it has ended meanwhile
  auto const closing = who == turn_by::closing;
  if (who == turn_by::worker && monotonic_ns() < put_off_until_) return {};
  if (group() < 0) {
    if (closing || !may_start || wanted_.load(std::memory_order_relaxed) == 0) return {};
    if (who == turn_by::worker && !wait_for_a_launch()) return {};
    context_change const change(*this);
    switching_since = monotonic_ns();
    return start(next_group(true));
  }
  auto const may_change = may_start && monotonic_ns() - last_change_ > between_changes_ns;
  // While the program launches nothing at all, nothing has come to an end.
  auto const some_came = std::exchange(launches_at_turn_, launches()) != launches();
  quiet_turns_ = ranges_in_pass_ == ranges_at_turn_ ? quiet_turns_ + some_came : 0;
  auto const over = pass_is_over() && (!readings_.empty() || may_change);
  ranges_at_turn_ = ranges_in_pass_;
  if (!closing && !over) return {};
  if (who == turn_by::worker && !wait_for_a_launch()) return {};
  context_change const change(*this);
  switching_since = monotonic_ns();
  return next_pass(closing, may_change, finished);
}

result<void> sampled_context::next_pass(bool closing, bool may_change_group,
                                        std::vector<batch>& finished) {
  auto const before = monotonic_ns();
  log_debug("counters: pass " + std::to_string(pass() + 1) + " had " +
            std::to_string(ranges_in_pass_) + " launches, open for " +
            std::to_string(std::exchange(open_ns_, 0) / 1000) + " us");
  auto all = profiler_->stop();
  if (!all) return error{all.message()};
  if (!*all && !closing && !readings_.empty()) {
    if (auto ok = start_next_pass(); !ok) return ok;
    number_pass(pass_number_.load(std::memory_order_relaxed) + 1);
    log_debug("counters: next pass in " + std::to_string((monotonic_ns() - before) / 1000) + " us");
    return {};
  }
  // What has been read is not lost because the rest of the passes finds nothing.
  while (!*all && !readings_.empty()) {
    if (auto ok = start_next_pass(); !ok) return ok;
    all = profiler_->stop();
    if (!all) return error{all.message()};
  }
  if (auto ok = finish(finished); !ok) return ok;
  // Starting takes 20 ms: not before a launch has said what for.
  auto const is_wanted = wanted_.load(std::memory_order_relaxed) != 0;
  return closing || (!is_wanted && !every_launch_) ? result<void>{}
                                                   : start(next_group(may_change_group));
}

result<void> sampled_context::start_next_pass() {
  auto ok = profiler_->configure_next_pass();
  return ok ? profiler_->start() : ok;
}

/// Readings end here: whole ones are done, others may be tried again.
result<void> sampled_context::finish(std::vector<batch>& finished) {
  auto const group = static_cast<unsigned>(group_.exchange(-1, std::memory_order_acq_rel));
  auto readings = std::exchange(readings_, {});
  readings_.reserve(most_ranges);
  if (readings.empty()) return {};
  auto counted = profiler_->decode();
  if (!counted) return error{counted.message()};
  batch done{group, std::move(*counted), {}};
  for (auto& reading : readings) {
    if (reading.signature == nullptr) reading.launches.clear();
    auto const number = last_reading.fetch_add(1, std::memory_order_relaxed) + 1;
    for (auto& launch : reading.launches) launch.reading = number;
    auto const whole = reading.launches.size() == setup_.configuration.passes;
    if (reading.signature != nullptr &&
        (whole || reading.signature->count_attempt() >= most_attempts))
      reading.signature->mark_done(group);
    done.readings.push_back(std::move(reading.launches));
  }
  finished.push_back(std::move(done));
  return {};
}

/// The next wanted one after the last, round and round.
unsigned sampled_context::next_group(bool may_change) noexcept {
  auto const wanted = wanted_.exchange(0, std::memory_order_relaxed);
  auto const count = static_cast<unsigned>(groups_->size());
  // The one that is set up as long as it is wanted: changing costs.
  auto const finds_work =
      setup_group_ >= 0 && (wanted >> setup_group_ & 1) != 0 && ranges_in_last_pass_ != 0;
  if (setup_group_ >= 0 && (finds_work || !may_change)) return static_cast<unsigned>(setup_group_);
  for (unsigned i = 1; i <= count; ++i) {
    auto const group = static_cast<unsigned>(setup_group_ + static_cast<int>(i)) % count;
    if ((wanted >> group & 1) != 0) return group;
  }
  return static_cast<unsigned>(setup_group_ < 0 ? 0 : setup_group_);
}

// A range profiler keeps the configuration of its first start, whatever it is given later: each
// group gets one of its own.
result<void> sampled_context::start(unsigned group) {
  auto const& wanted = (*groups_)[group];
  auto const before = monotonic_ns();
  if (profiler_ == nullptr || setup_group_ != static_cast<int>(group)) {
    profiler_.reset();
    auto opened = range_profiler::open(*api_, context_);
    if (!opened) return error{opened.message()};
    auto setup = (*opened)->make_setup(wanted.configuration, wanted.metrics, most_ranges);
    if (!setup) return error{setup.message()};
    setup_ = std::move(*setup);
    profiler_ = std::move(*opened);
    holds_counters_.store(true, std::memory_order_release);
    if (setup_group_ >= 0) last_change_ = monotonic_ns();
    setup_group_ = static_cast<int>(group);
  }
  if (auto ok = profiler_->configure(setup_); !ok) return ok;
  auto const configured = monotonic_ns();
  if (auto ok = profiler_->start(); !ok) return ok;
  log_debug("counters: group " + std::to_string(group + 1) + " of " +
            std::to_string(groups_->size()) + " (" + std::to_string(wanted.metrics.size()) +
            " metrics, " + std::to_string(wanted.configuration.passes) + " passes) on in " +
            std::to_string((monotonic_ns() - before) / 1000) + " us, of these start " +
            std::to_string((monotonic_ns() - configured) / 1000));
  static std::atomic<std::uint32_t> last_cycle{0};
  number_pass((last_cycle.fetch_add(1, std::memory_order_relaxed) + 1) * 64);
  patches_.store(wanted.patches_kernels, std::memory_order_release);
  group_.store(static_cast<int>(group), std::memory_order_release);
  return {};
}

void sampled_context::number_pass(std::uint32_t number) noexcept {
  pass_number_.store(number, std::memory_order_relaxed);
  ranges_in_last_pass_ = std::exchange(ranges_in_pass_, 0);
  ranges_at_turn_ = quiet_turns_ = 0;
  declined_.store(0, std::memory_order_relaxed);
}

void sampled_context::end(std::vector<batch>& finished, bool for_good) noexcept {
  if (for_good) ended_.store(true, std::memory_order_release);
  prepared_.store(false, std::memory_order_release);
  context_change const change(*this);
  try {
    if (profiler_ != nullptr && group() >= 0) {
      auto const taken = next_pass(true, false, finished);
      (void)taken;  // the context is going: what cannot be had now is lost
    }
  } catch (...) {
  }
  group_.store(-1, std::memory_order_release);
  let_go();
}

void sampled_context::let_go() noexcept {
  if (profiler_ == nullptr || group() >= 0) return;
  context_change const change(*this);
  auto const before = monotonic_ns();
  profiler_.reset();
  log_debug("counters: given back in " + std::to_string((monotonic_ns() - before) / 1000) + " us");
  setup_group_ = -1;
  holds_counters_.store(false, std::memory_order_release);
}

}  // namespace gpuprof
