// SPDX-License-Identifier: Apache-2.0
#include "host/export/sqlite/string_ids.hpp"

namespace gpuprof {

string_ids::string_ids(database& into, exported_names& names)
    : names_(&names), rows_(into, tables::string_ids) {
  of(std::string("[Unknown]"));  // 0, as nsys has it
}

std::int64_t string_ids::of(std::string const& text) {
  auto const [at, is_new] = ids_.try_emplace(text, static_cast<std::int64_t>(ids_.size()));
  if (is_new) rows_.row(at->second, std::string_view(text));
  return at->second;
}

std::int64_t string_ids::of(name_id name) {
  auto const [at, is_new] = by_name_.try_emplace(name);
  if (is_new) at->second = of(names_->text(name));
  return at->second;
}

string_ids::kernel_names const& string_ids::of(exported_names::kernel const& kernel) {
  auto const [at, is_new] = by_kernel_.try_emplace(&kernel);
  if (is_new) at->second = {of(kernel.demangled), of(kernel.base), of(kernel.mangled)};
  return at->second;
}

}  // namespace gpuprof
