// SPDX-License-Identifier: Apache-2.0
// What is known of each launch of the recorded steps: the kind of its work, its line, how near it
// is to the roofs, and which launches follow each other in a step without a wait.
#pragma once

#include "host/advice/facts.hpp"
#include "host/analysis/kernel_kind.hpp"
#include "host/replay/recorded_steps.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::advice {

/// Nanoseconds at the DRAM rate; half of its own time each if the bytes of a launch are not known.
struct traffic {
  double read = 0, written = 0;
};

/// Items are numbered as in recorded_steps::items.
class recorded_work {
 public:
  using number = std::uint32_t;

  /// The steps must outlive it.
  recorded_work(replay::recorded_steps const& steps, run_facts const& facts,
                line_of_stack const& line_of);

  replay::recorded_item const& item(number i) const noexcept { return steps_.items[i]; }
  std::string const& name(number i) const { return steps_.work_names[item(i).name]; }
  double ns(number i) const { return static_cast<double>(item(i).length_ns()); }
  number longest_of(std::span<number const> items) const;

  kernel_work work(number i) const;
  bool is_product(number i) const { return work(i).kind == kernel_kind::product; }
  /// True if a product of the steps has BF16 or FP16, by its name.
  bool has_products_of_16_bits() const noexcept { return has_products_of_16_bits_; }
  bool is_fill(number i) const { return work(i).does == "fills tensors"; }
  /// True for kernels that list what is not zero.
  bool is_of_mask(number i) const;

  /// "train.py:61"; work without a stack of its own is taken for that of the same kernel and shape.
  std::string const& line_of(number i) const { return lines_[line_of_item_[i]]; }

  std::size_t step_of(number i) const;
  /// True if both were launched in one step and no thread waited between.
  bool are_in_one_row(number a, number b) const;

  /// What the items would take at the roof of arithmetic; their time if their FLOP are not known.
  double computing_ns(std::span<number const> items) const;
  /// The share of the DRAM rate at which a launch moves bytes; nothing: not counted, or no peaks.
  std::optional<double> share_of_dram(number i) const;
  traffic traffic_of(number i) const;

 private:
  using kernel_key = std::pair<std::uint32_t, std::uint32_t>;  // device, shape
  kernel_key key_of(number i) const noexcept { return {item(i).device, item(i).shape}; }
  void find_lines(line_of_stack const& line_of);

  replay::recorded_steps const& steps_;
  std::vector<kernel_work> works_;                        // by index into work_names
  std::map<kernel_key, kernel_work> told_by_code_;        // where the name says nothing
  std::map<kernel_key, double> dram_shares_, computing_;  // of the roofs
  bool has_products_of_16_bits_ = false;
  std::vector<std::int64_t> step_begins_, waits_;
  std::vector<std::string> lines_;
  std::vector<std::uint32_t> line_of_item_;
};

}  // namespace gpuprof::host::advice
