// SPDX-License-Identifier: Apache-2.0
#include "base/own_calls.hpp"

#include "base/bounded_queue.hpp"
#include "base/process.hpp"
#include "base/time.hpp"

#include <algorithm>
#include <array>
#include <atomic>

namespace gpuprof {
namespace {

// Only a few at a time: the drain thread and its helpers.
std::array<std::atomic<std::uint32_t>, 32> own_threads{};

// Nesting depth of own calls on this thread. Initial-exec TLS is accessed without a call.
constinit thread_local int own_depth __attribute__((tls_model("initial-exec"))) = 0;

std::atomic<bool> are_watched{false};

// Two notes are needed for each kernel whose parameters are read, each destroyed stream and each
// start or stop of a capture.
constexpr int max_notes = 1 << 12;
std::atomic<bounded_queue<own_calls_note>*> notes{nullptr};  // made once, never destroyed

// Space for both notes is reserved at once: without its end, a stretch would hide all later calls
// of its thread.
std::atomic<int> free_notes{max_notes};

bool take_two_notes() noexcept {
  if (free_notes.fetch_sub(2) >= 2) return true;
  free_notes.fetch_add(2);
  return false;
}

}  // namespace

void note_own_thread(std::uint32_t os_thread) noexcept {
  ++own_depth;
  for (auto& place : own_threads) {
    std::uint32_t unused = 0;
    if (place.compare_exchange_strong(unused, os_thread)) return;
  }
}

void forget_own_thread(std::uint32_t os_thread) noexcept {
  --own_depth;
  for (auto& place : own_threads) {
    auto known = os_thread;
    if (place.compare_exchange_strong(known, 0)) return;
  }
}

bool is_own_thread(std::uint32_t os_thread) noexcept {
  return os_thread != 0 && std::any_of(own_threads.begin(), own_threads.end(), [&](auto& place) {
           return place.load(std::memory_order_relaxed) == os_thread;
         });
}

bool makes_own_calls() noexcept {
  return own_depth != 0;
}

void watch_own_calls(bool on) {
  // Created here and not inside a callback.
  if (on && notes.load() == nullptr) notes.store(new bounded_queue<own_calls_note>(max_notes));
  are_watched.store(on, std::memory_order_release);
}

own_calls::own_calls() noexcept {
  ++own_depth;
  if (!are_watched.load(std::memory_order_acquire)) return;
  auto const thread = os_thread_id();
  if (is_own_thread(thread) || !take_two_notes()) return;
  note_ = {thread, now(), {}};
  notes.load(std::memory_order_acquire)
      ->push(note_);  // first, so that it is known before any record of the calls
}

own_calls::~own_calls() {
  --own_depth;
  if (note_.os_thread == 0) return;
  note_.to = now();
  notes.load(std::memory_order_acquire)->push(note_);
}

std::optional<own_calls_note> take_own_calls() noexcept {
  if (!are_watched.load(std::memory_order_acquire)) return std::nullopt;
  auto note = notes.load(std::memory_order_acquire)->pop();
  if (note) free_notes.fetch_add(1);
  return note;
}

}  // namespace gpuprof
