// SPDX-License-Identifier: Apache-2.0
// The modules of PyTorch in which stacks run, and the GPU work of each.
#pragma once

#include "host/analysis/stack_times.hpp"
#include "model/records.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host {

class module_tree {
 public:
  struct module {
    std::string path;  // "transformer.h.3.mlp.c_fc"; "(GPT2)" of one that no other module calls
    std::string type;  // "Conv1D"
    std::uint32_t outer = 0;  // the module that calls it; 0: none
  };

  /// `stacks` is indexed by stack_id, callers first; `text` gives the text of a name.
  module_tree(std::vector<stack_record> const& stacks,
              std::function<std::string_view(name_id)> const& text);

  /// From 1 on, those that call others first. A path begins with the class of the outermost module
  /// if several outermost modules hold others.
  std::vector<module> const& modules() const noexcept { return modules_; }
  /// The innermost module in which a stack runs; 0: none.
  std::uint32_t of(stack_id stack) const noexcept {
    return raw(stack) < of_stack_.size() ? of_stack_[raw(stack)] : 0;
  }

 private:
  std::vector<module> modules_{1};
  std::vector<std::uint32_t> of_stack_;
};

/// One module, or all whose paths differ in numbers only: "h.*.mlp.c_fc".
struct module_group {
  std::string path, type;
  std::uint64_t modules = 0;
  stack_sum own;                 // of stacks whose innermost module it is
  stack_sum total;               // of all stacks that run in it
  std::vector<stack_id> stacks;  // those of `own`
};

/// The path with "*" for each step that is a number.
std::string folded_path(std::string_view path);

/// Paths are folded if `folds`. Groups are sorted by their own GPU time, the longest first. The
/// first group, with modules = 0, is work outside of modules.
std::vector<module_group> group_by_module(stack_times const& times, module_tree const& tree,
                                          bool folds);

}  // namespace gpuprof::host
