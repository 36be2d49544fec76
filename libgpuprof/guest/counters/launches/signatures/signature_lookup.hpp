// SPDX-License-Identifier: Apache-2.0
// Which signature a launch has, and whether anything may ever be read around such a one.
#pragma once

#include "guest/counters/launches/signatures/function_names.hpp"
#include "guest/counters/launches/signatures/launch_arguments.hpp"
#include "guest/counters/launches/signatures/launch_signatures.hpp"

#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace gpuprof::guest {

/// Any thread, inside the launch callback, without lock.
class signature_lookup {
 public:
  /// `skips`: kernels (mangled) around which nothing is ever read. May be empty.
  /// `code_of`: what the machine code of a kernel holds. May be empty.
  using code_lookup = std::function<std::optional<kernel_code>(std::string_view kernel)>;
  signature_lookup(cuda_driver const& driver, std::function<bool(char const*)> skips,
                   code_lookup code_of)
      : arguments_(driver), skips_(std::move(skips)), code_of_(std::move(code_of)) {}

  struct found {
    launch_signature* signature = nullptr;  // null: there are too many, or its name is not readable
    bool is_whole = false;  // its times differ, and the values of its arguments were not looked at
  };
  /// Before the call. `context`: CUPTI's number of it. `kernel`: its mangled name; null of graphs.
  /// `by_values`: values of arguments are looked at also where no launch of some is wanted.
  found find_before(launch_parameters launch, std::uint32_t context, char const* kernel,
                    bool by_values) noexcept {
    launch.name = names_.hash_of(launch.work, kernel);
    if (kernel != nullptr && launch.name == 0) return {};
    auto const number = kernel != nullptr ? context : 0;
    auto* const whole = signatures_.find(launch, number, [] { return 0u; });
    if (whole == nullptr || !whole->varies()) return {whole, false};
    if (!by_values && !whole->has_wanted_values()) return {whole, true};
    auto const values = arguments_.fingerprint_before(launch);
    return {signatures_.find(launch, number, [values] { return values; }), values == 0};
  }
  /// After the driver has accepted it. Null as above.
  launch_signature* find(launch_parameters launch, std::uint32_t context,
                         char const* kernel) noexcept {
    launch.name = names_.hash_of(launch.work, kernel);
    if (kernel != nullptr && launch.name == 0) return nullptr;
    return signatures_.find(launch, kernel != nullptr ? context : 0,
                            [&] { return arguments_.fingerprint(launch); });
  }
  /// `kernel`: its mangled name; null: not known, as of graphs. Asked for once of each signature.
  bool may_be_read(launch_signature& signature, char const* kernel,
                   launch_parameters const& launch) const noexcept;
  /// Code was unloaded: handles of functions may come to mean others.
  void forget_handles() noexcept {
    arguments_.forget();
    names_.forget();
  }
  void forget_graph(void const* graph) noexcept { signatures_.forget_graph(graph); }
  /// Any may have been destroyed or changed.
  void forget_graphs() noexcept {
    for (std::size_t i = 0; i < signatures_.size(); ++i)
      if (auto* const signature = signatures_.at(i); signature != nullptr && signature->is_graph())
        signature->forget();
  }
  launch_signatures const& all() const noexcept { return signatures_; }
  /// See launch_signatures::age().
  bool age(std::uint64_t now_ns, bool may_replace, launch_signature::groups all) {
    return signatures_.age(now_ns, may_replace, all);
  }

 private:
  launch_signatures signatures_;
  launch_arguments arguments_;
  function_names names_;
  std::function<bool(char const*)> const skips_;
  code_lookup const code_of_;
};

}  // namespace gpuprof::guest
