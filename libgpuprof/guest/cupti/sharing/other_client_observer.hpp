// SPDX-License-Identifier: Apache-2.0
// Observer of when the program's CUPTI client records.
#pragma once

#include <string>

namespace gpuprof::guest {

/// Called on the program's thread, before the call goes to CUPTI: must be quick.
class other_client_observer {
 public:
  virtual ~other_client_observer() = default;
  /// The client has asked for records. `who`: the file that did.
  virtual void other_client_begins(std::string const& who) noexcept = 0;
  virtual void other_client_ends() noexcept = 0;
};

}  // namespace gpuprof::guest
