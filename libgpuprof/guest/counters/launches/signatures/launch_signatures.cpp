// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/launches/signatures/launch_signatures.hpp"

#include <memory>

namespace gpuprof::guest {
namespace {

constexpr std::uint64_t age_every_ns = 1'000'000'000;
constexpr std::uint32_t beyond = 1;  // one of too many values, as in kernel_shape

/// The finalizer of splitmix64.
std::uint64_t mixed(std::uint64_t h) noexcept {
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9u;
  h = (h ^ (h >> 27)) * 0x94D049BB133111EBu;
  return h ^ (h >> 31);
}

// Times are compared when a signature has this many, not counting the first few, which are slower.
constexpr double min_timed = 16;
constexpr std::uint64_t first_times = 3;
// Threshold for the standard deviation, as a share of the mean. Times of shorter kernels differ by
// chance.
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
  // Signatures that differ in their arguments leave room for others.
  auto const has_room = size() < capacity / 2;
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

/// `any`: the signature for this function and extents with any arguments. `is_new`: these arguments
/// were not seen before.
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

/// Returns null if the key is not found and may not be added, or if there is no room.
launch_signature* launch_signatures::at(table& in, std::uint64_t key, bool may_add) noexcept {
  if (key == 0) key = 1;  // 0 marks a free slot
  for (std::size_t i = 0; i < capacity; ++i) {
    auto& slot = in.slots[(key + i) % capacity];
    auto seen = slot.key_.load(std::memory_order_acquire);
    if (seen == key) return &slot;
    if (seen != 0) continue;
    if (!may_add || in.used.load(std::memory_order_relaxed) >= capacity / 4 * 3) return nullptr;
    if (slot.key_.compare_exchange_strong(seen, key, std::memory_order_acq_rel)) {
      in.order[in.used.fetch_add(1, std::memory_order_acq_rel)].store(&slot,
                                                                      std::memory_order_release);
      return &slot;
    }
    if (seen == key) return &slot;
  }
  return nullptr;
}

void launch_signatures::add_to(tally& counted, launch_signature const& signature,
                               launch_signature::groups all) noexcept {
  if (signature.is() != launch_signature::standing::allowed) return;
  auto const done = (signature.ever_done() | signature.read_elsewhere()) & all;
  auto const may_come = all & ~done & ~signature.hopeless();
  ++counted.signatures;
  counted.unread += done == 0 && may_come != 0;
  counted.partly += done != 0 && may_come != 0;
  counted.left_out += done != all && may_come == 0;
}

launch_signatures::tally launch_signatures::count(launch_signature::groups all) const noexcept {
  tally counted{removed_.signatures.load(), removed_.unread.load(), removed_.partly.load(),
                removed_.left_out.load()};
  for (auto const& slot : now().slots)
    if (slot.key_.load(std::memory_order_acquire) != 0) add_to(counted, slot, all);
  return counted;
}

void launch_signatures::table::clear() noexcept {
  for (auto& entry : order) entry.store(nullptr, std::memory_order_relaxed);
  for (auto& slot : slots) {
    std::destroy_at(&slot);
    std::construct_at(&slot);
  }
  used.store(0, std::memory_order_release);
}

bool launch_signatures::age(std::uint64_t now_ns, bool may_replace, launch_signature::groups all) {
  if (now_ns - looked_ns_ < age_every_ns) return false;
  looked_ns_ = now_ns;
  std::size_t in_use = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    auto* const signature = at(i);
    if (signature == nullptr) continue;
    auto& recent = signature->recent;
    if (recent.used_ns == 0 || signature->launches() != recent.aged_launches)
      recent.used_ns = now_ns;
    recent.aged_launches = signature->launches();
    in_use += was_used(*signature, now_ns);
  }
  auto const is_of_use = size() >= capacity / 2 && in_use < capacity * 3 / 8;
  if (!may_replace || !is_of_use || now_ns - replaced_ns_ < unused_after_ns) return false;
  replace_table(now_ns, all);
  return true;
}

/// The other table was in use until the last replacement, at least a minute ago.
void launch_signatures::replace_table(std::uint64_t now_ns, launch_signature::groups all) {
  auto const next = 1 - current_.load();
  if (tables_[next] == nullptr)
    tables_[next] = std::make_unique<table>();
  else
    tables_[next]->clear();
  tally gone;
  for (std::size_t i = 0; i < size(); ++i) {
    auto const* const signature = at(i);
    if (signature == nullptr) continue;
    if (!was_used(*signature, now_ns)) {
      add_to(gone, *signature, all);
    } else if (auto* const kept = at(*tables_[next], signature->key_.load(), true)) {
      kept->take_over(*signature);
    }
  }
  replaced_ns_ = now_ns;
  current_.store(next, std::memory_order_release);
  removed_.signatures.fetch_add(gone.signatures);
  removed_.unread.fetch_add(gone.unread);
  removed_.partly.fetch_add(gone.partly);
  removed_.left_out.fetch_add(gone.left_out);
}

void launch_signature::take_over(launch_signature const& earlier) noexcept {
  auto const copy = [](auto& to, auto const& from) { to.store(from.load(relaxed), relaxed); };
  copy(launches_, earlier.launches_);
  copy(gpu_ns_, earlier.gpu_ns_);
  copy(timed_launches_, earlier.timed_launches_);
  copy(varies_, earlier.varies_);
  copy(done_, earlier.done_);
  copy(ever_done_, earlier.ever_done_);
  copy(hopeless_, earlier.hopeless_);
  copy(read_elsewhere_, earlier.read_elsewhere_);
  copy(arguments_, earlier.arguments_);
  copy(values_, earlier.values_);
  copy(pattern_, earlier.pattern_);
  failures_ = earlier.failures_;
  ends_alone_ = earlier.ends_alone_;
  recent = earlier.recent;
  // If another thread is deciding just now, the decision is made again.
  auto const decided = earlier.is();
  if (decided != standing::allowed && decided != standing::never) return;
  is_graph_ = earlier.is_graph_;
  is_cooperative_ = earlier.is_cooperative_;
  code_ = earlier.code_;
  identity_ = earlier.identity_;
  decide(decided);
}

}  // namespace gpuprof::guest
