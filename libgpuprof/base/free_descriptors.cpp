// SPDX-License-Identifier: Apache-2.0
#include "base/free_descriptors.hpp"

#include <climits>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/resource.h>

namespace gpuprof {

// From the top: a new descriptor gets the lowest free number, so free ones are mostly there.
bool has_free_descriptors(unsigned count) noexcept {
  constexpr int max_asked = 4096;
  auto const kept = errno;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return true;
  auto const numbers = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, INT_MAX));
  unsigned free = 0;
  for (auto number = numbers - 1; free < count && number >= std::max(0, numbers - max_asked);
       --number)
    free += fcntl(number, F_GETFD) < 0 ? 1u : 0u;
  errno = kept;
  return free >= count;
}

}  // namespace gpuprof
