// SPDX-License-Identifier: Apache-2.0
#include "counters/launches/signatures/launch_signatures.hpp"

namespace gpuprof {
namespace {

constexpr std::uint32_t beyond = 1;  // one of too many values, as in kernel_shape

/// The finaliser of splitmix64.
std::uint64_t mixed(std::uint64_t h) noexcept {
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9u;
  h = (h ^ (h >> 27)) * 0x94D049BB133111EBu;
  return h ^ (h >> 31);
}

// Times are compared once there are so many of a signature, beyond the first few, which are slower.
constexpr double min_timed = 16;
constexpr std::uint64_t first_times = 3;
// A standard deviation, as a share of the mean. Shorter kernels differ by chance alone.
constexpr double differs = 0.15;
constexpr double min_ns = 5000;

}  // namespace

void launch_signature::add_time(std::uint64_t ns, bool is_part) noexcept {
  gpu_ns_.fetch_add(ns, relaxed);
  if (is_part || timed_launches_.fetch_add(1, relaxed) < first_times || varies()) return;
  auto const value = static_cast<double>(ns);
  timed_ += 1;
  auto const off = value - mean_ns_;
  mean_ns_ += off / timed_;
  squares_ += off * (value - mean_ns_);
  if (timed_ < min_timed || mean_ns_ < min_ns) return;
  if (squares_ / timed_ > differs * mean_ns_ * differs * mean_ns_) varies_.store(true, relaxed);
}

std::uint64_t launch_signatures::key_of(launch_parameters const& launch,
                                        std::uint32_t context) noexcept {
  auto h = mixed(mixed(reinterpret_cast<std::uintptr_t>(launch.work) + 1) ^ context ^
                 std::uint64_t{launch.name} << 32);
  for (auto const extent : {launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                            launch.block[1], launch.block[2], launch.shared_bytes})
    h = mixed(h ^ extent);
  return h;
}

launch_signature* launch_signatures::with_arguments(std::uint64_t key, launch_signature& any,
                                                    std::uint32_t arguments) noexcept {
  if (arguments == 0) return &any;
  auto const with_values = mixed(key ^ mixed(arguments));
  auto* known = at(with_values, false);
  auto const is_told = is_told_apart(any, known == nullptr);
  // Kinds that differ in their arguments leave room for those that do not.
  auto const has_room = used_.load(std::memory_order_relaxed) < capacity / 2;
  if (is_told && known == nullptr && has_room) known = at(with_values, true);
  if (!is_told || known == nullptr) {
    arguments = beyond;
    known = at(mixed(key ^ mixed(beyond)), true);
  }
  if (known == nullptr) return &any;
  if (known->whole_.load(launch_signature::relaxed) == nullptr)
    known->whole_.store(&any, launch_signature::relaxed);
  if (known->arguments() != arguments)
    known->arguments_.store(arguments, launch_signature::relaxed);
  return known;
}

/// `any`: the function and extents, whatever the arguments; `is_new`: these were not seen before.
bool launch_signatures::is_told_apart(launch_signature& any, bool is_new) noexcept {
  constexpr auto is_noise = ~std::uint32_t{0};
  auto const launches = any.launches_.fetch_add(1, launch_signature::relaxed) + 1;
  auto const values = any.values_.load(launch_signature::relaxed);
  if (values == is_noise) return false;
  if (!is_new) return true;
  if (values < max_values) {
    any.values_.fetch_add(1, launch_signature::relaxed);
    return true;
  }
  if (launches < max_values * times_each) any.values_.store(is_noise, launch_signature::relaxed);
  return false;
}

void launch_signatures::forget_graph(void const* graph) noexcept {
  launch_parameters launch;
  launch.work = graph;
  if (auto* const known = at(key_of(launch, 0), false)) known->forget();
}

/// Null when it is not there, and none may be added or there is no room.
launch_signature* launch_signatures::at(std::uint64_t key, bool may_add) noexcept {
  if (key == 0) key = 1;  // 0 is a free slot
  for (std::size_t i = 0; i < capacity; ++i) {
    auto& slot = (*slots_)[(key + i) % capacity];
    auto seen = slot.key_.load(std::memory_order_acquire);
    if (seen == key) return &slot;
    if (seen != 0) continue;
    if (!may_add || used_.load(std::memory_order_relaxed) >= capacity / 4 * 3) return nullptr;
    if (slot.key_.compare_exchange_strong(seen, key, std::memory_order_acq_rel)) {
      (*order_)[used_.fetch_add(1, std::memory_order_acq_rel)].store(&slot,
                                                                     std::memory_order_release);
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
    auto const done = (slot.ever_done() | slot.read_elsewhere()) & all;
    auto const may_come = all & ~done & ~slot.hopeless();
    ++counted.signatures;
    counted.unread += done == 0 && may_come != 0;
    counted.partly += done != 0 && may_come != 0;
    counted.left_out += done != all && may_come == 0;
  }
  return counted;
}

}  // namespace gpuprof
