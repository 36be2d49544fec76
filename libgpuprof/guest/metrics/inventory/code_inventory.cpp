// SPDX-License-Identifier: Apache-2.0
#include "guest/metrics/inventory/code_inventory.hpp"

#include "base/ledger.hpp"
#include "base/own_arithmetic.hpp"
#include "base/time.hpp"
#include "guest/metrics/inventory/cubin.hpp"

#include <functional>

namespace gpuprof::guest {
namespace {

std::uint64_t key_of(std::string_view name) noexcept {
  static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));
  return std::hash<std::string_view>{}(name);
}

}  // namespace

void code_inventory::add_module(std::span<std::uint8_t const> image, origin from) noexcept {
  auto const before = monotonic_ns();
  own_arithmetic const exact;  // the table of functions may grow, which uses floating point
  try {
    auto const facts = look_at_cubin(image);
    if (!facts) return count(counts_.damaged);
    if (facts->code_bytes > limits_.code_bytes) return count(counts_.too_large);
    auto const read = read_cubin(
        image, [&](std::string_view name, kernel_code const& code) { add(name, code, from); });
    count(read ? counts_.modules : counts_.damaged);
  } catch (...) {  // out of memory: the module's kernels stay unknown
    count(counts_.left_out);
  }
  version_.fetch_add(1, std::memory_order_release);
  count(counts_.read_ns, monotonic_ns() - before);
}

void code_inventory::add(std::string_view name, kernel_code const& code, origin from) {
  std::lock_guard const lock(mutex_);
  auto const key = key_of(name);
  auto const found = functions_.find(key);
  if (found == functions_.end()) {
    if (functions_.size() >= limits_.functions) return count(counts_.left_out);
    functions_.emplace(key, code);
    return;
  }
  auto& known = found->second;
  if (known == code) return;
  // CUPTI's rewriting adds calls to the counting code, but no tensor instructions.
  auto const is_rewritten =
      from == origin::maybe_rewritten && known.holds.tensor() == code.holds.tensor();
  // Any of these kernels contains at most the union of all of them.
  known.holds.insert(code.holds);
  if (!is_rewritten && code.fma.count > known.fma.count) known.fma = code.fma;
  known.is_complete = known.is_complete && (code.is_complete || is_rewritten);
}

std::optional<kernel_code> code_inventory::find(std::string_view mangled) const noexcept {
  std::lock_guard const lock(mutex_);
  auto const found = functions_.find(key_of(mangled));
  if (found == functions_.end()) return std::nullopt;
  return found->second;
}

}  // namespace gpuprof::guest
