// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/launches/reading_cycle.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace gpuprof::guest {
namespace {

constexpr unsigned max_failures = 3;

std::uint32_t next_reading_number() noexcept {
  static std::atomic<std::uint32_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

launch_signature::groups bit(unsigned group) noexcept {
  return launch_signature::groups{1} << group;
}

}  // namespace

reading_cycle::reading_cycle(cycle_group group, limits allowed, std::uint64_t now_ns)
    : group_(group), allowed_(allowed), last_kept_ns_(now_ns) {}

bool reading_cycle::lacks(launch_signature const& signature) const noexcept {
  return signature.recent.is_target &&
         ((signature.done() | signature.hopeless()) & bit(group_.number)) == 0;
}

bool reading_cycle::needs_proof(launch_signature const& signature) const noexcept {
  return !allowed_.every_launch && group_.rewrites && lacks(signature) && !signature.ends_alone();
}

std::optional<std::size_t> reading_cycle::range_for(
    launch_signature const& signature) const noexcept {
  if (allowed_.every_launch) return is_full() ? std::nullopt : std::optional(ranges_.size());
  if (!lacks(signature) || needs_proof(signature)) return std::nullopt;
  auto const known = std::find_if(ranges_.begin(), ranges_.end(), [&signature](reading const& r) {
    return r.signature == &signature;
  });
  auto const index = static_cast<std::size_t>(known - ranges_.begin());
  if (known == ranges_.end()) return pass_ == 0 && !is_full() ? std::optional(index) : std::nullopt;
  // It has been in this pass already, or it has missed a pass.
  if (known->opened == pass_ + 1 || known->last_pass != pass_) return std::nullopt;
  return index;
}

bool reading_cycle::make_room(std::size_t range) noexcept {
  try {
    ranges_.reserve(std::max(allowed_.max_ranges, range + 1));
    auto& launches = range < ranges_.size() ? ranges_[range].launches : for_next_;
    launches.reserve(group_.passes);
    return true;
  } catch (...) {
    return false;
  }
}

void reading_cycle::add(std::size_t range, launch_signature& signature, bool kept,
                        read_launch_record const& launch, std::uint64_t now_ns) noexcept {
  // A launch that is not kept still takes its place, because names count ranges.
  if (range >= ranges_.size()) {
    ranges_.resize(range + 1);  // reserved, and its launches too
    ranges_[range].launches = std::exchange(for_next_, {});
  }
  auto& r = ranges_[range];
  r.opened = pass_ + 1;
  if (!kept) {
    r = {.signature = nullptr, .launches = {}, .opened = pass_ + 1, .last_pass = 0};
    if (!allowed_.every_launch && signature.count_failure() >= max_failures)
      signature.give_up(bit(group_.number));
    return;
  }
  r.signature = &signature;
  r.launches.push_back(launch);
  r.launches.back().group = static_cast<std::uint16_t>(group_.number);
  r.last_pass = pass_ + 1;
  ++in_pass_;
  ++kept_;
  last_kept_ns_ = now_ns;
}

/// Number of readings that wait for this pass.
std::size_t reading_cycle::expected() const noexcept {
  return static_cast<std::size_t>(std::count_if(
      ranges_.begin(), ranges_.end(),
      [this](reading const& r) { return r.signature != nullptr && r.last_pass == pass_; }));
}

bool reading_cycle::pass_is_over(std::size_t wanted, std::uint64_t now_ns) const noexcept {
  if (allowed_.every_launch) return is_full();
  if (now_ns - last_kept_ns_ >= allowed_.patience_ns) return in_pass_ != 0 || pass_ != 0;
  if (pass_ != 0) return expected() == 0;
  return is_full() || (in_pass_ != 0 && in_pass_ >= wanted);
}

bool reading_cycle::pass_is_useless() const noexcept {
  return !allowed_.every_launch && pass_ != 0 && expected() == 0;
}

bool reading_cycle::next_pass(std::uint64_t now_ns) noexcept {
  if (pass_ + 1 >= group_.passes) return false;
  ++pass_;
  in_pass_ = 0;
  last_kept_ns_ = now_ns;
  return true;
}

std::vector<reading> reading_cycle::finish() {
  for (auto& r : ranges_) {
    if (r.signature == nullptr) continue;
    if (r.launches.size() == group_.passes) {
      r.signature->mark_done(group_.number);
      r.signature->recent.read_at_launches = r.signature->launches();
      // The launches of a reading share a reading number.
      for (auto const number = next_reading_number(); auto& launch : r.launches)
        launch.reading = number;
    } else {
      r.launches.clear();
      if (r.signature->count_failure() >= max_failures) r.signature->give_up(bit(group_.number));
    }
  }
  return std::exchange(ranges_, {});
}

}  // namespace gpuprof::guest
