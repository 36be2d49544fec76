// SPDX-License-Identifier: Apache-2.0
#include "host/advice/rules/kernel/kernel_view.hpp"

#include "host/advice/wording.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <utility>

namespace gpuprof::host::advice {
namespace {

using figure = std::optional<double>;

constexpr double schedulers_per_sm = 4;
constexpr double sector_bytes = 32;
constexpr double sectors_per_l1_cycle = 4;  // 128 bytes

constexpr std::array<std::string_view, stall_reason_count> reason_names = {
    "long_scoreboard", "short_scoreboard",   "wait", "barrier", "lg_throttle",
    "mio_throttle",    "math_pipe_throttle", "gmma"};

figure ratio(figure part, figure whole) {
  if (!part || !whole || *whole <= 0) return std::nullopt;
  return *part / *whole;
}

figure share(figure part, figure whole) {
  auto const all = ratio(part, whole);
  return all ? figure(std::clamp(*all, 0.0, 1.0)) : std::nullopt;
}

figure rest(figure taken) {
  return taken ? figure(1 - *taken) : std::nullopt;
}

/// The sum of the metrics that were read. Empty if the first one is missing.
figure sum(kernel_facts const& kernel, std::initializer_list<char const*> names) {
  figure all;
  for (auto const* const name : names) {
    auto const one = kernel.metric(name);
    if (one)
      all = all.value_or(0) + *one;
    else if (name == *names.begin())
      return std::nullopt;
  }
  return all;
}

/// Active cycles, summed over all SMs.
figure sm_cycles(kernel_facts const& kernel, std::uint32_t sm_count) {
  auto const mean = kernel.metric("sm__cycles_active.avg");
  return mean && sm_count != 0 ? figure(*mean * sm_count) : std::nullopt;
}

void add_stalls(kernel_facts const& kernel, derived_metrics& seen) {
  auto const active = kernel.metric("smsp__warps_active.sum");
  auto const issued = kernel.metric("smsp__issue_active.sum");
  if (!active || !issued) return;
  auto const ready = kernel.metric("smsp__warps_issue_stalled_not_selected.sum").value_or(0);
  for (std::size_t i = 0; i < stall_reason_count; ++i)
    seen.stall_shares[i] =
        share(kernel.metric("smsp__warps_issue_stalled_" + std::string(reason_names[i]) + ".sum"),
              *active - *issued - ready);
}

/// Use of sectors in one direction (load or store), and its weight.
struct used_sectors {
  figure use;
  double sectors = 0;
};

used_sectors use_of(kernel_facts const& kernel, std::string const& direction) {
  auto const bytes = kernel.metric("smsp__sass_average_data_bytes_per_sector_mem_global_op_" +
                                   direction + ".ratio");
  auto const sectors =
      kernel.metric("l1tex__t_sectors_pipe_lsu_mem_global_op_" + direction + ".sum");
  // CUPTI gives 0 for a ratio without any operations.
  if (!bytes || *bytes <= 0 || (sectors && *sectors <= 0)) return {};
  return {share(bytes, sector_bytes), sectors.value_or(1)};
}

figure use_of_sectors(kernel_facts const& kernel) {
  auto const loads = use_of(kernel, "ld"), stores = use_of(kernel, "st");
  if (!loads.use) return stores.use;
  if (!stores.use) return loads.use;
  return (*loads.use * loads.sectors + *stores.use * stores.sectors) /
         (loads.sectors + stores.sectors);
}

void add_shared_memory(kernel_facts const& kernel, figure cycles, derived_metrics& seen) {
  auto const wavefronts = sum(kernel, {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                                       "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"});
  auto const conflicts = sum(kernel, {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                                      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"});
  seen.conflict_share = share(conflicts, wavefronts);
  seen.shared_pipe_use = share(wavefronts, cycles);
}

void add_caches(kernel_facts const& kernel, figure cycles, derived_metrics& seen) {
  auto const sectors = kernel.metric("l1tex__t_sectors.sum");
  seen.l1_miss = rest(share(kernel.metric("l1tex__t_sectors_lookup_hit.sum"), sectors));
  seen.l1_share = share(sectors, cycles ? figure(*cycles * sectors_per_l1_cycle) : std::nullopt);
  auto const global = sum(kernel, {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                                   "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"});
  seen.other_sectors = rest(share(global, sectors));
  auto const l2_bytes = kernel.metric("lts__t_bytes.sum");
  seen.l2_miss = share(kernel.metric("lts__t_sectors_lookup_miss.sum"),
                       l2_bytes ? figure(*l2_bytes / sector_bytes) : std::nullopt);
}

}  // namespace

std::string source_text(figure_source source) {
  return source == figure_source::exact ? "counted" : std::string(name_of(source));
}

std::string_view name_of(stall_reason reason) noexcept {
  return reason_names[static_cast<std::size_t>(reason)];
}

std::optional<top_stall> derived_metrics::longest_wait() const noexcept {
  std::optional<top_stall> top;
  for (std::size_t i = 0; i < stall_reason_count; ++i)
    if (stall_shares[i] && (!top || *stall_shares[i] > top->share))
      top = top_stall{static_cast<stall_reason>(i), *stall_shares[i]};
  return top;
}

derived_metrics derive(kernel_facts const& kernel, std::uint32_t sm_count) {
  derived_metrics seen;
  if (kernel.metrics.empty()) return seen;
  auto const cycles = sm_cycles(kernel, sm_count);
  seen.issue_use = share(kernel.metric("smsp__issue_active.sum"),
                         cycles ? figure(*cycles * schedulers_per_sm) : std::nullopt);
  add_stalls(kernel, seen);
  seen.idle_sms =
      rest(share(kernel.metric("sm__cycles_active.avg"), kernel.metric("sm__cycles_active.max")));
  seen.sectors_per_load = ratio(kernel.metric("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
                                sum(kernel, {"smsp__inst_executed_op_global_ld.sum",
                                             "smsp__inst_executed_op_generic_ld.sum"}));
  seen.sector_use = use_of_sectors(kernel);
  add_shared_memory(kernel, cycles, seen);
  seen.threads_per_instruction = ratio(kernel.metric("smsp__thread_inst_executed_pred_on.sum"),
                                       kernel.metric("smsp__inst_executed.sum"));
  add_caches(kernel, cycles, seen);
  return seen;
}

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

std::string kernel_view::source_of_flops() const {
  auto const source = kernel.figures.source;
  return std::string(
      name_of(source == flop_source::tensor_counted ? flop_source::counted : source));
}

std::string kernel_view::source_of_share(std::size_t roof) const {
  auto const& from = kernel.figures.from;
  if (roof == dram_roof) return source_text(from.dram);
  return roof == l2_roof ? source_text(from.l2) : source_of_flops();
}

std::string kernel_view::source_of_best() const {
  auto const& shares = kernel.figures.shares;
  auto const* const highest = std::max_element(shares.begin(), shares.end(),
                                               [](auto const& a, auto const& b) { return a < b; });
  return source_of_share(static_cast<std::size_t>(highest - shares.begin()));
}

evidence kernel_view::achieved() const {
  auto const& figures = kernel.figures;
  auto const flops = figures.total_flops.value_or(0);
  if (figures.flops_are_limit) return {"achieved at most", flops, "FLOP/s", source_of_flops(), 0};
  return {"achieved", flops, "FLOP/s", source_of_flops(), figures.total_flops_error.value_or(0)};
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
