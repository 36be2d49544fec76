// SPDX-License-Identifier: Apache-2.0
// Names the frames of native code, of which a capture has addresses alone.
#pragma once

#include "model/records.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gpuprof::host {

struct native_binary {
  name_id path{};
  std::string path_text, build_id;
};

/// Gives each native frame the path of its binary as file, and its function: qualified, without
/// parameters; "libfoo.so+0x1234" if the file is not there, is another build, or has no symbol
/// there. `add` keeps a text.
void name_native_frames(std::vector<stack_record>& stacks,
                        std::map<binary_id, native_binary> const& binaries,
                        std::function<name_id(std::string)> const& add);

}  // namespace gpuprof::host
