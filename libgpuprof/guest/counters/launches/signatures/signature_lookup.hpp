// SPDX-License-Identifier: Apache-2.0
// Which signature a launch has, and whether anything may ever be read around such a one.
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

// Says cheaply by which name a function is known, for a handle may mean another after code was
// unloaded.

/// Any thread, inside the launch callback, without lock. Names are looked at once for each handle,
/// and again when code was unloaded.
class function_names {
 public:
  static constexpr std::size_t max_name = 1 << 16;

  function_names() : known_(new std::array<std::atomic<std::uint64_t>, max_functions>{}) {}

  /// The same for equal names, never 0. `name`: null where there is none; 0 then, and when it
  /// cannot be read, as beside handles that are no function.
  std::uint32_t hash_of(void const* function, char const* name) noexcept {
    if (name == nullptr) return 0;
    auto const mixed = reinterpret_cast<std::uintptr_t>(function) * 0x9e3779b97f4a7c15u;
    auto const tag = tag_of(static_cast<std::uint32_t>(mixed >> 16));
    auto& place = (*known_)[mixed >> (64 - bits)];
    auto const known = place.load(std::memory_order_relaxed);  // all of it in one word
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
  /// Of the handle, and of since when it means the same. Never 0.
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
