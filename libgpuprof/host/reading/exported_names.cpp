// SPDX-License-Identifier: Apache-2.0
#include "host/reading/exported_names.hpp"

#include "base/utf8.hpp"
#include "model/kernel_name.hpp"

namespace gpuprof::host {

exported_names::exported_names(trace_contents& trace) : trace_(&trace) {
  kernels_.push_back({{}, "(unknown)", "(unknown)", "(unknown)"});
  by_shape_.push_back(0);
  shapes_.emplace_back();
  std::unordered_map<name_id, std::uint32_t> known;
  for (auto const& shape : trace.shapes()) {
    auto const id = raw(shape.id);
    if (id > largest_shape) continue;  // only in damaged files
    if (id >= shapes_.size()) {
      shapes_.resize(id + 1);
      by_shape_.resize(id + 1, 0);
    }
    shapes_[id] = shape;
    auto const [at, is_new] =
        known.try_emplace(shape.name, static_cast<std::uint32_t>(kernels_.size()));
    if (is_new) {
      auto const name = trace.text()(shape.name);
      kernels_.push_back({shape.name, valid_utf8(name),
                          valid_utf8(kernel_display_name(name, kernel_name_style::demangled)),
                          valid_utf8(kernel_display_name(name, kernel_name_style::base))});
    }
    by_shape_[id] = at->second;
  }
}

std::string const& exported_names::text(name_id id) {
  auto const [at, is_new] = texts_.try_emplace(id);
  if (is_new) at->second = valid_utf8(trace_->text()(id));
  return at->second;
}

exported_names::kernel const& exported_names::kernel_of(shape_id shape) const {
  return kernels_[raw(shape) < by_shape_.size() ? by_shape_[raw(shape)] : 0];
}

kernel_shape const& exported_names::shape(shape_id shape) const {
  return shapes_[raw(shape) < shapes_.size() ? raw(shape) : 0];
}

}  // namespace gpuprof::host
