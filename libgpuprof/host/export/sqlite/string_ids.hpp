// SPDX-License-Identifier: Apache-2.0
// Texts that rows refer to by number, each in StringIds once.
#pragma once

#include "host/export/sqlite/database.hpp"
#include "host/reading/exported_names.hpp"

#include <string>
#include <unordered_map>

namespace gpuprof {

class string_ids {
 public:
  /// Numbers of the names of a kernel.
  struct kernel_names {
    std::int64_t demangled = 0, base = 0, mangled = 0;
  };

  string_ids(database& into, exported_names& names);

  std::int64_t of(std::string const& text);
  std::int64_t of(name_id name);
  kernel_names const& of(exported_names::kernel const& kernel);

 private:
  exported_names* names_;
  insertion rows_;
  std::unordered_map<std::string, std::int64_t> ids_;
  std::unordered_map<name_id, std::int64_t> by_name_;
  std::unordered_map<exported_names::kernel const*, kernel_names> by_kernel_;
};

}  // namespace gpuprof
