// SPDX-License-Identifier: Apache-2.0
#include "host/advice/recorded_work.hpp"

#include <algorithm>
#include <string_view>

namespace gpuprof::host::advice {
namespace {

constexpr double fast = 0.4;  // of the DRAM rate

template <class Shares, class Key>
std::optional<double> share_of(Shares const& shares, Key const& key) {
  auto const share = shares.find(key);
  return share != shares.end() ? std::optional(share->second) : std::nullopt;
}

/// Names of cuBLAS have the types of both inputs and of the result: t is BF16, h is FP16.
bool is_of_16_bits(std::string_view product) noexcept {
  for (std::string_view const type :
       {"bf16", "bfloat16", "BFloat16", "f16", "half", "Half", "_tst_", "_tss_", "_hsh_", "_hss_"})
    if (product.find(type) != product.npos) return true;
  return false;
}

/// What the code of a kernel has, it may do seldom: one that moves bytes fast does not wait for
/// atomics, nor does one that computes, as far as is known.
kernel_work seen_in_counters(kernel_work work, std::optional<double> share_of_dram) {
  auto const is_slow = share_of_dram ? *share_of_dram < fast : work.kind == kernel_kind::moves;
  work.adds_by_atomics &= is_slow;
  return work;
}

}  // namespace

recorded_work::recorded_work(replay::recorded_steps const& steps, run_facts const& facts,
                             line_of_stack const& line_of)
    : steps_(steps) {
  find_lines(line_of);
  for (auto const& name : steps.work_names) works_.push_back(work_of(name));
  for (auto const& kernel : facts.kernels) {
    kernel_key const key{raw(kernel.device), raw(kernel.shape.id)};
    auto const& figures = kernel.figures;
    auto const* const device = facts.device(kernel.device);
    auto const peak = device != nullptr && device->peak ? device->peak("dram_read") : std::nullopt;
    if (peak && figures.dram_rate && *figures.dram_rate > 0)
      dram_shares_[key] = *figures.dram_rate / *peak;
    if (kernel.work.is_told_by_code)
      told_by_code_[key] = seen_in_counters(kernel.work, share_of(dram_shares_, key));
    double most = 0;
    for (auto roof = compute_roofs; roof < figures.shares.size(); ++roof)
      most = std::max(most, figures.shares[roof].value_or(0));
    if (most > 0) computing_[key] = std::min(1.0, most);
  }
  for (number i = 0; i < steps.items.size() && !has_products_of_16_bits_; ++i)
    has_products_of_16_bits_ = is_product(i) && is_of_16_bits(name(i));
  for (auto const& range : steps.ranges)
    if (range.is_step) step_begins_.push_back(range.begin_ns);
  for (auto const& call : steps.calls)
    if (is_wait(call.kind)) waits_.push_back(call.begin_ns);
  std::sort(step_begins_.begin(), step_begins_.end());
  std::sort(waits_.begin(), waits_.end());
}

void recorded_work::find_lines(line_of_stack const& line_of) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint32_t, std::size_t>> alike;
  lines_ = {""};
  std::map<std::string, std::uint32_t> known = {{"", 0}};
  std::map<std::uint32_t, std::uint32_t> of_stack;
  for (auto const& one : steps_.items) {
    if (one.stack == 0) continue;
    auto const [at, is_new] = of_stack.try_emplace(one.stack, 0);
    if (is_new) {
      auto line = line_of ? line_of(one.stack) : std::string();
      auto const [place, is_new_line] =
          known.try_emplace(line, static_cast<std::uint32_t>(lines_.size()));
      if (is_new_line) lines_.push_back(std::move(line));
      at->second = place->second;
    }
    ++alike[{one.name, one.shape}][at->second];
  }
  for (auto const& one : steps_.items) {
    std::uint32_t line = 0;
    if (one.stack != 0) {
      line = of_stack[one.stack];
    } else if (auto const at = alike.find({one.name, one.shape}); at != alike.end()) {
      line = std::max_element(at->second.begin(), at->second.end(), [](auto& a, auto& b) {
               return a.second < b.second;
             })->first;
    }
    line_of_item_.push_back(line);
  }
}

kernel_work recorded_work::work(number i) const {
  auto const& of = item(i);
  if (of.kind == replay::work_kind::kernel) {
    if (of.name < works_.size() && works_[of.name].kind != kernel_kind::other)
      return works_[of.name];
    auto const told = told_by_code_.find(key_of(i));
    return told != told_by_code_.end() ? told->second : kernel_work();
  }
  if (of.kind == replay::work_kind::fill)  // mostly of workspaces of products
    return {.kind = kernel_kind::moves, .does = "fills tensors", .is_of_library = true};
  if (name(i).find("Device-to-Device") != std::string::npos)
    return {kernel_kind::moves, "copies tensors"};
  return {};  // other copies have rules of their own
}

std::size_t recorded_work::step_of(number i) const {
  return static_cast<std::size_t>(
      std::upper_bound(step_begins_.begin(), step_begins_.end(), item(i).launched_ns) -
      step_begins_.begin());
}

bool recorded_work::are_in_one_row(number a, number b) const {
  if (step_of(a) != step_of(b)) return false;
  auto const wait = std::upper_bound(waits_.begin(), waits_.end(), item(a).launched_ns);
  return wait == waits_.end() || *wait >= item(b).launched_ns;
}

bool recorded_work::is_of_mask(number i) const {
  auto const& kernel = name(i);
  return kernel.find("DeviceSelect") != kernel.npos ||
         kernel.find("DeviceCompact") != kernel.npos || kernel.find("nonzero") != kernel.npos;
}

double recorded_work::computing_ns(std::span<number const> items) const {
  double sum = 0;
  for (auto const i : items) {
    auto const share = computing_.find(key_of(i));
    sum += ns(i) * (share != computing_.end() ? share->second : 1);
  }
  return sum;
}

recorded_work::number recorded_work::longest_of(std::span<number const> items) const {
  return *std::max_element(items.begin(), items.end(),
                           [&](auto a, auto b) { return ns(a) < ns(b); });
}

std::optional<double> recorded_work::share_of_dram(number i) const {
  return share_of(dram_shares_, key_of(i));
}

traffic recorded_work::traffic_of(number i) const {
  auto const moved = ns(i) * share_of_dram(i).value_or(1);
  auto const kind = work(i).kind;
  if (is_fill(i) || kind == kernel_kind::random) return {0, moved};
  if (kind == kernel_kind::reduction && name(i).find("reduce") != std::string::npos)
    return {moved, 0};
  return {moved / 2, moved / 2};
}

}  // namespace gpuprof::host::advice
