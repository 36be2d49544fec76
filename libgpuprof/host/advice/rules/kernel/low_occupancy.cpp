// SPDX-License-Identifier: Apache-2.0
// Rules on SMs with too few warps to hide latency, and on what limits their number.
#include "host/advice/kernel_caps.hpp"
#include "host/advice/product_name.hpp"
#include "host/advice/rules/kernel/kernel_view.hpp"
#include "host/advice/wording.hpp"

#include <algorithm>

namespace gpuprof::host::advice {
namespace {

constexpr double low_occupancy = 0.5;

/// True for stall reasons that more warps can hide.
bool is_hidden_by_warps(stall_reason reason) noexcept {
  return reason == stall_reason::long_scoreboard || reason == stall_reason::wait ||
         reason == stall_reason::short_scoreboard;
}

/// Kernels that load while they compute products, and attention kernels, have few warps by design
/// and keep the SM busy with them. More warps help them only if counters show waits for data.
bool has_few_warps_by_design(kernel_view const& view) {
  auto const product = parse_product(view.kernel.name);
  return (product && product->on_tensor_cores) || reachable_share_of(view.kernel) < reachable_share;
}

/// `top`: the main stall reason; nothing: not counted.
bool more_warps_may_help(kernel_view const& view, std::optional<top_stall> const& top) {
  return top ? is_hidden_by_warps(top->reason) : !has_few_warps_by_design(view);
}

std::uint32_t shared_bytes(kernel_view const& view) noexcept {
  return view.kernel.shape.static_shared_bytes + view.kernel.shape.dynamic_shared_bytes;
}

/// "168 registers x 384 threads", "100352 bytes of shared memory".
std::string limiters(kernel_view const& view, occupancy const& now) {
  std::string text;
  auto const add = [&](bool limits, std::string const& what) {
    if (limits) text += (text.empty() ? "" : " and ") + what;
  };
  auto const threads = std::to_string(view.threads_per_block());
  add(now.limited_by_registers(), std::to_string(view.kernel.shape.registers_per_thread) +
                                      " registers x " + threads + " threads");
  add(now.limited_by_shared_memory(),
      std::to_string(shared_bytes(view)) + " bytes of shared memory");
  add(now.limited_by_warps(), "a block of " + threads + " threads");
  add(now.limited_by_blocks(), "the number of blocks an SM can hold");
  return text;
}

std::string to_change(occupancy_step const& step) {
  std::string text;
  auto const add = [&](std::optional<std::uint32_t> to, std::string const& what) {
    if (to) text += (text.empty() ? "" : " and ") + std::to_string(*to) + what;
  };
  add(step.registers_per_thread, " registers a thread");
  add(step.shared_bytes, " bytes of shared memory a block");
  add(step.threads_per_block, " threads a block");
  return text;
}

/// The occupancy if registers and shared memory no longer limited it where they do now: the lowest
/// of the other limits.
double share_without_limiter(occupancy const& now) noexcept {
  auto least = std::min(now.limits.by_warps, now.limits.by_blocks);
  if (!now.limited_by_registers()) least = std::min(least, now.limits.by_registers);
  if (!now.limited_by_shared_memory()) least = std::min(least, now.limits.by_shared_memory);
  return now.share * least / now.blocks_per_sm;
}

/// More blocks per SM help only if the grid has more blocks.
bool has_blocks_waiting(kernel_view const& view, occupancy const& now) {
  auto const waves = waves_of(view.kernel.shape, now, view.sm_count());
  return waves && *waves > 1;
}

/// The share of the time that remains at a higher occupancy, if only occupancy limits the kernel.
double remaining(double now, double then, double best_share) noexcept {
  return std::max(now / then, best_share / reachable_share);
}

}  // namespace

void look_at_occupancy(kernel_view const& view, std::vector<finding>& found) {
  auto const now = view.theoretical_occupancy();
  auto const top = view.seen.longest_wait();
  if (!now || now->share >= low_occupancy || !view.is_latency_bound() ||
      !more_warps_may_help(view, top) || !has_blocks_waiting(view, *now))
    return;
  auto const step = next_step(view.kernel.shape, *now, *view.sm());
  if (!step) return;
  auto const best = *view.best_share();
  auto const warps = static_cast<double>(now->blocks_per_sm * now->warps_per_block);
  auto const next = now->share * step->blocks_per_sm / now->blocks_per_sm;
  auto const without = std::max(next, share_without_limiter(*now));
  auto one = finding_on(view, "low_occupancy", kernel_claim::cause,
                        "too few warps to hide latency: " + limiters(view, *now) + " allow " +
                            std::to_string(now->blocks_per_sm) +
                            (now->blocks_per_sm == 1 ? " block" : " blocks") + " on an SM");
  one.because = {{"theoretical occupancy", now->share, "", "computed"},
                 {"of the roof", best, "", view.source_of_best()},
                 {"warps on an SM", warps, "", "computed"}};
  one.gain = possible(view.time() * std::max(0.0, 1 - remaining(now->share, without, best)));
  one.arithmetic = "high: time x (1 - max(occupancy now / without this limiter, share / 0.8)) = " +
                   in_time(view.time()) + " x (1 - max(" + as_figure(now->share) + " / " +
                   as_figure(without) + ", " + as_figure(best) + " / 0.8)); low: ";
  if (top) {
    one.because.insert(one.because.begin() + 1, {"stalled: " + std::string(name_of(top->reason)),
                                                 top->share, "", "counted"});
    one.gain.low_ns = view.time() * std::max(0.0, 1 - remaining(now->share, next, best)) / 2;
    one.arithmetic += "half of the same with one block more (" + as_figure(next) + ")";
  } else {
    one.arithmetic += "0, for what warps wait for was not counted";
  }
  one.to_do = "For " + std::to_string(step->blocks_per_sm) + " blocks on each SM: at most " +
              to_change(*step) + ". Fewer registers may spill.";
  found.push_back(std::move(one));
}

}  // namespace gpuprof::host::advice
