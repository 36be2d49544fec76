#include "counters/launches/launch_kinds.hpp"

namespace gpuprof {

bool launch_kinds::may_be_read(launch_signature& kind, char const* kernel) const noexcept {
  using enum launch_signature::standing;
  if (kind.is() == unknown) {
    auto skip = false;
    try {
      skip = skips_ && kernel != nullptr && skips_(kernel);
    } catch (...) {
      skip = true;
    }
    kind.decide(skip ? never : allowed);
  }
  return kind.is() == allowed;
}

}  // namespace gpuprof
