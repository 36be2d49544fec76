// SPDX-License-Identifier: Apache-2.0
#include "guest/stacks/last_stack.hpp"

#include <algorithm>
#include <bit>

namespace gpuprof::guest {
namespace {

constexpr std::size_t look_ahead = 16;  // for a frame below others that have returned

/// The compiler does not know that this is a value which it has already. Otherwise it might take
/// the one that was read last, and the processor would wait for it.
std::byte const* as_if_new(std::byte const* address) noexcept {
  asm("" : "+r"(address));
  return address;
}

/// Is it still not a frame of a Python function?
bool is_left_out(python_runtime const& python, std::byte const* frame) noexcept {
  python_position at;
  return python.step(own_frames{}, frame, at) && at.code == nullptr;
}

}  // namespace

std::uint64_t hash_of(std::uint64_t before, python_position const& at,
                      std::uint64_t identity) noexcept {
  auto const frame =
      reinterpret_cast<std::uintptr_t>(at.code) * 0x9E3779B97F4A7C15ull ^
      reinterpret_cast<std::uintptr_t>(at.instruction) * 0xC2B2AE3D27D4EB4Full ^
      (identity ^ reinterpret_cast<std::uintptr_t>(at.module)) * 0x165667B19E3779F9ull;
  return (std::rotl(before, 23) ^ frame ^ frame >> 29) * 0x9E3779B97F4A7C15ull;
}

/// The first frame from `at` outwards that is not what it was, or whose caller is another one.
/// Returns `capacity` if there is none.
std::size_t last_stack::first_other(python_runtime const& python, std::size_t at) const noexcept {
  python_runtime::frame_check const check(python);
  for (auto const* known = &frames_[at]; known->frame != nullptr; ++known) {
    auto const is_same = known->at.code != nullptr
                             ? check.is_at(known->frame, known->at, known->identity)
                             : is_left_out(python, known->frame);
    if (!is_same || check.caller_of(known->frame) != as_if_new(known[1].frame))
      return static_cast<std::size_t>(known - frames_.data());
  }
  return capacity;
}

/// Returns `capacity` if it is not there, or not near.
std::size_t last_stack::find(std::byte const* frame, std::size_t at) const noexcept {
  for (auto const end = std::min(at + look_ahead, capacity); at < end; ++at)
    if (frames_[at].frame == frame) return at;
  return capacity;
}

std::byte const* last_stack::read(python_runtime const& python, std::byte const* frame,
                                  known_frame& into) noexcept {
  into.frame = frame;
  python.step(own_frames{}, frame, into.at);
  into.identity = into.at.code != nullptr ? python.identity_of(into.at.code) : 0;
  return frame;
}

last_stack::outcome last_stack::follow(python_runtime const& python,
                                       std::byte const* innermost) noexcept {
  if (python.module_call() != module_call_) [[unlikely]] {
    forget();
    module_call_ = python.module_call();
  }
  std::array<known_frame, capacity> fresh;  // from the inside out, as far as they are not in place
  std::size_t size = 0;
  auto const* frame = innermost;
  auto at = begin_;
  while (frame != nullptr) {
    auto const first = find(frame, at);
    if (first == capacity) {
      if (size == capacity) return forget(), outcome::too_deep;
      frame = read(python, frame, fresh[size++]);
      continue;
    }
    auto changed = capacity;  // the outermost that is another one now
    for (at = first;; ++at) {
      at = first_other(python, at);
      if (at == capacity) return keep(fresh.data(), size, first, changed);
      frame = read(python, frames_[at].frame, frames_[at]);
      is_described_[at] = false;
      changed = at;
      if (frame != frames_[at + 1].frame) break;
      if (frame == nullptr) return keep(fresh.data(), size, first, changed);
    }
    ++at;  // other frames than before lie further out
    if (size + (at - first) > capacity) return forget(), outcome::too_deep;
    std::copy(frames_.data() + first, frames_.data() + at, fresh.data() + size);
    size += at - first;
  }
  return keep(fresh.data(), size, capacity, capacity);
}

/// `tail`: the first frame that is in its place; `changed`: the outermost of them that was
/// replaced.
last_stack::outcome last_stack::keep(known_frame const* fresh, std::size_t size, std::size_t tail,
                                     std::size_t changed) noexcept {
  if (size == 0 && changed == capacity && tail == begin_) [[likely]]
    return outcome::same;
  if (size > tail) return forget(), outcome::too_deep;
  number = 0;
  begin_ = tail - size;
  std::copy_n(fresh, size, frames_.data() + begin_);
  std::fill_n(is_described_.data() + begin_, size, false);
  for (auto i = changed != capacity ? changed + 1 : tail; i-- > begin_;) {
    auto const before = i + 1 < capacity ? sums_[i + 1] : sum{0, 0};
    auto const& known = frames_[i];
    sums_[i] = known.at.code == nullptr
                   ? before
                   : sum{hash_of(before.hash, known.at, known.identity), before.size + 1};
  }
  if (this->size() > max_stack_frames) return forget(), outcome::too_deep;
  return outcome::changed;
}

}  // namespace gpuprof::guest
