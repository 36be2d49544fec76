// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/timeline/gap_table.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace gpuprof::host {
namespace {

/// `.item()` is a blocking copy followed by a wait. They count as one wait if the second starts
/// within this time.
constexpr double one_wait_ns = 20'000;

double between(timestamp_ns from, timestamp_ns to) noexcept {
  return to > from ? static_cast<double>((to - from).value) : 0;
}

struct call_cover {
  double ns = 0;
  host_call const* longest = nullptr;
  double longest_ns = 0;
};
using covers = std::array<call_cover, call_kind_count>;

/// How much of [from, to] is covered by calls of each kind, and the last wait that returned in it.
struct host_activity {
  covers of;
  host_call const* last_wait = nullptr;
  timestamp_ns waited_from;  // start of that wait, or of the waits directly before it
};

host_activity activity_in(timestamp_ns from, timestamp_ns to, double skew,
                          std::deque<host_call> const& calls) {
  host_activity found;
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
    if (call->begin >= to) continue;
    if (between(std::max(call->reach, call->end), from) > skew) break;
    auto const covered = between(std::max(call->begin, from), std::min(call->end, to));
    auto& of = found.of[static_cast<std::size_t>(call->kind)];
    of.ns += covered;
    if (of.longest == nullptr || covered > of.longest_ns) {
      of.longest = &*call;
      of.longest_ns = covered;
    }
    if (!is_wait(call->kind) || call->end > to) continue;
    if (found.last_wait == nullptr) {
      found.last_wait = &*call;
      found.waited_from = call->begin;
    } else if (between(call->end, found.waited_from) <= one_wait_ns) {
      found.waited_from = std::min(found.waited_from, call->begin);
    }
  }
  return found;
}

/// Returns true if the queue was empty because of the wait. Without the wait the thread would be
/// ahead by the waiting time; if it then worked for longer than that, and longer than launching
/// takes, the queue was empty in any case.
bool wait_emptied_the_queue(host_activity const& host, gpu_item const& after) noexcept {
  auto const wait = between(host.waited_from, host.last_wait->end);
  return between(host.last_wait->end, after.launched) <= std::max(longest_launching_ns, wait);
}

/// True if it started so late after its launch that something else delayed it. Some launches take
/// twice the usual time.
bool is_late(gpu_item const& item, pace const& run) noexcept {
  auto const usual = item.of_graph ? std::max(run.usual_delay, run.graph_delay) : run.usual_delay;
  return between(item.launched, item.start) > 2 * usual + 2'000;
}

/// True if it started as soon after its launch as on an idle GPU: an earlier launch would have
/// meant an earlier start.
bool came_just_in_time(gpu_item const& item, pace const& run) noexcept {
  return item.launched.value != 0 && between(item.launched, item.start) <= run.usual_delay + 1'000;
}

timestamp_ns before(timestamp_ns moment, double ns) noexcept {
  return {moment.value - static_cast<std::uint64_t>(ns)};
}

/// Recording makes the return from a wait and the start of the next work slower. Returns the time
/// beyond this machine's round trip without a profiler, which may not be saved. All of it counts if
/// the round trip was not measured.
double not_sure_of_turnaround(host_call const& wait, timestamp_ns idle_from, gpu_item const& after,
                              pace const& run) noexcept {
  return std::max(
      0.0, between(idle_from, wait.end) + between(after.launched, after.start) - run.round_trip);
}

/// A launching call that loads its kernel lasts until the kernel is loaded. If launching calls are
/// not recorded, the thread's next call shows that this one had returned.
bool launch_may_have_loaded(gpu_item const& after, double late_ns,
                            std::deque<host_call> const& calls) noexcept {
  std::optional<timestamp_ns> next_call;
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
    if (call->begin > after.launched) {
      next_call = call->begin;
      continue;
    }
    if (call->kind == call_kind::launch && after.launched < call->end)
      return 2 * between(after.launched, call->end) >= late_ns;
    if (std::max(call->reach, call->end) <= after.launched) break;
  }
  return !next_call || 2 * between(after.launched, *next_call) >= late_ns;
}

gap_cause blamed(time_bucket bucket, host_call const& call, double sure) {
  return {bucket, call.name, call.kind, sure};
}

/// Calls that block the thread. A kind that may contain another comes after it.
struct holding_kind {
  call_kind kind;
  time_bucket bucket;
};
constexpr holding_kind holding[] = {{call_kind::load_module, time_bucket::module_load},
                                    {call_kind::build_graph, time_bucket::graph_build},
                                    {call_kind::allocate, time_bucket::allocation}};

}  // namespace

gap_cause cause_of_gap(timestamp_ns begin, timestamp_ns end, gpu_item const& after,
                       launching_thread const& thread, pace const& run) {
  auto const gap = between(begin, end);
  auto const pause = after.is_copy ? std::max(run.back_to_back, run.before_copy) : run.back_to_back;
  if (gap <= 2 * pause)
    return {.bucket = came_just_in_time(after, run) ? time_bucket::launch_bound
                                                    : time_bucket::back_to_back};
  if (after.launched.value == 0) return {.bucket = time_bucket::host_unknown};
  auto const delay = run.start_delay;
  auto const sure = gap - run.back_to_back;
  auto const idle_before_launch = between(begin, after.launched);
  if (is_late(after, run) && between(after.launched, begin) >= run.usual_delay)
    return {.bucket = time_bucket::dependency, .sure_ns = sure};
  // The graph was launched before the GPU ran out of work, and takes its time from call to start.
  if (after.of_graph && after.launched <= begin) return {.bucket = time_bucket::launch_bound};

  // A launching call may itself load the kernel, and last until the work starts.
  auto const held_until = std::max(after.launched, before(end, delay));
  auto const host = activity_in(begin, held_until, delay, *thread.calls);
  auto const held = between(begin, held_until);
  for (auto const& [kind, bucket] : holding) {
    auto const& of = host.of[static_cast<std::size_t>(kind)];
    if (of.longest != nullptr && 2 * of.ns >= held && held > 0)
      return blamed(bucket, *of.longest, std::min(sure, of.ns));
  }
  auto const& launches = host.of[static_cast<std::size_t>(call_kind::launch)];
  auto const late_ns = between(after.launched, end) - run.usual_delay;
  if (is_late(after, run) && late_ns > idle_before_launch) {
    if (thread.is_first_of_kernel && launch_may_have_loaded(after, late_ns, *thread.calls))
      return {.bucket = time_bucket::module_load, .sure_ns = late_ns};
    if (2 * launches.ns >= late_ns) return blamed(time_bucket::launch_bound, *launches.longest, 0);
    return {.bucket = time_bucket::dependency, .sure_ns = sure};
  }
  if (thread.loads_data) return {.bucket = time_bucket::data_loading};
  if (host.last_wait != nullptr && wait_emptied_the_queue(host, after)) {
    auto const wait = between(host.waited_from, host.last_wait->end);
    auto const own = not_sure_of_turnaround(*host.last_wait, begin, after, run);
    return blamed(time_bucket::synchronization, *host.last_wait,
                  std::max(0.0, std::min(sure - own, wait)));
  }
  auto const distance = between(thread.previous_launch, after.launched);
  if (2 * launches.ns >= held || (thread.previous_launch.value != 0 && run.launch_distance > 0 &&
                                  distance <= run.longest_launching()))
    return {.bucket = time_bucket::launch_bound};
  if (thread.is_between_steps) return {.bucket = time_bucket::between_steps};
  return {.bucket = thread.calls_recorded ? time_bucket::cpu_work : time_bucket::host_unknown};
}

}  // namespace gpuprof::host
