#include "counters/launches/launch_kinds.hpp"

#include "base/cache_file.hpp"

#include <string>

namespace gpuprof {
namespace {

/// Handles of functions differ from process to process, names do not.
std::uint64_t identity_of(char const* kernel, launch_parameters const& launch,
                          std::uint32_t arguments) {
  std::string text(kernel);
  for (auto const extent : {launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                            launch.block[1], launch.block[2], launch.shared_bytes, arguments})
    text += ' ' + std::to_string(extent);
  return stable_hash(text);
}

}  // namespace

bool launch_kinds::may_be_read(launch_signature& kind, char const* kernel,
                               launch_parameters const& launch) const noexcept {
  using enum launch_signature::standing;
  if (kind.is() == unknown && kind.begin_deciding()) {
    auto skip = false;
    try {
      skip = skips_ && kernel != nullptr && skips_(kernel);
      if (kernel == nullptr) kind.note_graph();
      if (launch.cooperative) kind.note_cooperative();
      if (kernel != nullptr) kind.set_identity(identity_of(kernel, launch, kind.arguments()));
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
