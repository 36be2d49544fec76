#include "counters/sampled_context.hpp"

#include "base/clock.hpp"

#include <cstdio>
#include <utility>

namespace gpuprof {
namespace {

constexpr std::size_t most_ranges = 64;  // an image of them is 1 MB or so
// A group is left for another when so many launches wanted the other and none came for this one.
constexpr std::uint32_t patience_in_launches = 8;
// How many turns of the drain thread a kind of launch is waited for between two of its passes.
constexpr std::size_t patience_in_turns = 100;

}  // namespace

bool sampled_context::open_range(launch_signature& signature, correlation_id correlation) noexcept {
  if (ranges_ >= (takes_several_passes() ? 1 : most_ranges)) return false;
  if (bound_ != nullptr && bound_ != &signature) return false;
  char name[24];
  std::snprintf(name, sizeof name, "%zu", closed_.size());
  opened_ = {&signature, correlation, now()};
  if (!profiler_->push(name)) {
    opened_.signature = nullptr;
    return false;
  }
  ++ranges_;
  return true;
}

bool sampled_context::close_range() noexcept {
  auto const popped = profiler_->pop();
  auto const opened = std::exchange(opened_, {});
  try {
    // A range that is not kept has its place all the same: names count ranges.
    closed_.push_back({opened.signature,
                       {std::to_string(closed_.size()),
                        {opened.correlation, device_, id_, static_cast<std::uint16_t>(group()),
                         opened.opened, now()}}});
  } catch (...) {
    return false;
  }
  auto const kept = popped && opened.signature != nullptr;
  if (!kept)
    closed_.back().signature = nullptr;
  else if (takes_several_passes())
    bound_ = opened.signature;
  else
    opened.signature->mark_done(static_cast<unsigned>(group()));
  return kept;
}

result<void> sampled_context::prepare(cupti_api const& api,
                                      std::vector<prepared_group> const& groups) {
  if (!claim()) return error{"counters of a context are in use"};
  struct at_end {
    sampled_context& context;
    ~at_end() { context.release(); }
  } const released{*this};
  api_ = &api;
  groups_ = &groups;
  closed_.reserve(most_ranges);
  if (auto ok = start(0); !ok) return ok;
  prepared_.store(true, std::memory_order_release);
  return {};
}

bool sampled_context::takes_several_passes() const noexcept {
  auto const current = group();
  return current >= 0 && setup_.configuration.passes > 1;
}

bool sampled_context::should_change(bool closing) const noexcept {
  if (group() < 0) return false;
  if (closing) return true;
  if (takes_several_passes() && (ranges_ > 0 || bound_ != nullptr))
    return ranges_ > 0 || quiet_turns_ > patience_in_turns;
  if (ranges_ >= most_ranges) return true;
  auto const others = wanted_.load(std::memory_order_relaxed) &
                      ~(launch_signature::groups{1} << static_cast<unsigned>(group()));
  if (others == 0) return false;
  return ranges_ == ranges_at_turn_ &&
         declined_.load(std::memory_order_relaxed) >= patience_in_launches;
}

/// The next wanted one after the last, round and round.
unsigned sampled_context::next_group(launch_signature::groups wanted) const noexcept {
  auto const count = static_cast<unsigned>(groups_->size());
  for (unsigned i = 1; i <= count; ++i) {
    auto const group = static_cast<unsigned>(last_group_ + static_cast<int>(i)) % count;
    if ((wanted >> group & 1) != 0) return group;
  }
  return static_cast<unsigned>(last_group_ + 1) % count;
}

result<bool> sampled_context::turn(bool closing, std::vector<batch>& finished) {
  if (!is_prepared()) return true;
  if (!claim()) return false;  // a launch is being read
  struct at_end {
    sampled_context& context;
    ~at_end() { context.release(); }
  } const released{*this};
  if (!is_prepared()) return true;  // it has ended meanwhile
  auto const due = should_change(closing);
  ranges_at_turn_ = ranges_;
  ++quiet_turns_;
  if (due) {
    if (auto ok = change(closing, finished); !ok) return error{ok.message()};
  } else if (group() < 0 && !closing && wanted_.load(std::memory_order_relaxed) != 0) {
    if (auto ok = start(next_group(wanted_.exchange(0, std::memory_order_relaxed))); !ok)
      return error{ok.message()};
  }
  return true;
}

result<void> sampled_context::change(bool closing, std::vector<batch>& finished) {
  if (takes_several_passes()) {
    auto const all = profiler_->stop();
    if (!all) return error{all.message()};
    if (!*all && !closing && quiet_turns_ <= patience_in_turns) {
      closed_.clear();  // the next launch gives the range its name and its record
      ranges_ = ranges_at_turn_ = quiet_turns_ = 0;
      return profiler_->start_next_pass();
    }
    if (bound_ != nullptr) bound_->mark_done(static_cast<unsigned>(group()));
    bound_ = nullptr;
    if (!*all) closed_.clear();
  }
  if (auto ok = take(finished); !ok) return ok;
  if (closing) return {};
  return start(next_group(wanted_.exchange(0, std::memory_order_relaxed)));
}

// A range profiler keeps the configuration of its first start, whatever it is given later: each
// group gets one of its own.
result<void> sampled_context::start(unsigned group) {
  if (profiler_ == nullptr || last_group_ != static_cast<int>(group)) {
    profiler_.reset();
    auto opened = range_profiler::open(*api_, context_);
    if (!opened) return error{opened.message()};
    auto const& wanted = (*groups_)[group];
    auto setup = (*opened)->make_setup(wanted.configuration, wanted.metrics, most_ranges);
    if (!setup) return error{setup.message()};
    setup_ = std::move(*setup);
    profiler_ = std::move(*opened);
    last_group_ = static_cast<int>(group);
  }
  if (auto ok = profiler_->start(setup_); !ok) return ok;
  ranges_ = ranges_at_turn_ = quiet_turns_ = 0;
  bound_ = nullptr;
  declined_.store(0, std::memory_order_relaxed);
  group_.store(static_cast<int>(group), std::memory_order_release);
  return {};
}

result<void> sampled_context::take(std::vector<batch>& finished) {
  auto const group = static_cast<unsigned>(group_.exchange(-1, std::memory_order_acq_rel));
  if (profiler_->started()) {
    auto const stopped = profiler_->stop();
    if (!stopped) return error{stopped.message()};
  }
  auto launches = std::exchange(closed_, {});
  if (launches.empty()) return {};
  auto counted = profiler_->decode();
  if (!counted) return error{counted.message()};
  batch done{group, std::move(*counted), {}};
  for (auto& closed : launches)
    if (closed.signature != nullptr) done.launches.push_back(std::move(closed.launch));
  finished.push_back(std::move(done));
  return {};
}

void sampled_context::end(std::vector<batch>& finished, bool for_good) noexcept {
  if (for_good) ended_.store(true, std::memory_order_release);
  prepared_.store(false, std::memory_order_release);
  try {
    if (profiler_ != nullptr && group() >= 0) {
      auto const taken = change(true, finished);
      (void)taken;  // the context is going: what cannot be had now is lost
    }
  } catch (...) {
  }
  group_.store(-1, std::memory_order_release);
  profiler_.reset();
}

}  // namespace gpuprof
