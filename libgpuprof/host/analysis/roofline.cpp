// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/roofline.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof::host {

roofline::roofline(workload_metrics const& metrics, workload_times const& times,
                   std::map<device_id, roofline_device> const& devices,
                   std::span<kernel_shape const> shapes, kernel_codes const& codes)
    : metrics_(metrics),
      times_(times),
      devices_(devices),
      tensor_rates_(
          metrics.exact(), times, shapes,
          [&](device_id id) -> chip_size {
            auto const device = devices.find(id);
            if (device == devices.end()) return {};
            return {device->second.chip, device->second.roofs.sm_count()};
          },
          codes),
      fma_rates_(
          metrics, times, shapes,
          [&](device_id id) -> std::string_view {
            auto const device = devices.find(id);
            return device == devices.end() ? std::string_view() : device->second.chip;
          },
          codes) {
  find_occupancy_limits(shapes);
  figures_.reserve(times.size());
  for (std::uint32_t i = 0; i < times.size(); ++i) {
    figures_.push_back(figures_of(i));
    if (times.is_level_above(i)) continue;
    auto const ns = times.time_of(i, times.tally(i));
    gpu_ns_ += ns;
    auto const& f = figures_.back();
    if (f.known_flop()) known_ns_ += ns;
    if (f.dram_bytes) dram_ns_ += ns;
    if (f.l2_bytes) l2_ns_ += ns;
    if (f.is_exact()) counted_ns_ += ns;
    if (f.flop.is_by_code) without_ns_ += ns;
    if (f.flop.tensor_alone) tensor_ns_ += ns;
    if (f.cycles_flop) cycles_ns_ += ns;
    if (f.cycles_bias > 0) planned_ns_ += ns;
    if (f.fma_flop) fma_ns_ += ns;
    if (!f.read_by_ranks.empty()) other_ranks_ns_ += ns;
  }
}

workload_figures roofline::figures_of(std::uint32_t workload) const {
  auto const& id = times_.id(workload);
  auto const device = devices_.find(id.device);
  workload_figures f;
  auto const& counted = metrics_.counted_as(id);
  f.samples = metrics_.exact().samples_of(counted);
  f.read_by_ranks = metrics_.exact().adopted_from(counted);
  f.mean_ns = times_.undisturbed_mean(workload);
  f.flop =
      count_flop(metrics_.exact(), counted, device != devices_.end() ? device->second.chip : "",
                 tensor_rates_.code_of(id));
  read_units(f, id);
  read_tensor_cycles(f, id);
  read_fma_instructions(f, id);
  if (device == devices_.end()) return f;
  if (auto const greatest = device->second.roofs.greatest_clock(); f.clock && greatest > 0)
    f.clock_loss = std::max(0.0, 1 - *f.clock / greatest);
  compare(f, id);
  return f;
}

void roofline::read_units(workload_figures& f, workload_id const& id) const {
  auto const note = [&](std::optional<workload_figure> const& found, figure_source& from) {
    if (!found) return found;
    from = both(from, found->source);
    f.from.is_shared = f.from.is_shared || found->is_shared;
    return found;
  };
  auto const read = [&](std::string_view metric, figure_source& from) {
    return note(metrics_.find(id, metric), from);
  };
  auto const read_first = [&](std::span<std::string_view const> names) {
    std::optional<workload_figure> found;
    for (auto const name : names)
      if (!found) found = metrics_.find(id, name);
    return found;
  };
  auto const in = read_first(dram_read_names), out = read_first(dram_write_names);
  if (in && out) {
    f.dram_bytes = in->mean + out->mean;
    f.dram_written = out->mean;
    f.dram_error = std::hypot(in->error, out->error);
    f.from.dram = both(in->source, out->source);
    f.from.is_shared = in->is_shared || out->is_shared;
  }
  if (auto const l2 = read(l2_bytes_name, f.from.l2)) {
    f.l2_bytes = l2->mean;
    f.l2_error = l2->error;
  }
  if (auto const clock = note(metrics_.find_in_run(id, sm_clock_name), f.from.clock)) {
    f.clock = clock->mean;
    f.clock_error = clock->error;
  }
  read_occupancy(f, id);
}

