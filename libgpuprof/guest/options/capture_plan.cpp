// SPDX-License-Identifier: Apache-2.0
#include "guest/options/capture_plan.hpp"

namespace gpuprof::guest {
namespace {

std::string text_of(range_pattern const& range) {
  return "\"" + range.name +
         (range.any_domain       ? "@*"
          : range.domain.empty() ? ""
                                 : "@" + range.domain) +
         "\"";
}

}  // namespace

void capture_plan::begin(std::uint64_t now) {
  if (begun_) return;
  begun_ = true;
  ready_at_ = now + static_cast<std::uint64_t>(options_.delay.value);
  if (options_.schedule) follow_schedule(now);
  tick(now);
}

void capture_plan::profiler_start(std::uint64_t now) {
  if (options_.range == capture_range::cuda_profiler_api) start_if_ready("cudaProfilerStart", now);
}

void capture_plan::profiler_stop(std::uint64_t) {
  if (options_.range == capture_range::cuda_profiler_api) end_of_range();
}

void capture_plan::range_entered(std::uint64_t now) {
  if (options_.range == capture_range::nvtx) start_if_ready("NVTX range", now);
}

void capture_plan::range_left(std::uint64_t) {
  if (options_.range == capture_range::nvtx) end_of_range();
}

void capture_plan::api_start(std::uint64_t now) {
  begin(now);
  finished_ = gave_up_ = false;  // the program decides
  start("gpuprof_start", now);
}

void capture_plan::api_stop(std::uint64_t) {
  if (!wanted_) return;
  stop();
  if (!triggered_by_range() && !options_.schedule) finished_ = true;
}

void capture_plan::give_up() {
  wanted_ = warming_up_ = false;
  finished_ = gave_up_ = true;
}

void capture_plan::step(std::uint64_t now) {
  ++steps_;
  if (options_.schedule) follow_schedule(now);
}

// Follows torch.profiler's schedule: skip_first steps once, then `repeat` cycles of wait, warmup,
// active.
void capture_plan::follow_schedule(std::uint64_t now) {
  if (gave_up_) return;
  auto const& s = *options_.schedule;
  auto const quiet = std::uint64_t{s.wait} + s.warmup;
  auto const cycle = quiet + s.active;
  if (steps_ < s.skip_first || cycle == 0) return;
  auto const done = steps_ - s.skip_first;
  auto const inside = done % cycle;
  finished_ = s.repeat != 0 && done / cycle >= s.repeat;
  auto const active = !finished_ && inside >= quiet;
  warming_up_ = !finished_ && inside >= s.wait && inside < quiet;
  auto const this_cycle = done / cycle + 1;
  auto const new_cycle = active && captured_cycle_ != this_cycle;
  // The second condition: one cycle directly follows another.
  if (wanted_ && (!active || (new_cycle && inside == quiet))) stop();
  if (!new_cycle || wanted_) return;
  captured_cycle_ = this_cycle;
  start("step " + std::to_string(steps_), now);
}

void capture_plan::tick(std::uint64_t now) {
  if (wanted_ && stop_at_ != 0 && now >= stop_at_) time_is_up();
  if (!wanted_ && !finished_ && ready(now) && !triggered_by_range() && !options_.schedule) {
    start(options_.delay.value > 0 ? "delay" : "start", now);
  }
}

// If a duration expires in a range's capture, the capture ends as at the end of the range.
void capture_plan::time_is_up() {
  if (triggered_by_range() && options_.range_end.action != range_end_action::none) {
    end_of_range();
  } else {
    stop();
    finished_ = !options_.schedule;
  }
}

void capture_plan::start(std::string why, std::uint64_t now) {
  if (wanted_ || finished_) return;
  wanted_ = true;
  ++count_;
  trigger_ = std::move(why);
  stop_at_ =
      options_.duration.value > 0 ? now + static_cast<std::uint64_t>(options_.duration.value) : 0;
}

void capture_plan::start_if_ready(std::string why, std::uint64_t now) {
  if (ready(now))
    start(std::move(why), now);
  else
    came_too_early_ = true;
}

void capture_plan::stop() {
  wanted_ = false;
}

void capture_plan::end_of_range() {
  if (!wanted_) return;
  auto const& end = options_.range_end;
  if (end.action == range_end_action::none) return;
  stop();
  auto const last = end.count != 0 && count_ >= end.count;
  switch (end.action) {
    case range_end_action::stop:
      finished_ = true;
      break;
    case range_end_action::stop_shutdown:
      finished_ = shutdown_ = true;
      break;
    case range_end_action::repeat:
      finished_ = last;
      break;
    case range_end_action::repeat_shutdown:
      finished_ = shutdown_ = last;
      break;
    case range_end_action::none:
      break;
  }
}

namespace {
constexpr std::int64_t no_delay_ends = 365LL * 24 * 3600 * 1'000'000'000;
}

std::string capture_plan::why_none() const {
  if (count_ != 0) return {};
  if (options_.schedule) {
    auto const& s = *options_.schedule;
    auto const first = std::uint64_t{s.skip_first} + s.wait + s.warmup;
    return "the --schedule captures from the end of step " + std::to_string(first) + " on, and " +
           (steps_ == 0 ? "no step" : "only " + std::to_string(steps_) + " of them") + " ended (" +
           (options_.step_range
                ? "each end of the range " + text_of(*options_.step_range)
                : std::string("each gpuprof_step(), or libgpuprof.step() in Python,")) +
           " is one)";
  }
  switch (options_.range) {
    case capture_range::cuda_profiler_api:
      return came_too_early_ ? "cudaProfilerStart was called only before the --delay was over"
                             : "cudaProfilerStart was never called";
    case capture_range::nvtx:
      return "the range " + text_of(*options_.nvtx_capture) + " of --nvtx-capture " +
             (came_too_early_ ? "began only before the --delay was over" : "never began");
    case capture_range::none:
      break;
  }
  if (options_.delay.value >= no_delay_ends) return {};
  if (options_.delay.value > 0) return "the program ended before the --delay was over";
  return "nothing began a capture";
}

bool capture_plan::armed() const noexcept {
  if (finished_ || wanted_ || !begun_) return false;
  return triggered_by_range() || options_.schedule.has_value() || ready_at_ != 0;
}

bool capture_plan::needs_cuda_profiler_calls() const noexcept {
  return options_.range == capture_range::cuda_profiler_api && !finished_;
}

std::uint64_t capture_plan::next_deadline() const noexcept {
  if (wanted_) return stop_at_;
  if (begun_ && !finished_ && !triggered_by_range() && !options_.schedule) return ready_at_;
  return 0;
}

}  // namespace gpuprof::guest
