// SPDX-License-Identifier: Apache-2.0
// What the kernels of this process can compute with, by name, from the modules that were loaded.
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

/// One per process, never destroyed. Any thread. The mutex is held for a look into a map; never
/// while a module is read, nor while CUPTI is called.
class code_inventory {
 public:
  struct limits {
    std::size_t functions = 1u << 17;
    std::size_t code_bytes = 32u << 20;  // of a module
  };
  struct counts {
    std::atomic<std::uint64_t> modules{0};    // read
    std::atomic<std::uint64_t> too_large{0};  // more code than the limit
    std::atomic<std::uint64_t> damaged{0};    // no cubin that can be read
    std::atomic<std::uint64_t> left_out{0};   // functions beyond the limit
    std::atomic<std::uint64_t> read_ns{0};    // on the threads that loaded them
  };

  code_inventory() : code_inventory(limits{}) {}
  explicit code_inventory(limits limit) : limits_(limit) {}

  /// Whose kernels those of a module are, where others of the same names are known.
  enum class origin {
    program,
    maybe_rewritten  // CUPTI loads what it has rewritten to count instructions in the same way
  };
  /// A module has been loaded on this thread. Reads it where it lies, at some GB/s: a copy for
  /// another thread would take as long. `image` need not outlive the call.
  void add_module(std::span<std::uint8_t const> image, origin from = origin::program) noexcept;

  /// By its mangled name, as CUPTI gives it. Nothing: no such function was loaded since CUPTI was
  /// attached. Where modules have different kernels of one name, what any of them holds.
  std::optional<kernel_code> find(std::string_view mangled) const noexcept;

  /// Grows with each find() that may have a new answer.
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
  mutable std::mutex mutex_;  // protects the next
  // By a hash of 64 bits: the names of large libraries would take far more room.
  std::unordered_map<std::uint64_t, kernel_code> functions_;
};

}  // namespace gpuprof::guest
