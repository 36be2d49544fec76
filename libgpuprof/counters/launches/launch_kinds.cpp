#include "counters/launches/launch_kinds.hpp"

namespace gpuprof {

bool launch_kinds::may_be_read(launch_signature& kind, char const* kernel) const noexcept {
  using enum launch_signature::standing;
  if (kind.is() == unknown && kind.begin_deciding()) {
    auto skip = false;
    try {
      skip = skips_ && kernel != nullptr && skips_(kernel);
      if (kernel == nullptr) kind.note_graph();
      if (kernel != nullptr && code_of_)
        if (auto const code = code_of_(kernel)) kind.set_code(*code);
    } catch (...) {
      skip = true;
    }
    kind.decide(skip ? never : allowed);
  }
  return kind.is() == allowed;
}

}  // namespace gpuprof
