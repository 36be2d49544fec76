// SPDX-License-Identifier: Apache-2.0
// Lists ranges that differ in nothing but the number at the end of their names on one line, where
// there are very many: "aten::mm, seq = 1" to "aten::mm, seq = 500000".
#pragma once

#include "host/analysis/kernel_labels.hpp"
#include "host/analysis/range_tree.hpp"
#include "host/analysis/timeline/step_ranges.hpp"

#include <map>
#include <string>
#include <vector>

namespace gpuprof::host {

/// So many names that differ in a number alone keep a line each: the layers of a model do.
inline constexpr std::size_t max_numbered_names = 64;

class numbered_ranges {
 public:
  /// Steps are one line, however many there are. `text` is asked here alone.
  numbered_ranges(range_tree const& tree, text_of_name const& text, step_ranges const& steps);

  /// The key of the first range that shares the line.
  range_key line_of(range_key const& key) const noexcept;
  /// "aten::mm, seq #"; of steps, "step"; empty: the line is of one name, which is its own.
  std::string name_of_line(range_key const& key) const;

 private:
  struct shared_line {
    range_key first;
    std::string name;
  };
  std::map<range_key, shared_line> shared_;  // those that share one
};

}  // namespace gpuprof::host
