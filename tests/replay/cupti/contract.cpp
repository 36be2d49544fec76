// SPDX-License-Identifier: Apache-2.0
#include "replay/cupti/contract.hpp"

#include <cstdio>
#include <cstdlib>

namespace gpuprof::replay {

void broken(std::string const& what) noexcept {
  std::fprintf(stderr, "replay libcupti: the client broke the contract: %s\n", what.c_str());
  std::fflush(stderr);
  std::abort();
}

callback_state& here() noexcept {
  static thread_local callback_state state;
  return state;
}

}  // namespace gpuprof::replay