void roofline::find_occupancy_limits(std::span<kernel_shape const> shapes) {
  for (auto const& [device, of] : devices_)
    for (auto const& shape : shapes)
      if (auto const limit = of.sm ? occupancy_of(shape, *of.sm) : std::nullopt)
        occupancy_limits_[{device, shape.id}] = limit->share;
}

/// A kernel that has the GPU to itself cannot have more warps than fit on an SM. If samples say
/// more, they are wrong by at least the difference: the figure is the limit, and the difference
/// counts as error.
void roofline::read_occupancy(workload_figures& f, workload_id const& id) const {
  auto const percent = metrics_.find(id, occupancy_name);
  if (!percent) return;
  f.from.occupancy = percent->source;
  f.from.is_shared = f.from.is_shared || percent->is_shared;
  f.occupancy = percent->mean / 100;
  f.occupancy_error = percent->error / 100;
  auto const limit = occupancy_limits_.find({id.device, id.shape});
  bool const is_estimate =
      percent->source == figure_source::fitted || percent->source == figure_source::sampled;
  if (!is_estimate || percent->is_shared || limit == occupancy_limits_.end()) return;
  auto const above = *f.occupancy - limit->second;
  if (above <= 0) return;
  f.occupancy = limit->second;
  f.occupancy_error = std::hypot(f.occupancy_error, above);
}

/// Sets how busy the tensor cores were and, if their FLOP were not counted, estimates them from the
/// cycles.
void roofline::read_tensor_cycles(workload_figures& f, workload_id const& id) const {
  auto const tensor = metrics_.find(id, tensor_cycles_of_sm);
  auto const active = metrics_.find(id, active_cycles_of_sm);
  if (!tensor) return;
  if (active && active->mean > 0) {
    // the counter is summed over four parts of an SM
    f.tensor_active = tensor->mean / active->mean / 4;
    f.from.tensor = both(tensor->source, active->source);
    auto const of_active = *f.tensor_active * active->error;
    f.tensor_error = std::hypot(tensor->error / 4, of_active) / active->mean;
  }
  if (f.flop.total || f.flop.tensor_alone || !(tensor->mean > 0)) return;
  auto const rate = tensor_rates_.of(id);
  if (!rate) return;
  // If some operations of this precision were counted around launches, that value is better, even
  // if not complete.
  for (auto const& part : flop_parts(metrics_.exact(), metrics_.counted_as(id)))
    if (part.counter->of == rate->of) return;
  if (f.flop[rate->of]) return;
  f.cycles_flop = tensor->mean * rate->operations;
  f.cycles_error = std::hypot(tensor->error * rate->operations, rate->error * *f.cycles_flop);
  f.cycles_bias = rate->bias * *f.cycles_flop;
  f.cycles_are_sampled = tensor->source != figure_source::exact;
  f.cycles_peak = rate->peak_test;
  f.cycles_precision = rate->of;
  f.flop.of[static_cast<std::size_t>(rate->of)] = f.cycles_flop;
  f.flop.is_missing[static_cast<std::size_t>(rate->of)] = false;
  auto const& missing = f.flop.is_missing;
  if (std::find(missing.begin(), missing.end(), true) != missing.end()) return;
  double all = 0;  // the machine code has no other FLOP, or they were counted
  for (auto const& operations : f.flop.of) all += operations.value_or(0);
  f.flop.total = all;
}

