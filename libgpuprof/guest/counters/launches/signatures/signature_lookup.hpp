// SPDX-License-Identifier: Apache-2.0
// Finds the signature of a launch, and decides whether it may ever be read.
#pragma once

#include "base/own_memory.hpp"
#include "guest/counters/launches/signatures/launch_arguments.hpp"
#include "guest/counters/launches/signatures/launch_signatures.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace gpuprof::guest {

// Identifies functions by their names, at low cost, because a handle may mean another function
// after code was unloaded.

/// Any thread, inside the launch callback, without lock. Names are looked at once for each handle,
/// and again when code was unloaded.
class function_names {
 public:
  static constexpr std::size_t max_name = 1 << 16;

  function_names() : known_(new std::array<std::atomic<std::uint64_t>, max_functions>{}) {}

  /// Returns equal, nonzero values for equal names. Returns 0 if `name` is null or cannot be read,
  /// as with invalid handles.
  std::uint32_t hash_of(void const* function, char const* name) noexcept {
    if (name == nullptr) return 0;
    auto const mixed = reinterpret_cast<std::uintptr_t>(function) * 0x9e3779b97f4a7c15u;
    auto const tag = tag_of(static_cast<std::uint32_t>(mixed >> 16));
    auto& place = (*known_)[mixed >> (64 - bits)];
    auto const known = place.load(std::memory_order_relaxed);  // one word has all of it
    if (known >> 32 == tag) return static_cast<std::uint32_t>(known);
    auto const length = readable_length(name, max_name);
    if (!length) return 0;
    auto const hash =
        static_cast<std::uint32_t>(std::hash<std::string_view>{}({name, *length})) | 1;
    place.store(std::uint64_t{tag} << 32 | hash, std::memory_order_relaxed);
    return hash;
  }
  /// Code was unloaded.
  void forget() noexcept { generation_.fetch_add(1, std::memory_order_relaxed); }

 private:
  static constexpr unsigned bits = 13;
  static constexpr std::size_t max_functions = std::size_t{1} << bits;
  /// Combines the handle and the generation. Never 0.
  std::uint32_t tag_of(std::uint32_t handle) const noexcept {
    auto const generation = generation_.load(std::memory_order_relaxed);
    return (handle ^ generation * 0x9e3779b9u) | 1;
  }

  std::unique_ptr<std::array<std::atomic<std::uint64_t>, max_functions>> known_;
  std::atomic<std::uint32_t> generation_{1};
};

/// Any thread, inside the launch callback, without lock.
class signature_lookup {
 public:
  /// `skips`: kernels (mangled) that are never read. May be empty. `code_of`: returns what a
  /// kernel's machine code holds. May be empty.
  using code_lookup = std::function<std::optional<kernel_code>(std::string_view kernel)>;
  signature_lookup(cuda_driver const& driver, std::function<bool(char const*)> skips,
                   code_lookup code_of)
      : arguments_(driver), skips_(std::move(skips)), code_of_(std::move(code_of)) {}

  struct found {
    launch_signature* signature = nullptr;  // null: too many signatures, or name not readable
    bool is_whole = false;                  // times differ, and argument values were not checked
  };
  /// Call it before the launch. `context`: CUPTI's id. `kernel`: mangled name; null for graphs.
  /// `by_values`: check argument values even if no launch with certain values is wanted.
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
  /// Call it after the driver has accepted the launch. Returns null as above.
  launch_signature* find(launch_parameters launch, std::uint32_t context,
                         char const* kernel) noexcept {
    launch.name = names_.hash_of(launch.work, kernel);
    if (kernel != nullptr && launch.name == 0) return nullptr;
    return signatures_.find(launch, kernel != nullptr ? context : 0,
                            [&] { return arguments_.fingerprint(launch); });
  }
  /// `kernel`: mangled name; null: unknown, as for graphs. Decides once for each signature.
  bool may_be_read(launch_signature& signature, char const* kernel,
                   launch_parameters const& launch) const noexcept;
  /// Call it when code was unloaded: handles may now mean other functions.
  void forget_handles() noexcept {
    arguments_.forget();
    names_.forget();
  }
  void forget_graph(void const* graph) noexcept { signatures_.forget_graph(graph); }
  /// Any graph may have been destroyed or changed.
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
