#include "counters/launches/sampled_context.hpp"

#include "base/clock.hpp"
#include "base/log.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>

namespace gpuprof {
namespace {

// An image of so many ranges of the roofline set takes some megabytes.
constexpr std::size_t most_ranges = 32;
// The first pass of a group is over when for so many turns launches came, and none that it had use
// for: each round over costs the program as much as a dozen readings.
constexpr std::size_t patience_in_first_turns = 20;
// How many turns a later pass waits for a kind of launch that was there in the one before.
constexpr std::size_t patience_in_turns = 100;
// A switch waits so long for a launch.
constexpr std::uint64_t patience_for_launch_ns = 20'000'000;
constexpr std::uint64_t put_off_ns = 30'000'000'000;
constexpr std::uint64_t longest_drying_ns = 1'500'000'000;
constexpr std::uint64_t patience_at_end_ns = 200'000'000;
// Another configuration costs the program some 150 ms in all.
constexpr std::uint64_t between_changes_ns = 1'000'000'000;
constexpr unsigned most_attempts = 3;

std::atomic<std::uint32_t> last_reading{0};

launch_signature::groups bit(unsigned group) noexcept {
  return launch_signature::groups{1} << group;
}

}  // namespace

bool sampled_context::wants(launch_signature const& signature) const noexcept {
  auto const current = group();
  if (current < 0) return false;
  if (every_launch_) return true;
  if ((signature.done() >> current & 1) != 0) return false;
  auto const number = pass_number_.load(std::memory_order_relaxed);
  if (!begins_group()) return signature.read_in() == number - 1;
  return signature.read_in() != number;
}

/// Its kind was read in this cycle, by this group or one before it.
bool sampled_context::has_range(launch_signature const& signature) const noexcept {
  return !every_launch_ && is_reading(signature) && signature.range() < readings_.size() &&
         readings_[signature.range()].signature == &signature;
}

bool sampled_context::has_room(launch_signature const& signature) const noexcept {
  return !begins_group() || has_range(signature) || readings_.size() < most_ranges;
}

bool sampled_context::open_range(launch_signature& signature) noexcept {
  auto const known = has_range(signature);
  if (!known && !begins_group()) return false;
  opened_range_ = known ? signature.range() : readings_.size();
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
    if (opened_range_ == readings_.size()) readings_.emplace_back();
    auto& reading = readings_[opened_range_];
    reading.opened |= bit(static_cast<unsigned>(group()));
    if (!kept) {
      drop_from_group(reading);
      return false;
    }
    reading.signature = signature;
    has_read_.store(true, std::memory_order_relaxed);
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

/// A reading of which one pass failed is over. What other groups have read of it stays.
void sampled_context::drop_from_group(reading_so_far& reading) noexcept {
  if (reading.signature == nullptr) return;
  std::erase_if(reading.launches,
                [this](sampled_launch_record const& launch) { return launch.group == group(); });
  reading.signature->note_read(0);
  if (!begins_group() && expected_ > 0) --expected_;
}

void sampled_context::prepare(cupti_api const& api, prepared_counters const& counters,
                              look_function look) {
  api_ = &api;
  counters_ = &counters;
  look_ = std::move(look);
  readings_.reserve(most_ranges);
  prepared_.store(true, std::memory_order_release);
}

bool sampled_context::has_other_groups() const noexcept {
  auto const mine = bit(static_cast<unsigned>(group()));
  return (wanted_.load(std::memory_order_relaxed) & ~mine) != 0;
}

/// Some of them.
bool sampled_context::is_wanted(std::span<unsigned const> groups) const noexcept {
  auto const wanted = wanted_.load(std::memory_order_relaxed);
  return std::any_of(groups.begin(), groups.end(),
                     [wanted](unsigned group) { return (wanted & bit(group)) != 0; });
}

std::span<unsigned const> sampled_context::later_groups() const noexcept {
  return std::span(configuration_->groups).subspan(place_ + 1);
}

bool sampled_context::pass_is_over() const noexcept {
  if (!begins_group()) return ranges_in_pass_ >= expected_ || quiet_turns_ > patience_in_turns;
  // Kinds that have a range may still come to a later group.
  if ((pass() == 0 ? readings_.size() : ranges_in_pass_) >= most_ranges) return true;
  return quiet_turns_ >= patience_in_first_turns && (!readings_.empty() || has_other_groups());
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
  auto const may_change = may_start && monotonic_ns() - last_change_ > between_changes_ns;
  if (group() < 0) {
    if (closing || !may_start || wanted_.load(std::memory_order_relaxed) == 0) return {};
    auto const* const next = next_configuration(configuration_ == nullptr || may_change);
    if (next == nullptr || (who == turn_by::worker && !wait_for_a_launch())) return {};
    context_change const change(*this);
    switching_since = monotonic_ns();
    return start(*next);
  }
  // While the program launches nothing at all, nothing has come to an end.
  auto const some_came = std::exchange(launches_at_turn_, launches()) != launches();
  quiet_turns_ = ranges_in_pass_ == ranges_at_turn_ ? quiet_turns_ + some_came : 0;
  auto const leads_on =
      !readings_.empty() || may_change || (may_start && is_wanted(later_groups()));
  auto const over = pass_is_over() && leads_on;
  ranges_at_turn_ = ranges_in_pass_;
  if (!closing && !over) return {};
  if (who == turn_by::worker && !wait_for_a_launch()) return {};
  context_change const change(*this);
  switching_since = monotonic_ns();
  auto const may_go_round = every_launch_ || (may_start && who == turn_by::worker);
  return next_pass(closing, may_go_round, may_change, finished);
}

/// `may_go_round`: another cycle may begin at once.
result<void> sampled_context::next_pass(bool closing, bool may_go_round, bool may_change,
                                        std::vector<batch>& finished) {
  auto const before = monotonic_ns();
  log_debug("counters: pass " + std::to_string(pass() + 1) + " had " +
            std::to_string(ranges_in_pass_) + " launches, open for " +
            std::to_string(std::exchange(open_ns_, 0) / 1000) + " us");
  auto const goes_on = run_on(closing);
  if (!goes_on) return error{goes_on.message()};
  if (configuration_ == nullptr) return {};  // nothing was read, and nothing is to be
  if (*goes_on) {
    log_debug("counters: pass " + std::to_string(pass() + 1) + " on in " +
              std::to_string((monotonic_ns() - before) / 1000) + " us");
    return {};
  }
  if (apart_.load(std::memory_order_relaxed) && configuration_->groups.size() > 1)
    return drop_cycle(finished), result<void>{};
  if (auto ok = finish(finished); !ok) return ok;
  if (closing || !may_go_round) return {};
  // Starting takes 20 ms: not before a launch has said what for.
  auto const* const next = next_configuration(may_change);
  return next == nullptr ? result<void>{} : start(*next);
}

/// From the pass that is on to the next that launches have use for. All in between are run, too:
/// CUPTI goes through them one by one, whatever it is told. False: the cycle is over.
result<bool> sampled_context::run_on(bool closing) {
  for (;;) {
    auto const all = profiler_->stop();
    if (!all) return error{all.message()};
    auto const ends_group = pass() + 1 == group_end_;
    if (!closing && (begins_group() || ends_group)) {
      if (auto ok = look(); !ok) return error{ok.message()};
      if (apart_.load(std::memory_order_relaxed) && configuration_->groups.size() > 1) return false;
    }
    if (ends_group) end_group();
    if (*all) return false;
    if (closing && readings_.empty()) {
      group_.store(-1, std::memory_order_release);
      lose_profiler();  // an object in the midst of a cycle is of no use later
      return false;
    }
    if (auto ok = start_next_pass(); !ok) return error{ok.message()};
    number_pass(pass_number_.load(std::memory_order_relaxed) + 1);
    if (!closing && has_use_for_pass()) return true;
  }
}

result<void> sampled_context::start_next_pass() {
  auto ok = profiler_->configure_next_pass();
  return ok ? profiler_->start() : ok;
}

/// Some kinds may have all that there is, and passes may come in another order than was assumed:
/// then what was counted belongs to nothing. After the first pass of a group and after the last.
result<void> sampled_context::look() {
  auto const current = static_cast<unsigned>(group());
  auto const later = later_groups();
  auto const has_more = pass() + 1 != group_end_;
  if (every_launch_ || readings_.empty() || (!has_more && later.empty())) return {};
  auto const names = profiler_->decode_so_far();
  if (!names) return error{names.message()};
  auto const found = look_(profiler_->image(), *names, current, later);
  if (found.out_of_order) read_apart();
  if (found.out_of_order || !has_more) return {};
  for (auto const range : found.complete) {
    if (range >= readings_.size()) continue;
    auto& reading = readings_[range];
    auto const was_in_this_pass =
        !reading.launches.empty() && reading.launches.back().group == current;
    if (reading.signature == nullptr || !was_in_this_pass) continue;
    reading.complete |= bit(current);
    reading.signature->mark_done(current);
    ++completed_;
  }
  return {};
}

/// Readings of the group end here: whole ones are done, others may be tried again.
void sampled_context::end_group() noexcept {
  auto const current = static_cast<unsigned>(group());
  auto const passes = counters_->groups[current].configuration.passes;
  for (auto const& reading : readings_) {
    auto const launches = std::count_if(
        reading.launches.begin(), reading.launches.end(),
        [current](sampled_launch_record const& launch) { return launch.group == current; });
    if (reading.signature == nullptr || launches == 0 || (reading.complete & bit(current)) != 0)
      continue;
    if (static_cast<std::size_t>(launches) == passes ||
        reading.signature->count_attempt() >= most_attempts)
      reading.signature->mark_done(current);
  }
}

/// Its counters belong to nothing that is known. Kinds are read again, each group apart.
void sampled_context::drop_cycle(std::vector<batch>& finished) {
  group_.store(-1, std::memory_order_release);
  for (auto const& reading : std::exchange(readings_, {})) reading.read_again();
  readings_.reserve(most_ranges);
  lose_profiler();
  batch dropped;
  dropped.out_of_order = true;
  finished.push_back(std::move(dropped));
}

result<void> sampled_context::finish(std::vector<batch>& finished) {
  group_.store(-1, std::memory_order_release);
  auto readings = std::exchange(readings_, {});
  readings_.reserve(most_ranges);
  found_work_ = !readings.empty();
  if (readings.empty()) return {};
  auto counted = profiler_->decode();
  if (!counted) return error{counted.message()};
  batch done{configuration_->groups, std::move(*counted), {}};
  for (auto& reading : readings) {
    // Each group has its own, of launches one after the other.
    auto group = launch_signature::most_groups;
    std::uint32_t number = 0;
    for (auto& launch : reading.launches) {
      if (std::exchange(group, launch.group) != launch.group)
        number = last_reading.fetch_add(1, std::memory_order_relaxed) + 1;
      launch.reading = number;
    }
    done.readings.push_back(std::move(reading));
  }
  finished.push_back(std::move(done));
  return {};
}

/// The next wanted one after the last, round and round. Null: none, or not now.
prepared_configuration const* sampled_context::next_configuration(bool may_change) const noexcept {
  auto const& all = apart_.load(std::memory_order_relaxed) ? counters_->apart : counters_->together;
  auto const count = all.size();
  auto const current = std::find_if(all.begin(), all.end(),
                                    [this](auto const& one) { return &one == configuration_; });
  // The one that is set up as long as it is wanted: changing costs.
  if (current != all.end() &&
      (every_launch_ || (is_wanted(current->groups) && (found_work_ || !may_change))))
    return configuration_;
  if (current != all.end() && !may_change) return nullptr;
  auto const last =
      current == all.end() ? count - 1 : static_cast<std::size_t>(current - all.begin());
  for (std::size_t i = 1; i <= count; ++i) {
    auto const& next = all[(last + i) % count];
    if (is_wanted(next.groups)) return &next;
  }
  return nullptr;
}

// A range profiler keeps the configuration of its first start, whatever it is given later: each
// gets one of its own.
result<void> sampled_context::start(prepared_configuration const& wanted) {
  auto const before = monotonic_ns();
  if (profiler_ == nullptr || configuration_ != &wanted) {
    auto const is_change = profiler_ != nullptr;
    lose_profiler();
    auto opened = range_profiler::open(*api_, context_);
    if (!opened) return error{opened.message()};
    auto setup = (*opened)->make_setup(wanted.configuration, wanted.metrics, most_ranges);
    if (!setup) return error{setup.message()};
    setup_ = std::move(*setup);
    profiler_ = std::move(*opened);
    holds_counters_.store(true, std::memory_order_release);
    if (is_change) last_change_ = monotonic_ns();
    configuration_ = &wanted;
  }
  if (auto ok = profiler_->configure(setup_); !ok) return ok;
  auto const configured = monotonic_ns();
  if (auto ok = profiler_->start(); !ok) return ok;
  log_debug("counters: " + std::to_string(wanted.groups.size()) + " groups of " +
            std::to_string(counters_->groups.size()) + " (" +
            std::to_string(wanted.metrics.size()) + " metrics, " +
            std::to_string(wanted.configuration.passes) + " passes) on in " +
            std::to_string((monotonic_ns() - before) / 1000) + " us, of these start " +
            std::to_string((monotonic_ns() - configured) / 1000));
  // Who could not know them wanted all that there may be.
  wanted_.fetch_and(
      ~launch_signature::groups{0} >> (launch_signature::most_groups - counters_->groups.size()),
      std::memory_order_relaxed);
  has_read_.store(false, std::memory_order_relaxed);
  static std::atomic<std::uint32_t> last_cycle{0};
  number_pass((last_cycle.fetch_add(1, std::memory_order_relaxed) + 1) * 64);
  if (has_use_for_pass()) return {};
  auto const goes_on = run_on(false);
  if (!goes_on) return error{goes_on.message()};
  if (!*goes_on) group_.store(-1, std::memory_order_release);
  return {};
}

void sampled_context::number_pass(std::uint32_t number) noexcept {
  pass_number_.store(number, std::memory_order_relaxed);
  expected_ = std::exchange(ranges_in_pass_, 0) - std::exchange(completed_, 0);
  ranges_at_turn_ = quiet_turns_ = 0;
  if (pass() == 0)
    enter_group(0);
  else if (pass() == group_end_)
    enter_group(place_ + 1);
}

void sampled_context::enter_group(std::size_t place) noexcept {
  auto const group = configuration_->groups[place];
  auto const& entered = counters_->groups[group];
  place_ = place;
  expected_ = 0;
  group_end_ = pass() + static_cast<unsigned>(entered.configuration.passes);
  group_began_.store(pass_number_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  patches_.store(entered.patches_kernels, std::memory_order_release);
  group_.store(static_cast<int>(group), std::memory_order_release);
}

/// Who wants a group that begins says so again, unless it is read.
bool sampled_context::has_use_for_pass() noexcept {
  if (!begins_group()) return expected_ > 0;
  auto const mine = bit(static_cast<unsigned>(group()));
  return every_launch_ || (wanted_.fetch_and(~mine, std::memory_order_relaxed) & mine) != 0;
}

void sampled_context::end(std::vector<batch>& finished, bool for_good) noexcept {
  if (for_good) ended_.store(true, std::memory_order_release);
  prepared_.store(false, std::memory_order_release);
  context_change const change(*this);
  try {
    if (profiler_ != nullptr && group() >= 0) {
      auto const taken = next_pass(true, false, false, finished);
      (void)taken;  // the context is going: what cannot be had now is lost
    }
  } catch (...) {
  }
  group_.store(-1, std::memory_order_release);
  readings_.clear();  // of a pass that could not be ended
  has_read_.store(false, std::memory_order_relaxed);
  let_go();
}

void sampled_context::let_go() noexcept {
  if (profiler_ == nullptr || group() >= 0) return;
  context_change const change(*this);
  auto const before = monotonic_ns();
  lose_profiler();
  log_debug("counters: given back in " + std::to_string((monotonic_ns() - before) / 1000) + " us");
}

void sampled_context::lose_profiler() noexcept {
  profiler_.reset();
  configuration_ = nullptr;
  holds_counters_.store(false, std::memory_order_release);
}

}  // namespace gpuprof
