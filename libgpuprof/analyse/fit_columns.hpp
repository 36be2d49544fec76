// Which unknown each kind of work stands for when samples are told apart.
#pragma once

#include "analyse/sample_sweep.hpp"
#include "analyse/sampled_figure.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace gpuprof {

/// Unknowns: an amount for each kind with enough samples, of copies and fills for each byte; one
/// rate for all other work together, and one for the time in which nothing ran.
class fit_columns {
 public:
  /// Looks for those that have no figure.
  fit_columns(sample_series const& samples, device_work const& work, figure_grid const& figures);

  std::size_t size() const noexcept { return size_; }
  /// Whether launches of this kind are what is looked for.
  bool is_wanted(std::uint32_t kind) const noexcept { return wanted_[kind]; }
  bool has_enough(std::uint32_t kind) const noexcept { return own_[kind]; }
  std::uint32_t of(std::uint32_t kind) const noexcept { return column_[kind]; }
  /// Samples with work that is looked for, and those in which nothing ran.
  bool is_used(std::size_t sample) const noexcept { return used_[sample]; }

  /// The row of a sample; valid until the next call.
  std::vector<std::pair<std::uint32_t, double>> const& row(std::size_t sample,
                                                           std::span<work_part const> parts,
                                                           double busy);

 private:
  void look_through();
  void number();
  void put(std::uint32_t column, double value);

  sample_series const& samples_;
  device_work const& work_;
  std::vector<bool> wanted_, own_;      // by kind
  std::vector<std::uint64_t> touched_;  // samples, by kind
  std::vector<std::uint32_t> column_;   // by kind
  std::vector<bool> used_;              // by sample
  std::uint32_t other_ = 0, idle_ = 0;  // columns
  std::size_t size_ = 0;
  std::vector<std::pair<std::uint32_t, double>> row_;
  std::vector<std::uint32_t> place_;  // in row_, by column
};

}  // namespace gpuprof
