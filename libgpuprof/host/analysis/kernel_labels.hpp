// SPDX-License-Identifier: Apache-2.0
// Maps each kernel shape to the label its kernels are listed under.
#pragma once

#include "host/analysis/kernel_codes.hpp"
#include "model/kernel_name.hpp"
#include "model/records.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

/// Returns the text of a name_id. The text stays valid while the trace is open.
using text_of_name = std::function<std::string_view(name_id)>;

/// Kernels with equal display names share a label, even if their mangled names differ. `codes` tell
/// kinds where names do not.
class kernel_labels {
 public:
  kernel_labels(std::span<kernel_shape const> shapes, text_of_name const& text,
                kernel_name_style style, kernel_codes const& codes = {});

  /// Returns 0, "(unknown)", for a shape that is not in the trace.
  std::uint32_t label_of(shape_id shape) const noexcept {
    return raw(shape) < labels_.size() ? labels_[raw(shape)] : 0;
  }
  std::string const& text(std::uint32_t label) const noexcept { return texts_[label]; }
  std::size_t size() const noexcept { return texts_.size(); }

 private:
  std::uint32_t intern(std::string text);

  std::vector<std::uint32_t> labels_;  // by shape
  std::vector<std::string> texts_;     // by label
  std::unordered_map<std::string, std::uint32_t> by_text_;
};

/// Shape numbers count up from 1. A number above this can only come from a damaged file.
inline constexpr std::uint32_t largest_shape = 1u << 24;

}  // namespace gpuprof::host
