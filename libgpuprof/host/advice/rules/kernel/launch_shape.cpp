// SPDX-License-Identifier: Apache-2.0
// Rules on launches whose grid or block leaves parts of the GPU without work.
#include "host/advice/rules/kernel/kernel_view.hpp"
#include "host/advice/wording.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof::host::advice {
namespace {

constexpr double shortest_ns = 5'000;  // shorter launches are dominated by their start and end
constexpr double small_grid_window_share = 0.02;
constexpr double noticeable_tail = 0.1;
constexpr double blocks_differ = 1.1;  // blocks of one wave do not all take the same time
constexpr double noticeable_imbalance = 0.05;
constexpr std::uint32_t warp = 32;

/// The share of the kernel's time that SMs are idle in the last wave.
std::optional<double> waste_of_tail(double waves) {
  if (waves <= 1) return std::nullopt;
  auto const whole = std::ceil(waves - 1e-9);
  return (whole - waves) / whole;
}

}  // namespace

void look_at_small_grid(kernel_view const& view, std::vector<finding>& found) {
  auto const sms = static_cast<double>(view.sm_count());
  if (sms == 0 || view.blocks() >= sms || view.blocks() == 0 || !view.is_alone() ||
      view.mean_ns() <= shortest_ns || view.window_share < small_grid_window_share)
    return;
  auto one = finding_on(view, "small_grid", kernel_claim::cause,
                        "has " + as_figure(view.blocks()) + " blocks, so " +
                            as_figure(sms - view.blocks()) + " of the " + as_figure(sms) +
                            " SMs are idle");
  one.because = {{"blocks", view.blocks(), "", "traced"}, {"SMs", sms, "", "traced"}};
  one.gain = possible(view.time() * (1 - view.blocks() / sms));
  // if that rule found something, there is work to run beside it
  one.yields_to = "serialized_streams";
  one.arithmetic = "high: time x (1 - blocks / SMs) = " + in_time(view.time()) + " x (1 - " +
                   as_figure(view.blocks()) + " / " + as_figure(sms) +
                   "); low: 0, for the work may not be divisible";
  one.to_do =
      "Divide the work into at least one block for each SM (smaller tiles, split-K, several "
      "blocks for a row), or run it beside other kernels in another stream.";
  found.push_back(std::move(one));
}

void look_at_tail(kernel_view const& view, std::vector<finding>& found) {
  auto const fits = view.theoretical_occupancy();
  auto const waves = fits ? waves_of(view.kernel.shape, *fits, view.sm_count()) : std::nullopt;
  auto const waste = waves ? waste_of_tail(*waves) : std::nullopt;
  if (!waste || *waste < noticeable_tail || view.mean_ns() <= shortest_ns || !view.is_alone())
    return;
  auto const idle = view.seen.idle_sms;
  if (idle && *idle < *waste / 2) return;  // blocks of different length make up for it
  auto one = finding_on(view, "tail", kernel_claim::cause,
                        (idle ? "" : "possibly: ") + std::string("its blocks fill the GPU ") +
                            as_figure(*waves) + " times: the last wave leaves SMs idle");
  one.because = {{"waves", *waves, "", "traced"}, {"idle in the tail", *waste, "", "traced"}};
  if (idle) one.because.push_back({"SM time idle", *idle, "", "counted"});
  auto const high = std::min(1.0, *waste * blocks_differ) * view.time();
  one.gain = {idle ? std::min(*waste, *idle) / 2 * view.time() : 0, high};
  one.arithmetic =
      "high: time x idle part of the waves x 1.1 (blocks differ) = " + in_time(view.time()) +
      " x " + as_figure(*waste) + " x 1.1; low: " +
      (idle ? "half of time x counted idle SM time" : "0, for idle SMs were not counted");
  one.to_do = "Choose blocks so that they fill whole waves (" +
              as_figure(static_cast<double>(view.sm_count()) * fits->blocks_per_sm) +
              " blocks each), many small ones, or a grid of one wave whose blocks loop over the "
              "work.";
  found.push_back(std::move(one));
}

void look_at_block_size(kernel_view const& view, std::vector<finding>& found) {
  auto const threads = view.threads_per_block();
  auto const rest = threads % warp;
  if (rest == 0) return;
  auto const warps = (threads + warp - 1) / warp;
  auto const idle = (1 - static_cast<double>(rest) / warp) / warps;
  auto const share = view.best_share();
  auto one = finding_on(
      view, "block_size", kernel_claim::cause,
      "a block of " + std::to_string(threads) + " threads leaves part of its last warp idle");
  one.because = {{"threads of a block", static_cast<double>(threads), "", "traced"},
                 {"idle lanes", idle, "", "traced"}};
  one.gain = possible(view.time() * idle * share.value_or(1));
  one.arithmetic = "high: time x idle lanes" + std::string(share ? " x share of the roof" : "") +
                   " = " + in_time(view.time()) + " x " + as_figure(idle) +
                   (share ? " x " + as_figure(*share) : std::string()) + "; low: 0";
  one.to_do = "Use a multiple of 32 threads in a block, best 128 or 256.";
  found.push_back(std::move(one));
}

void look_at_imbalance(kernel_view const& view, std::vector<finding>& found) {
  auto const idle = view.seen.idle_sms;
  if (!idle || *idle < noticeable_imbalance || !view.is_alone()) return;
  auto one = finding_on(view, "imbalance", kernel_claim::symptom,
                        "SMs wait " + in_percent(*idle) + " of its time for the one that is last");
  one.because = {{"SM time idle", *idle, "", "counted"}, {"blocks", view.blocks(), "", "traced"}};
  one.gain = founded(view.time() * *idle);
  one.arithmetic =
      "high: time x (1 - mean / greatest active cycles of the SMs) = " + in_time(view.time()) +
      " x " + as_figure(*idle) + "; low: half of it";
  one.to_do =
      "Make blocks smaller and more equal, start the long ones first, or let blocks fetch "
      "their work from a counter.";
  found.push_back(std::move(one));
}

}  // namespace gpuprof::host::advice
