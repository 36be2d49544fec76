// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/kernel_labels.hpp"

#include "host/analysis/kernel_kind.hpp"

namespace gpuprof::host {
namespace {

std::string label_of_name(std::string_view name, kernel_name_style style, kernel_code const* code) {
  if (style != kernel_name_style::kind) return kernel_display_name(name, style);
  return std::string(
      name_of(work_of(kernel_display_name(name, kernel_name_style::demangled), code).kind));
}

}  // namespace

kernel_labels::kernel_labels(std::span<kernel_shape const> shapes, text_of_name const& text,
                             kernel_name_style style, kernel_codes const& codes) {
  intern("(unknown)");
  std::unordered_map<std::uint32_t, std::uint32_t> seen;  // name_id -> label, to demangle once
  for (auto const& shape : shapes) {
    auto const id = raw(shape.id);
    if (id > largest_shape) continue;
    if (id >= labels_.size()) labels_.resize(id + 1, 0);
    auto const [at, is_new] = seen.try_emplace(raw(shape.name), 0);
    if (is_new) at->second = intern(label_of_name(text(shape.name), style, codes.find(shape.name)));
    labels_[id] = at->second;
  }
}

std::uint32_t kernel_labels::intern(std::string text) {
  auto const next = static_cast<std::uint32_t>(texts_.size());
  auto const [at, is_new] = by_text_.try_emplace(text, next);
  if (is_new) texts_.push_back(std::move(text));
  return at->second;
}

}  // namespace gpuprof::host
