// SPDX-License-Identifier: Apache-2.0
// Finds how a module of PyTorch (torch.nn.Module) is named by the module that calls it.
//
// Nothing of Python runs for this: attributes and dicts are read as bytes, through the kernel,
// because other threads may change them meanwhile.
#pragma once

#include "guest/stacks/python_runtime.hpp"
#include "model/ids.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace gpuprof::guest {

/// Where a name was found: a dict entry still says the same if it has the same key and value.
struct module_place {
  std::byte const* entry = nullptr;  // null: `outer` does not hold the module
  std::byte const* key = nullptr;
};

/// Writes "mlp.c_fc: Conv1D" into `into`: the path from `outer` to `module` through their
/// _modules, and the class. Without a path if outer is null or does not lead there in three steps.
/// Empty if the class cannot be read.
std::string_view module_name(python_runtime const& python, std::byte const* outer,
                             std::byte const* module, std::span<char> into,
                             module_place& place) noexcept;

/// The names that one thread has found last.
class known_module_names {
 public:
  struct known {
    std::byte const* outer = nullptr;
    std::byte const* module = nullptr;
    module_place place;
    name_id name{};
  };
  /// The entry for these two; its members outer and module are others if they are not known, or not
  /// any more.
  known& find(std::byte const* outer, std::byte const* module) noexcept;

 private:
  std::array<known, 256> all_;  // a model of some tens of layers has as many pairs
};

}  // namespace gpuprof::guest
