// SPDX-License-Identifier: Apache-2.0
// The environment as it was when the profiler was made, on a thread of the program: the program may
// change it at any time, and reading it on a thread of our own beside that is a race.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::guest {

class environment_copy {
 public:
  /// To be made on a thread of the program.
  environment_copy();

  struct entry {
    std::string name, value;
  };
  std::vector<entry> const& all() const noexcept { return variables_; }
  std::optional<std::string> value_of(std::string_view name) const;

 private:
  std::vector<entry> variables_;
};

}  // namespace gpuprof::guest
