// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/launches/signatures/signature_lookup.hpp"

#include "base/cache_file.hpp"
#include "base/own_memory.hpp"

#include <string>

namespace gpuprof::guest {
namespace {

/// Uses the name, because function handles differ between processes.
std::uint64_t identity_of(char const* kernel, launch_parameters const& launch,
                          std::uint32_t arguments) {
  std::string text(kernel);
  for (auto const extent : {launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                            launch.block[1], launch.block[2], launch.shared_bytes, arguments})
    text += ' ' + std::to_string(extent);
  return stable_hash(text);
}

}  // namespace

bool signature_lookup::may_be_read(launch_signature& signature, char const* kernel,
                                   launch_parameters const& launch) const noexcept {
  using enum launch_signature::standing;
  auto const is_named = [kernel] {
    return kernel == nullptr || readable_length(kernel, function_names::max_name).has_value();
  };
  if (signature.is() == unknown && is_named() && signature.begin_deciding()) {
    auto skip = false;
    try {
      skip = skips_ && kernel != nullptr && skips_(kernel);
      if (kernel == nullptr) signature.note_graph();
      if (launch.cooperative) signature.note_cooperative();
      if (kernel != nullptr)
        signature.set_identity(identity_of(kernel, launch, signature.arguments()));
      if (kernel != nullptr && code_of_)
        if (auto const code = code_of_(kernel)) signature.set_code(*code);
    } catch (...) {
      skip = true;
    }
    signature.decide(skip ? never : allowed);
  }
  return signature.is() == allowed;
}

}  // namespace gpuprof::guest
