// SPDX-License-Identifier: Apache-2.0
// A line of the roofline report (a kernel, signature, graph or range), and the values known for one
// workload.
#pragma once

#include "host/analysis/flop_accounting.hpp"
#include "host/analysis/inferred_times.hpp"
#include "host/analysis/workload_metrics.hpp"
#include "model/precisions.hpp"
#include "model/records.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace gpuprof::host {

/// The source of each unit's values.
struct figure_sources {
  figure_source dram{}, l2{}, clock{}, occupancy{}, tensor{};
  bool is_shared = false;  // other launches ran at the same time for most of the time
  /// The common source of all but the clock, which other work does not disturb. If there are no
  /// others, that of the clock.
  figure_source all() const noexcept {
    auto const others = both(both(dram, l2), both(occupancy, tensor));
    return others == figure_source::none ? clock : others;
  }
};

/// The shares of a line's time for which each value is known.
struct known_shares {
  double dram = 0, l2 = 0, clock = 0, occupancy = 0, tensor = 0;
};
/// By how much the sum over a graph's kernels exceeds the value counted around the whole graph, as
/// a share of the latter. Nothing if a kernel is not known or if the count includes copies of the
/// graph.
struct nodes_check {
  std::optional<double> dram, l2, tensor_cycles;
};

/// FLOP utilization is stated if the FLOP of this share of the line's kernel time are known.
inline constexpr double least_known_of_utilization = 0.8;

/// The place in the source of a line of Python, or a module of PyTorch.
struct source_place {
  std::string file, function, source;
  std::uint32_t line = 0;  // 0: a function, file or module
  std::string type;        // class of a module
};

/// A line is one signature, kernel name, graph, range name, step, or place in the source. Rates
/// cover the launches that have the value, at their speed without counters. They are empty if these
/// launches are less than half of the line's time.
struct roofline_row {
  std::string name;
  extent3 grid, block;  // signatures only
  /// Only for signatures, if several lines differ in nothing else: as in kernel_shape.
  std::optional<std::uint32_t> arguments;
  std::uint64_t instances = 0;  // only for ranges
  std::uint64_t launches = 0;
  std::uint64_t shapes = 0;               // only for kernel names: grids, blocks and arguments
  std::uint64_t samples = 0;              // valid samples
  std::set<std::uint32_t> read_by_ranks;  // other ranks of the job whose readings are included
  double total_ns = 0;
  double time_share = 0;          // as a share of the time of all kernels
  std::optional<double> mean_ns;  // of a launch without counters
  inferred_time inferred;         // of total_ns
  /// One standard error of mean_ns.
  std::optional<double> mean_error_ns() const noexcept {
    if (!mean_ns || !inferred.error_ns || !(total_ns > 0)) return std::nullopt;
    return *mean_ns * *inferred.error_ns / total_ns;
  }

  std::array<std::optional<double>, precision_count> flops;  // per second
  std::optional<double> total_flops;                         // per second
  flop_source source = flop_source::not_measured;            // of `total_flops`
  double exact_share = 0;  // share of the line's time whose FLOP were counted in full or are 0
  double known_share = 0;  // share of the line's time whose FLOP are known, except from markers
  std::optional<double> dram_rate, l2_rate;    // bytes per second
  std::optional<double> dram_error, l2_error;  // one standard error of these
  std::optional<double> intensity;             // FLOP per DRAM byte
  std::optional<double> l2_intensity;          // FLOP per L2 byte
  std::optional<double> clock;                 // Hz
  std::optional<double> occupancy, tensor_active;
  // One standard error each. Nothing if the value was read around launches, or only once.
  std::array<std::optional<double>, precision_count> flops_error;
  std::optional<double> total_flops_error, clock_error, occupancy_error, tensor_active_error;
  /// True if some FLOP assume that all lanes of the warps are active, which is not known. Then the
  /// errors say how much lower the FLOP may be, and `total_flops_above` how much higher.
  bool flops_are_limit = false;
  std::optional<double> total_flops_above;
  std::optional<double> flops_low() const noexcept {
    if (!total_flops || !total_flops_error) return std::nullopt;
    return *total_flops > *total_flops_error ? *total_flops - *total_flops_error : 0;
  }
  std::optional<double> flops_high() const noexcept {
    if (!total_flops || !total_flops_error) return std::nullopt;
    return *total_flops + (flops_are_limit ? total_flops_above.value_or(0) : *total_flops_error);
  }
  figure_sources from;
  known_shares known;

