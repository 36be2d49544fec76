// SPDX-License-Identifier: Apache-2.0
// Rules on copies that block, run alone, are too small, or go to the GPU and back.
#include "host/advice/rules/idle_sum.hpp"
#include "host/advice/rules/looks.hpp"
#include "host/advice/rules/measured_rates.hpp"
#include "host/advice/step_bound.hpp"
#include "host/advice/wording.hpp"
#include "model/gpu_work.hpp"

#include <algorithm>

namespace gpuprof::host::advice {
namespace {

constexpr double slow_rate = 0.6;     // of the measured one
constexpr double reached_rate = 0.8;  // of the measured one; good programs reach this
constexpr double min_alone = 0.02;    // of the window
constexpr double min_row = 10;        // small copies that directly follow each other
constexpr double hidden_rate = 1e18;  // bytes per second: no time at all

bool is_pageable(copy_facts const& copy) {
  return !copy.is_fill &&
         (copy.source == memory_kind::pageable || copy.destination == memory_kind::pageable);
}
bool is_from_host(copy_facts const& copy) {
  return copy.kind == copy_kind::host_to_device || copy.kind == copy_kind::host_to_array;
}
bool is_to_host(copy_facts const& copy) {
  return copy.kind == copy_kind::device_to_host || copy.kind == copy_kind::array_to_host;
}
std::string_view direction(copy_facts const& copy) {
  if (is_from_host(copy)) return "to the GPU";
  if (is_to_host(copy)) return "to the host";
  return "on the GPU";
}
/// The measured rate of pinned memory for copies in this direction.
std::optional<double> peak_of(run_facts const& facts, copy_facts const& copy) {
  if (is_from_host(copy)) return measured(facts, copy.device, "h2d");
  if (is_to_host(copy)) return measured(facts, copy.device, "d2h");
  return std::nullopt;
}
double share_alone(copy_facts const& copy) {
  return copy.total_ns > 0 ? copy.alone_ns / copy.total_ns : 0;
}

/// True for a gap behind a call that copies and waits, unless it only reads a few bytes of a
/// result.
bool is_behind_copy(gap_facts const& gap) {
  return gap.cause == time_bucket::synchronization && gap.kind == call_kind::blocking_copy &&
         !gap.reads_result;
}

/// The pageable share of the time that synchronous copies in this range block. The same share of
/// the idle time behind them is attributed to pageable copies.
double pageable_part(run_facts const& facts, std::string const& range) {
  double pageable = 0, all = 0;
  for (auto const& copy : facts.copies) {
    if (copy.asynchronous || copy.range != range) continue;
    auto const weight = copy.blocked_ns > 0 ? copy.blocked_ns : copy.total_ns;
    all += weight;
    if (is_pageable(copy)) pageable += weight;
  }
  return all > 0 ? pageable / all : 0;
}

idle_sum idle_behind_copies(run_facts const& facts, bool pageable) {
  idle_sum sum;
  for (auto gap : facts.gaps) {
    if (!is_behind_copy(gap)) continue;
    auto const part = pageable_part(facts, gap.range);
    auto const factor = pageable ? part : 1 - part;
    gap.idle_ns *= factor;
    gap.sure_ns *= factor;
    if (factor > 0) sum.add(gap);
  }
  return sum;
}

/// The part of the idle time behind all pageable copies that belongs to this line, in proportion to
/// its time.
time_gain idle_of_line(run_facts const& facts, copy_facts const& of) {
  if (of.asynchronous) return {};
  double all = 0, own = of.blocked_ns > 0 ? of.blocked_ns : of.total_ns;
  for (auto const& copy : facts.copies)
    if (is_pageable(copy) && !copy.asynchronous)
      all += copy.blocked_ns > 0 ? copy.blocked_ns : copy.total_ns;
  auto const idle = idle_behind_copies(facts, true);
  auto const part = all > 0 ? own / all : 0;
  return {part * idle.sure_ns, part * idle.idle_ns};
}

stated_repair repair_of(copy_facts const& copy, replay::repair_kind kind) {
  return {.kind = kind, .names = {operation_of(copy.kind)}, .within = copy.range};
}

finding of_line(copy_facts const& copy) {
  finding one;
  one.device = copy.device;
  one.range = copy.range;
  one.instances = copy.count;
  one.bucket = time_bucket::transfer;
  return one;
}

std::string to_pin(copy_facts const& copy) {
  return is_from_host(copy)
             ? "Pin the source and copy beside other work: DataLoader(pin_memory=True) and "
               ".to(device, non_blocking=True), or cudaMallocHost and cudaMemcpyAsync."
             : "Copy into a pinned buffer that is used again (torch.empty(..., "
               "pin_memory=True), .copy_(x, non_blocking=True)), and wait for its event only "
               "when the values are needed.";
}

/// A repair with the rates of pinned memory; at best, copies from it hide beside kernels.
stated_repair pinned(copy_facts const& copy, double sure, double at_best) {
  auto made = repair_of(copy, replay::repair_kind::pin);
  made.to_host = is_to_host(copy);
  made.sure = sure / 1e9;
  made.at_best = at_best / 1e9;
  return made;
}

finding of_pageable(run_facts const& facts, copy_facts const& copy) {
  auto const rate = rate_of(static_cast<double>(copy.bytes), copy.total_ns);
  auto one = of_line(copy);
  one.what = std::string("copies ") + std::string(direction(copy)) +
             " use pageable memory: " + in_rate(rate);
  one.call = copy.asynchronous ? "cudaMemcpyAsync" : "cudaMemcpy";
  one.because = {{"achieved", rate / 1e9, "GB/s", "traced"},
                 {"thread blocked", copy.blocked_ns, "ns", "traced"}};
  one.gain = {0, copy.alone_ns + idle_of_line(facts, copy).high_ns};
  one.within_ns = one.gain.high_ns;
  one.further_buckets = {time_bucket::synchronization};
  one.to_do = to_pin(copy);
  return one;
}

void look_at_pageable(run_facts const& facts, copy_facts const& copy, double peak,
                      std::vector<finding>& found) {
  if (rate_of(static_cast<double>(copy.bytes), copy.total_ns) >= slow_rate * peak) return;
  auto const at_peak = ns_at(static_cast<double>(copy.bytes), peak);
  auto one = of_pageable(facts, copy);
  one.what += ", pinned memory reaches " + in_rate(peak);
  one.because.insert(one.because.begin() + 1,
                     {"pinned memory", peak / 1e9, "GB/s", "measured peak"});
  auto const quick = copy.quick_ns > 0 ? std::min(copy.quick_ns, copy.total_ns) : copy.total_ns;
  one.gain.low_ns = std::max(0.0, share_alone(copy) * (quick - at_peak / reached_rate));
  one.repairs = {pinned(copy, reached_rate * peak, peak)};
  one.arithmetic = in_time(copy.total_ns) + " would be " + in_time(at_peak) + " at " +
                   in_rate(peak) + "; " + in_percent(share_alone(copy)) +
                   " of it is alone on the GPU, and the GPU idles " +
                   in_time(idle_of_line(facts, copy).high_ns) + " behind it";
  found.push_back(std::move(one));
}

/// What pinned memory reaches on this machine is not known.
void look_at_pageable_without_peak(run_facts const& facts, copy_facts const& copy,
                                   std::vector<finding>& found) {
  if (share_of_window(facts, copy.alone_ns) < min_alone) return;
  auto one = of_pageable(facts, copy);
  one.because.push_back({"alone on the GPU", copy.alone_ns, "ns", "traced"});
  one.repairs = {pinned(copy, 0, hidden_rate)};
  one.repairs.front().is_only_at_best = true;
  one.arithmetic =
      "at best copies from pinned memory run beside kernels: " + in_time(copy.alone_ns) +
      " alone on the GPU, and idle behind it " + in_time(idle_of_line(facts, copy).high_ns) +
      "; gpuprof peaks measures what they would take";
  found.push_back(std::move(one));
}

void look_at_alone(run_facts const& facts, copy_facts const& copy, double compute,
                   std::vector<finding>& found) {
  if (copy.is_fill || copy.is_small || is_pageable(copy) || copy.kind == copy_kind::peer_to_peer)
    return;
  if (share_of_window(facts, copy.alone_ns) < min_alone) return;
  auto one = of_line(copy);
  one.what = std::string("copies ") + std::string(direction(copy)) + " run while no kernel does";
  one.because = {{"alone on the GPU", copy.alone_ns, "ns", "traced"},
                 {"of the copies' time", 100 * share_alone(copy), "%", "traced"},
                 {"kernels", compute, "ns", "traced"}};
  // Each copy in the stream of the kernels also makes the GPU pause.
  auto const pauses = static_cast<double>(copy.count) * facts.run.back_to_back;
  one.gain = bound_of(facts).gain(std::min(copy.alone_ns, compute) + pauses, 0,
                                  {.busy_ns = copy.alone_ns + pauses});
  one.further_buckets = {time_bucket::back_to_back};
  one.repairs = {repair_of(copy, replay::repair_kind::overlap)};
  one.condition = "the kernels beside it do not need what is copied";
  one.to_do =
      is_from_host(copy) || is_to_host(copy)
          ? "Copy in a stream of its own one step ahead, from pinned memory with "
            "non_blocking=True, and let the kernels wait for its event."
          : "Avoid the copy (clone, contiguous, concatenate): let the kernel write to where "
            "the data is needed, or copy in another stream.";
  one.arithmetic = "the smaller of copies alone, " + in_time(copy.alone_ns) + ", and kernels, " +
                   in_time(compute) + ", and a pause of the GPU for each";
  found.push_back(std::move(one));
}

void look_at_small(run_facts const& facts, copy_facts const& copy, std::vector<finding>& found) {
  auto const peak = peak_of(facts, copy);
  auto const n = static_cast<double>(copy.count), behind = static_cast<double>(copy.in_a_row);
  if (!copy.is_small || copy.is_fill || behind < min_row) return;
  // average number of copies that follow each other
  auto const row = n / std::max(1.0, n - behind);
  if (row < min_row) return;
  auto const throughput = measured(facts, copy.device, "launch_throughput");
  auto const launch = throughput ? *throughput * 1e9 : facts.run.launch_distance;
  auto const bytes = static_cast<double>(copy.bytes);
  // A row that fits into one small copy takes the time of one, whatever the link reaches.
  auto const fits_into_one = bytes / n * row <= small_copy_bytes;
  if (!peak && !fits_into_one) return;
  auto const rate = peak ? *peak : 1e9 * bytes / n * row / (copy.total_ns / n);
  auto const at_once = ns_at(bytes, rate);
  auto one = of_line(copy);
  one.what = in_count(n) + " small copies " + std::string(direction(copy)) + " follow each other";
  one.because = {{"bytes each", bytes / n, "B", "traced"},
                 {"in a row", row, "", "traced"},
                 {"time each", copy.total_ns / n, "ns", "traced"}};
  auto const low = std::max(0.0, copy.alone_ns - at_once);
  one.gain = {low, std::max(low, copy.total_ns + behind * launch - at_once)};
  one.further_buckets = {time_bucket::launch_bound, time_bucket::back_to_back,
                         time_bucket::cpu_work, time_bucket::host_unknown};
  auto packed = repair_of(copy, replay::repair_kind::merge);
  packed.max_bytes = small_copy_bytes;
  packed.sure = packed.at_best = rate / 1e9;
  one.repairs = {std::move(packed)};
  one.to_do =
      "Pack them into one buffer and copy that: torch.cat or a structure of arrays on the "
      "host, one .to(device); or create them on the GPU.";
  one.arithmetic = in_count(n) + " copies take " + in_time(copy.total_ns) + " and a launch of " +
                   in_time(launch) + " each; " +
                   (peak ? "their bytes at " + in_rate(rate) + " take "
                         : std::string("each row as one copy takes ")) +
                   in_time(at_once);
  found.push_back(std::move(one));
}

bool is_there_and_back(copy_facts const& there, copy_facts const& back) {
  return is_to_host(there) && is_from_host(back) && there.device == back.device &&
         there.range == back.range && there.count == back.count && there.bytes == back.bytes &&
         !there.is_small && !back.is_small;
}

}  // namespace

void look_at_pageable_copies(run_facts const& facts, std::vector<finding>& found) {
  for (auto const& copy : facts.copies) {
    if (!is_pageable(copy) || copy.is_small || copy.bytes == 0) continue;
    if (auto const peak = peak_of(facts, copy))
      look_at_pageable(facts, copy, *peak, found);
    else
      look_at_pageable_without_peak(facts, copy, found);
  }
}

void look_at_synchronous_copies(run_facts const& facts, std::vector<finding>& found) {
  auto const idle = idle_behind_copies(facts, false);
  if (!idle.any()) return;
  finding one;
  one.what = "the program waits for copies, and the GPU idles until it launches again";
  one.call = majority(idle.by_call);
  one.range = majority(idle.by_range);
  one.instances = idle.count;
  one.bucket = time_bucket::synchronization;
  one.gain = bound_of(facts).gain(idle.idle_ns, idle.sure_ns);
  one.removed_wait_ns = one.gain.high_ns;
  if (!one.call.empty())
    one.repairs = {
        {.kind = replay::repair_kind::drop_calls, .names = {one.call}, .within = one.range}};
  one.because = {
      {"idle behind one", idle.idle_ns / static_cast<double>(idle.count), "ns", "traced"},
      {"waits", static_cast<double>(idle.count), "", "traced"}};
  one.to_do =
      "Copy with cudaMemcpyAsync (.to(device, non_blocking=True), .copy_(x, "
      "non_blocking=True)) from or to pinned memory, and wait for its event only where the "
      "data is needed.";
  one.arithmetic = "the GPU idles " + in_time(idle.idle_ns) + " behind " +
                   in_count(static_cast<double>(idle.count)) + " copies";
  found.push_back(std::move(one));
}

void look_at_copies_alone(run_facts const& facts, std::vector<finding>& found) {
  double compute = 0;
  for (auto const& device : facts.devices)
    compute +=
        device.ledger[time_bucket::compute] + device.ledger[time_bucket::compute_and_communication];
  for (auto const& copy : facts.copies) look_at_alone(facts, copy, compute, found);
}

void look_at_small_copies(run_facts const& facts, std::vector<finding>& found) {
  for (auto const& copy : facts.copies) look_at_small(facts, copy, found);
}

void look_at_round_trips(run_facts const& facts, std::vector<finding>& found) {
  for (auto const& there : facts.copies)
    for (auto const& back : facts.copies) {
      if (!is_there_and_back(there, back)) continue;
      auto const idle = idle_of(facts, [&](auto const& gap) {
        return is_behind_copy(gap) && gap.range == there.range && gap.device == there.device;
      });
      auto one = of_line(there);
      one.what = "as many bytes are copied to the host as come back: " +
                 in_time(there.total_ns + back.total_ns) + " of copies";
      one.because = {{"bytes each way", static_cast<double>(there.bytes), "B", "traced"},
                     {"copies each way", static_cast<double>(there.count), "", "traced"}};
      one.gain = {0, there.alone_ns + back.alone_ns + idle.idle_ns};
      one.repairs = {repair_of(there, replay::repair_kind::drop),
                     repair_of(back, replay::repair_kind::drop)};
      for (auto const& [call, ns] : idle.by_call)
        if (!call.empty())
          one.repairs.push_back(
              {.kind = replay::repair_kind::drop_calls, .names = {call}, .within = there.range});
      one.condition = "the work between the two copies can run on the GPU";
      one.further_buckets = {time_bucket::synchronization};
      one.to_do =
          "Keep the data on the GPU: do the work between the two copies there (no .cpu(), "
          ".numpy() and .to(device) on the way).";
      one.arithmetic = "copies alone, " + in_time(there.alone_ns + back.alone_ns) +
                       ", and idle time behind them, " + in_time(idle.idle_ns);
      found.push_back(std::move(one));
    }
}

}  // namespace gpuprof::host::advice
