// SPDX-License-Identifier: Apache-2.0
// Knows by name which arithmetic the kernels in this process's loaded modules contain.
#pragma once

#include "base/ledger.hpp"
#include "model/kernel_code.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

namespace gpuprof::guest {

/// One per process, never destroyed. Can be used on any thread. The mutex is held only for a look
/// into a map, not while a module is read or CUPTI is called.
class code_inventory {
 public:
  struct limits {
    std::size_t functions = 1u << 17;
    std::size_t code_bytes = 32u << 20;  // limit for one module
  };
  struct counts {
    std::atomic<std::uint64_t> modules{0};    // modules that were read
    std::atomic<std::uint64_t> too_large{0};  // modules with more code than the limit
    std::atomic<std::uint64_t> damaged{0};    // modules that are not readable cubins
    std::atomic<std::uint64_t> left_out{0};   // functions beyond the limit
    std::atomic<std::uint64_t> read_ns{0};    // on the threads that loaded the modules
  };

  code_inventory() : code_inventory(limits{}) {}
  explicit code_inventory(limits limit) : limits_(limit) {}

  /// Origin of a module whose kernels have names that are already known.
  enum class origin {
    program,
    maybe_rewritten  // CUPTI rewrites kernels to count instructions and loads them the same way
  };
  /// Called on the thread that has loaded a module. Reads it in place at some GB/s: a copy for
  /// another thread would take as long. `image` need not outlive the call.
  void add_module(std::span<std::uint8_t const> image, origin from = origin::program) noexcept;

  /// Finds a kernel by its mangled name, as CUPTI gives it. Returns nothing if no such function was
  /// loaded since CUPTI was attached. If modules have different kernels of one name, the result is
  /// their union.
  std::optional<kernel_code> find(std::string_view mangled) const noexcept;

  /// Increases whenever find() may return something new.
  std::uint64_t version() const noexcept { return version_.load(std::memory_order_acquire); }
  counts const& counted() const noexcept { return counts_; }
  void report(ledger& to) const {
    to.add("counters.code_modules", counts_.modules);
    to.add("counters.code_too_large", counts_.too_large);
    to.add("counters.code_damaged", counts_.damaged);
    to.add("counters.code_left_out", counts_.left_out);
    to.add("cost.code_ns", counts_.read_ns);
  }

 private:
  void add(std::string_view name, kernel_code const& code, origin from);

  limits const limits_;
  counts counts_;
  std::atomic<std::uint64_t> version_{0};
  mutable std::mutex mutex_;  // protects `functions_`
  // The key is a 64-bit hash: the names of large libraries would take far more memory.
  std::unordered_map<std::uint64_t, kernel_code> functions_;
};

}  // namespace gpuprof::guest