  nodes_check nodes;  // graphs only

  roof_shares shares;
  std::optional<double> clock_loss;
  /// For one kernel: its highest share and the roof it belongs to. For a line of many kernels (a
  /// range, or a graph with known kernels): the time-weighted mean of their shares and the bound of
  /// most of the time, because each kernel can only reach its own roof.
  bound_by bound;
  std::optional<double> of_roof;
  // time that a launch would save at the roof: mean_ns (1 - of_roof)
  std::optional<double> to_roof_ns;
  // as a share of the time of all kernels: time_share (1 - of_roof)
  std::optional<double> below_roof;
  double roof_known_ns = 0;  // lines of many kernels: time of those in `of_roof`

  source_place where;  // only for lines, functions, files and modules of Python

  // Amounts, of the launches that have them.
  double dram_bytes = 0, flop = 0;
  std::array<double, precision_count> flop_of{};

  /// The precision with the most FLOP, if there are any.
  std::optional<precision> main_precision() const noexcept;
  std::optional<double> peak_flops;  // measured, per second, in the main precision
  std::size_t gpus = 0;              // that ran kernels of the line
  double elapsed_ns = 0;             // 0: not known. GPU idle time included; summed over GPUs
  double declared_flop = 0;          // by ranges; 0: they declare too little
  /// Sets elapsed_ns to `ns` on each GPU, at least to the kernels' time.
  void lasts(double ns) noexcept;
  /// FLOP / elapsed_ns / peak_flops. `model`: the declared FLOP, else those of the main precision.
  /// `hardware`: all that kernels executed.
  std::optional<double> model_utilization() const noexcept;
  std::optional<double> hardware_utilization() const noexcept;
  bool model_flop_are_limit() const noexcept;
};

/// Values of one workload, from counters, samples and its machine code. Amounts are per launch.
struct workload_figures {
  counted_flop flop;
  std::optional<double> cycles_flop;  // from the cycles of the tensor cores
  bool cycles_are_sampled = false;
  double cycles_error = 0;
  double cycles_bias = 0;  // the same for all workloads: see tensor_rate
  precision cycles_precision{};
  std::string_view cycles_peak;    // the peak test to compare them with
  std::optional<double> fma_flop;  // from the instructions of the FMA pipes
  double fma_error = 0;            // of `fma_flop`, from sampling
  // Errors of the rule itself; the same for all workloads of a kernel.
  double fma_below = 0, fma_above = 0;
  bool fma_is_limit = false;  // some lanes may have been off
  std::optional<double> dram_bytes, dram_written, l2_bytes, clock, clock_loss, occupancy,
      tensor_active;
  double dram_error = 0, l2_error = 0, clock_error = 0, occupancy_error = 0, tensor_error = 0;
  figure_sources from;
  std::optional<double> mean_ns;
  roof_shares shares;
  bound_by bound;
  std::optional<double> best;
  std::uint64_t samples = 0;
  std::set<std::uint32_t> read_by_ranks;
  bool is_exact() const noexcept { return flop.total && !cycles_flop && !fma_flop; }
  struct errors {
    double by_chance = 0, bias = 0;  // `bias` downwards
    double bias_above = 0;
  };
  /// One standard error of the operations of one precision, and of the total.
  errors error_of(precision p) const noexcept;
  errors flop_error() const noexcept;
  /// The total of all precisions, else the known tensor-core FLOP.
  std::optional<double> known_flop() const noexcept {
    return flop.total ? flop.total : flop.tensor_alone ? flop.tensor_alone : cycles_flop;
  }
};

}  // namespace gpuprof::host