/// Estimates the FLOP of CUDA cores if nothing was counted, for kernels that only use CUDA cores.
void roofline::read_fma_instructions(workload_figures& f, workload_id const& id) const {
  if (f.known_flop()) return;
  auto const instructions = metrics_.find(id, fma_instructions_of_gpu);
  if (!instructions || !(instructions->mean > 0)) return;
  auto const rate = fma_rates_.of(id);
  if (!rate) return;
  auto const put = [&](precision p, double operations) {
    auto const index = static_cast<std::size_t>(p);
    if (!f.flop.is_missing[index]) return;
    f.flop.of[index] = operations;
    f.flop.is_missing[index] = false;
  };
  put(precision::fp32, instructions->mean * rate->fp32);
  put(precision::fp16, instructions->mean * rate->fp16);
  auto const& missing = f.flop.is_missing;
  if (std::find(missing.begin(), missing.end(), true) != missing.end()) return;
  f.fma_flop = 0;
  for (auto const& operations : f.flop.of) *f.fma_flop += operations.value_or(0);
  f.flop.total = f.fma_flop;
  f.fma_error = *f.fma_flop * instructions->error / instructions->mean;
  f.fma_below = *f.fma_flop * rate->below;
  f.fma_above = *f.fma_flop * rate->above;
  f.fma_is_limit = rate->is_limit;
}

/// Computes the share of each roof, the highest share and what the workload is bound by.
void roofline::compare(workload_figures& f, workload_id const& id) const {
  auto const& roofs = devices_.at(id.device).roofs;
  if (!f.mean_ns || !(*f.mean_ns > 0) || roofs.empty()) return;
  auto const share_of = [&](double amount, std::optional<double> roof) -> std::optional<double> {
    if (!roof) return std::nullopt;
    return amount / (*f.mean_ns / 1e9) / *roof;
  };
  if (f.dram_bytes) {
    auto const write_share = *f.dram_bytes > 0 ? *f.dram_written / *f.dram_bytes : 0;
    f.shares[dram_roof] = share_of(*f.dram_bytes, roofs.dram(write_share));
  }
  // L2 has a clock of its own: its rate is the same at all SM clocks from 1400 to 1800 MHz.
  if (f.l2_bytes) f.shares[l2_roof] = share_of(*f.l2_bytes, roofs.burst("l2_read"));
  bool every_roof = f.flop.total || f.cycles_flop;  // same as in judge_by_own_figures
  for (std::size_t p = 0; p < precision_count; ++p)
    if (f.flop.of[p] && *f.flop.of[p] == 0) f.shares[compute_roofs + p] = 0;
  auto const add_share = [&](std::size_t p, double operations, std::string_view peak_test) {
    if (!f.flop.of[p] || !f.clock) return;
    auto const share = share_of(operations, roofs.at_clock(peak_test, *f.clock));
    auto& sum = f.shares[compute_roofs + p];
    if (share)
      sum = sum.value_or(0) + *share;
    else
      every_roof = false;
  };
  for (auto const& part : flop_parts(metrics_.exact(), metrics_.counted_as(id)))
    add_share(static_cast<std::size_t>(part.counter->of), part.operations, part.counter->peak_test);
  // An uncertain estimate can show that a roof is far, but not which roof is near.
  auto const add_estimate = [&](precision p, std::string_view peak_test) {
    auto const operations = f.flop[p].value_or(0);
    if (!(operations > 0)) return;
    auto const share =
        f.clock ? share_of(operations, roofs.at_clock(peak_test, *f.clock)) : std::nullopt;
    auto const unsure = (f.fma_error + f.fma_above) / *f.fma_flop;
    if (share && *share * (1 + 2 * unsure) < latency_bound_below)
      f.shares[compute_roofs + static_cast<std::size_t>(p)] = share;
    else
      every_roof = false;
  };
  if (f.fma_flop) {
    add_estimate(precision::fp32, "fp32");
    add_estimate(precision::fp16, "fp16");
  }
  if (f.cycles_flop)
    add_share(static_cast<std::size_t>(f.cycles_precision), *f.cycles_flop, f.cycles_peak);
  limit_shares(f.shares);
  every_roof = every_roof && f.shares[dram_roof] && f.shares[l2_roof];

  if (auto const found = highest_share(f.shares, every_roof, f.tensor_active)) {
    f.best = found->share;
    f.bound = found->bound;
  }
}

}  // namespace gpuprof::host
