// SPDX-License-Identifier: Apache-2.0
#include "host/advice/rules/kernel/kernel_view.hpp"

#include "host/advice/wording.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace gpuprof::host::advice {
namespace {

constexpr std::uint64_t least_launches = 3;
constexpr auto first_tensor = static_cast<std::size_t>(precision::tensor_fp64);

struct name_sum {
  double time = 0;
  std::uint64_t launches = 0;
};

}  // namespace

double kernel_view::memory_share() const noexcept {
  return std::max(share_of(dram_roof), share_of(l2_roof));
}

bool kernel_view::is_latency_bound() const noexcept {
  auto const best = best_share();
  return best && *best < latency_bound_below && tensor_active() < latency_bound_below;
}

double kernel_view::blocks() const noexcept {
  auto const& grid = kernel.shape.grid;
  return static_cast<double>(grid.x) * grid.y * grid.z;
}

std::uint32_t kernel_view::threads_per_block() const noexcept {
  auto const& block = kernel.shape.block;
  return block.x * block.y * block.z;
}

std::optional<sm_limits> kernel_view::sm() const {
  return gpu == nullptr ? std::nullopt : sm_limits_of(gpu->record);
}

std::optional<occupancy> kernel_view::theoretical_occupancy() const {
  auto const limits = sm();
  return limits ? occupancy_of(kernel.shape, *limits) : std::nullopt;
}

std::optional<double> kernel_view::peak(std::string_view test) const {
  if (gpu == nullptr || !gpu->peak) return std::nullopt;
  auto const value = gpu->peak(test);
  return value && *value > 0 ? value : std::nullopt;
}

std::optional<double> kernel_view::tensor_rate() const noexcept {
  double all = 0;
  for (auto i = first_tensor; i < precision_count; ++i) all += kernel.figures.flops[i].value_or(0);
  return all > 0 ? std::optional(all) : std::nullopt;
}

std::optional<precision> kernel_view::tensor_precision() const noexcept {
  auto const& rates = kernel.figures.flops;
  auto const* const greatest =
      std::max_element(rates.begin() + first_tensor, rates.end(),
                       [](auto const& a, auto const& b) { return a.value_or(0) < b.value_or(0); });
  if (greatest->value_or(0) <= 0) return std::nullopt;
  return static_cast<precision>(greatest - rates.begin());
}

std::vector<kernel_view> kernels_worth_a_look(run_facts const& facts, double least_window_share) {
  std::map<std::pair<std::string_view, device_id>, name_sum> names;
  for (auto const& kernel : facts.kernels) {
    auto& of_name = names[{kernel.name, kernel.device}];
    of_name.time += kernel.total_ns;
    of_name.launches += kernel.launches;
  }
  std::vector<kernel_view> views;
  for (std::size_t line = 0; line < facts.kernels.size(); ++line) {
    auto const& kernel = facts.kernels[line];
    auto const& of_name = names[{kernel.name, kernel.device}];
    if (kernel.is_communication || kernel.launches == 0 || of_name.launches < least_launches ||
        of_name.time < least_window_share * facts.window_ns)
      continue;
    kernel_view view{facts, kernel, facts.device(kernel.device), line, {}, 0};
    view.seen = derive(kernel, view.sm_count());
    view.window_share = facts.window_ns > 0 ? of_name.time / facts.window_ns : 0;
    views.push_back(view);
  }
  return views;
}

finding finding_on(kernel_view const& view, std::string_view rule, kernel_claim claim,
                   std::string what) {
  finding one;
  one.rule = rule;
  one.what = std::move(what);
  one.device = view.kernel.device;
  one.range = view.kernel.range;
  one.kernel = view.kernel.name;
  auto const& shape = view.kernel.shape;
  one.geometry = shape.has_geometry()
                     ? "grid " + as_text(shape.grid) + ", block " + as_text(shape.block)
                     : "grid not recorded";
  one.instances = view.kernel.launches;
  one.bucket = time_bucket::compute;
  one.claim = claim;
  one.kernel_line = view.line;
  return one;
}

}  // namespace gpuprof::host::advice
