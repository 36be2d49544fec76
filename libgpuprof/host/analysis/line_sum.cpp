// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/line_sum.hpp"

namespace gpuprof::host {
namespace {

void add_sources(figure_sources& all, figure_sources const& more) noexcept {
  all.dram = both(all.dram, more.dram);
  all.l2 = both(all.l2, more.l2);
  all.clock = both(all.clock, more.clock);
  all.occupancy = both(all.occupancy, more.occupancy);
  all.tensor = both(all.tensor, more.tensor);
  all.is_shared = all.is_shared || more.is_shared;
}

/// Sets `value` only if it is known for enough of the line's time.
template <class Mean>
void take(Mean const& mean, double share, std::optional<double>& value) {
  if (share >= least_known_share) value = mean.value();
}
template <class Mean>
void take(Mean const& mean, double share, std::optional<double>& value,
          std::optional<double>& error) {
  take(mean, share, value);
  if (share >= least_known_share) error = mean.error();
}

}  // namespace

void line_sum::add(workload_figures const& f, double n, double ns) {
  launches_ += n;
  begun_.samples += f.samples;
  begun_.read_by_ranks.insert(f.read_by_ranks.begin(), f.read_by_ranks.end());
  begun_.total_ns += ns;
  if (!f.mean_ns) return;  // all launches were slowed
  known_launches_ += n;
  known_ns_ += *f.mean_ns * n;
  part_time const time{ns, *f.mean_ns * n};
  add_flop(f, n, time);
  if (f.is_exact()) counted_ns_ += ns;
  dram_.add(f.dram_bytes, n, time, f.dram_error);
  l2_.add(f.l2_bytes, n, time, f.l2_error);
  add_sources(begun_.from, f.from);
  intensity_.add(f.known_flop(), f.dram_bytes, n, time);
  l2_intensity_.add(f.known_flop(), f.l2_bytes, n, time);
  for (std::size_t i = 0; i < roof_count; ++i) shares_[i].add(f.shares[i], time);
  clock_.add(f.clock, time, f.clock_error);
  clock_loss_.add(f.clock_loss, time);
  occupancy_.add(f.occupancy, time, f.occupancy_error);
  tensor_.add(f.tensor_active, time, f.tensor_error);
}

void line_sum::add_flop(workload_figures const& f, double launches, part_time const& time) {
  for (std::size_t p = 0; p < precision_count; ++p) {
    auto const error = f.error_of(static_cast<precision>(p));
    flops_[p].add(f.flop.of[p], launches, time, error.by_chance, error.bias);
    is_not_judged_[p] =
        is_not_judged_[p] || (f.flop.of[p].value_or(0) > 0 && !f.shares[compute_roofs + p]);
  }
  auto const known = f.known_flop();
  is_whole_ = is_whole_ && (!known || f.flop.total);
  is_by_cycles_ = is_by_cycles_ || f.cycles_flop;
  is_sampled_ = is_sampled_ || f.cycles_are_sampled || f.fma_flop;
  is_by_code_ = is_by_code_ && (!known || f.flop.is_by_code);
  auto const error = f.flop_error();
  total_.add(known, launches, time, error.by_chance, error.bias);
  total_above_.add(known, launches, time, error.by_chance, error.bias_above);
  begun_.flops_are_limit = begun_.flops_are_limit || f.fma_is_limit;
}

flop_source line_sum::source() const noexcept {
  if (!total_.value()) return flop_source::not_measured;
  if (is_whole_ && is_sampled_) return flop_source::sampled;
  if (is_by_cycles_) return flop_source::tensor_cycles;
  if (!is_whole_) return flop_source::tensor_counted;
  return is_by_code_ ? flop_source::machine_code : flop_source::counted;
}

roofline_row line_sum::row(double gpu_ns) const {
  auto row = begun_;
  row.launches = static_cast<std::uint64_t>(std::llround(launches_));
  row.dram_bytes = dram_.amount();
  row.flop = total_.amount();
  for (std::size_t p = 0; p < precision_count; ++p) row.flop_of[p] = flops_[p].amount();
  row.time_share = gpu_ns > 0 ? row.total_ns / gpu_ns : 0;
  if (known_launches_ > 0) row.mean_ns = known_ns_ / known_launches_;
  row.source = source();
  row.exact_share = share_of(counted_ns_);
  row.known_share = share_of(total_.line_ns());
  row.known = {share_of(dram_.line_ns()), share_of(l2_.line_ns()), share_of(clock_.line_ns()),
               share_of(occupancy_.line_ns()), share_of(tensor_.line_ns())};
  take_rates(row);
  take_shares(row);
  return row;
}

void line_sum::take_rates(roofline_row& row) const {
  for (std::size_t p = 0; p < precision_count; ++p)
    take(flops_[p], share_of(flops_[p].line_ns()), row.flops[p], row.flops_error[p]);
  take(total_, row.known_share, row.total_flops, row.total_flops_error);
  if (row.total_flops && row.flops_are_limit) row.total_flops_above = total_above_.error();
  row.flops_are_limit = row.flops_are_limit && row.total_flops;
  take(dram_, row.known.dram, row.dram_rate, row.dram_error);
  take(l2_, row.known.l2, row.l2_rate, row.l2_error);
  take(intensity_, share_of(intensity_.line_ns()), row.intensity);
  take(l2_intensity_, share_of(l2_intensity_.line_ns()), row.l2_intensity);
  take(clock_, row.known.clock, row.clock, row.clock_error);
  take(clock_loss_, share_of(clock_loss_.line_ns()), row.clock_loss);
  take(occupancy_, row.known.occupancy, row.occupancy, row.occupancy_error);
  take(tensor_, row.known.tensor, row.tensor_active, row.tensor_active_error);
}

void line_sum::take_shares(roofline_row& row) const {
  for (std::size_t i = 0; i < roof_count; ++i)
    take(shares_[i], share_of(shares_[i].line_ns()), row.shares[i]);
  // The mean over workloads with a known share says nothing about the others.
  for (std::size_t p = 0; p < precision_count; ++p)
    if (is_not_judged_[p]) row.shares[compute_roofs + p].reset();
}

}  // namespace gpuprof::host
