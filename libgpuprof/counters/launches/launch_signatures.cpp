#include "counters/launches/launch_signatures.hpp"

namespace gpuprof {
namespace {

/// The finaliser of splitmix64.
std::uint64_t mixed(std::uint64_t h) noexcept {
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9u;
  h = (h ^ (h >> 27)) * 0x94D049BB133111EBu;
  return h ^ (h >> 31);
}

std::uint64_t key_of(launch_parameters const& launch, std::uint32_t context) noexcept {
  auto h = mixed(mixed(reinterpret_cast<std::uintptr_t>(launch.work) + 1) ^ context);
  for (auto const extent : {launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                            launch.block[1], launch.block[2], launch.shared_bytes})
    h = mixed(h ^ extent);
  return h != 0 ? h : 1;  // 0 is a free slot
}

}  // namespace

launch_signature* launch_signatures::find(launch_parameters const& launch,
                                          std::uint32_t context) noexcept {
  auto const key = key_of(launch, context);
  for (std::size_t i = 0; i < capacity; ++i) {
    auto& slot = (*slots_)[(key + i) % capacity];
    auto seen = slot.key_.load(std::memory_order_acquire);
    if (seen == key) return &slot;
    if (seen != 0) continue;
    if (used_.load(std::memory_order_relaxed) >= capacity / 4 * 3) return nullptr;
    if (slot.key_.compare_exchange_strong(seen, key, std::memory_order_acq_rel)) {
      used_.fetch_add(1, std::memory_order_relaxed);
      return &slot;
    }
    if (seen == key) return &slot;
  }
  return nullptr;
}

launch_signatures::tally launch_signatures::count(launch_signature::groups all) const noexcept {
  tally counted;
  for (auto const& slot : *slots_) {
    if (slot.key_.load(std::memory_order_acquire) == 0 ||
        slot.is() != launch_signature::standing::allowed)
      continue;
    auto const done = slot.ever_done() & all;
    ++counted.kinds;
    counted.unread += done == 0 && all != 0;
    counted.partly += done != 0 && done != all;
  }
  return counted;
}

}  // namespace gpuprof
