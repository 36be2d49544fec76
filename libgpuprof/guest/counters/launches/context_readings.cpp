// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/launches/context_readings.hpp"

#include "base/log.hpp"
#include "base/time.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

namespace gpuprof::guest {
namespace {

// Each cycle needs a start and a stop, 17 ms together: with 8 ranges, reading a launch costs 3.3
// ms, with 64 it costs 1.4 ms. More ranges make the first start longer and save little.
constexpr std::size_t ranges_of_every_launch = 64;

}  // namespace

bool context_readings::begin_again(CUcontext context, context_id id, device_id device) noexcept {
  auto left = life::left;
  if (!life_.compare_exchange_strong(left, life::begins)) return false;
  id_.store(context_id{});  // not found until all is set
  context_.store(context);
  device_.store(device);
  streams.forget();
  id_.store(id);
  life_.store(life::lives);
  return true;
}

void context_readings::leave() noexcept {
  if (life_.load() != life::ended) return;
  abandon();
  counters_ = nullptr;
  life_.store(life::left);
}

void context_readings::prepare(cupti_api const& api, prepared_counters const& counters,
                               bool every_launch) {
  api_ = &api;
  counters_ = &counters;
  limits_.every_launch = every_launch;
  if (every_launch) limits_.max_ranges = ranges_of_every_launch;
}

// A range profiler keeps the configuration of its first start, even if it is given another one
// later. So each group gets its own profiler, which costs 0.15 s.
result<void> context_readings::start(launch_signature::groups wanted, std::uint64_t now_ns) {
  auto const is_wanted = [&](prepared_group const& group) {
    auto const number = static_cast<unsigned>(&group - counters_->data());
    return (wanted >> number & 1) != 0;
  };
  auto const found = std::find_if(counters_->begin(), counters_->end(), is_wanted);
  auto const& next = group_ != nullptr && is_wanted(*group_) ? *group_
                     : found != counters_->end()             ? *found
                                                             : counters_->front();
  auto const before = monotonic_ns();
  if (profiler_ == nullptr || group_ != &next) {
    auto turn = std::move(turn_);
    release();
    turn_ = std::move(turn);
    auto opened = range_profiler::open(*api_, handle());
    if (!opened) return error{opened.message()};
    auto setup = (*opened)->make_setup(next.configuration, next.metrics, limits_.max_ranges);
    if (!setup) return error{setup.message()};
    setup_ = std::move(*setup);
    profiler_ = std::move(*opened);
    group_ = &next;
    holds_counters_.store(true);
  }
  auto const opened = monotonic_ns();
  if (auto ok = profiler_->configure(setup_); !ok) return ok;
  auto const configured = monotonic_ns();
  if (auto ok = profiler_->start(); !ok) return ok;
  auto const started = monotonic_ns();
  cycle_.emplace(cycle_group{static_cast<unsigned>(&next - counters_->data()),
                             static_cast<unsigned>(next.configuration.passes), next.rewrites},
                 limits_, now_ns);
  is_counting_.store(true);
  log_debug("counters: " + std::to_string(next.metrics.size()) + " metrics in " +
            std::to_string(next.configuration.passes) + " passes on: opened in " +
            std::to_string((opened - before) / 1000) + " us, configured in " +
            std::to_string((configured - opened) / 1000) + ", started in " +
            std::to_string((started - configured) / 1000));
  return {};
}

bool context_readings::push(std::size_t range, launch_signature& signature,
                            timestamp_ns opened) noexcept {
  if (!cycle_->make_room(range)) return false;
  char name[24];
  std::snprintf(name, sizeof name, "%zu", range);
  if (!profiler_->push(name)) return false;
  open_ = {range, &signature, opened};
  return true;
}

bool context_readings::pop(bool is_kept, correlation_id correlation) noexcept {
  auto const range = *std::exchange(open_, std::nullopt);
  auto const kept = profiler_->pop() && is_kept;
  cycle_->add(range.number, *range.signature, kept,
              {correlation, device(), id(), 0, range.opened, now(), 0, range.signature->is_graph()},
              monotonic_ns());
  return kept;
}

// Runs all passes, even those that are useless, because CUPTI goes through them in order regardless
// of the configuration.
result<void> context_readings::turn_pass(std::uint64_t now_ns, std::optional<reading_batch>& done) {
  auto const before = monotonic_ns();
  do {
    auto const all = profiler_->stop();
    if (!all) return error{all.message()};
    if (!cycle_->next_pass(now_ns)) return take_counted(done);
    if (auto ok = profiler_->configure_next_pass(); !ok) return ok;
    if (auto ok = profiler_->start(); !ok) return ok;
  } while (cycle_->pass_is_useless());
  log_debug("counters: pass " + std::to_string(cycle_->pass() + 1) + " on in " +
            std::to_string((monotonic_ns() - before) / 1000) + " us");
  return {};
}

result<void> context_readings::take_counted(std::optional<reading_batch>& done) {
  is_counting_.store(false);
  auto cycle = *std::exchange(cycle_, std::nullopt);
  if (!cycle.has_readings()) return {};
  auto counted = profiler_->decode();
  if (!counted) return error{counted.message()};
  done.emplace(reading_batch{cycle.group(), std::move(*counted), cycle.finish()});
  return {};
}

result<void> context_readings::finish(std::optional<reading_batch>& done) {
  if (!cycle_) return {};
  auto const all = profiler_->stop();
  if (!all) return error{all.message()};
  auto const in_midst = !*all;
  auto ok = take_counted(done);
  if (in_midst) release();  // else CUPTI would go on with the next pass
  return ok;
}

void context_readings::release() noexcept {
  if (profiler_ == nullptr) return;
  profiler_.reset();
  group_ = nullptr;
  cycle_.reset();
  open_.reset();
  is_counting_.store(false);
  holds_counters_.store(false);
  auto const over = std::move(turn_);
}

void context_readings::abandon() noexcept {
  if (profiler_ != nullptr) profiler_->abandon();
  release();
}

}  // namespace gpuprof::guest
