// SPDX-License-Identifier: Apache-2.0
#include "guest/cupti/sharing/record_clock.hpp"

#include "base/clock.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <link.h>
#include <string_view>

namespace gpuprof::guest {

std::uint64_t clock_map::theirs(std::uint64_t real) const noexcept {
  if (is_identity() || real == 0) return real;
  auto const signed_difference = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(static_cast<std::int64_t>(a - b));
  };
  auto from = pairs_.front();
  double rate = 1;  // as if it counted nanoseconds
  if (pairs_.size() > 1) {
    auto const after =
        std::lower_bound(pairs_.begin() + 1, pairs_.end() - 1, real,
                         [](clock_pair const& p, std::uint64_t time) { return p.real < time; });
    from = *(after - 1);
    rate = signed_difference(after->theirs, from.theirs) /
           std::max(signed_difference(after->real, from.real), 1.0);
  }
  auto const ahead = std::llround(signed_difference(real, from.real) * rate);
  return from.theirs + static_cast<std::uint64_t>(ahead);
}

// dladdr() waits for a dlopen() or dlclose() on another thread, which may wait for us.
code_holder holder_of(void const* address) noexcept {
  struct question {
    std::uintptr_t address;
    code_holder answer;
  } asked{reinterpret_cast<std::uintptr_t>(address), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        auto& q = *static_cast<question*>(out);
        for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
          auto const& part = info->dlpi_phdr[i];
          auto const begin = info->dlpi_addr + part.p_vaddr;
          if (part.p_type != PT_LOAD || q.address < begin || q.address >= begin + part.p_memsz)
            continue;
          q.answer = {begin, std::hash<std::string_view>{}(info->dlpi_name)};
          return 1;
        }
        return 0;
      },
      &asked);
  return asked.answer;
}

// Between two looks at ours: its middle, half of what reading theirs takes off at most.
clock_pair record_clock::read(CUpti_TimestampCallbackFunc clock) noexcept {
  clock_pair best;
  auto shortest = ~std::uint64_t{0};
  for (int i = 0; i < 5; ++i) {
    auto const before = now().value;
    auto const theirs = clock();
    auto const took = now().value - before;
    if (took >= shortest) continue;
    shortest = took;
    best = {before + took / 2, theirs};
  }
  return best;
}

void record_clock::is_now(CUpti_TimestampCallbackFunc clock) noexcept {
  auto const holder = holder_of(reinterpret_cast<void const*>(clock));
  auto const moment = clock != nullptr ? read(clock) : clock_pair{};
  std::lock_guard const lock(mutex_);
  if (theirs_.exchange(clock, std::memory_order_acq_rel) != clock) pairs_.clear();
  holder_ = holder;
  try {
    if (clock != nullptr && pairs_.empty()) pairs_.push_back(moment);
  } catch (...) {  // no memory: looked at again when records are handed on
  }
}

bool record_clock::is_still_there(CUpti_TimestampCallbackFunc clock) noexcept {
  auto const holder = holder_of(reinterpret_cast<void const*>(clock));
  std::lock_guard const lock(mutex_);
  if (holder.base != 0 && holder == holder_) return true;
  theirs_.compare_exchange_strong(clock, nullptr);
  pairs_.clear();
  return false;
}

clock_map record_clock::map() {
  auto* const clock = theirs_.load(std::memory_order_acquire);
  if (clock == nullptr || !is_still_there(clock)) return clock_map{};
  auto const moment = read(clock);
  std::lock_guard const lock(mutex_);
  if (pairs_.empty()) return clock_map{{moment}};
  if (moment.real < pairs_.back().real + apart_ns && pairs_.size() > 1) return clock_map{pairs_};
  if (pairs_.size() >= max_pairs) pairs_.erase(pairs_.begin(), pairs_.begin() + max_pairs / 2);
  if (moment.real > pairs_.back().real) pairs_.push_back(moment);
  return clock_map{pairs_};
}

}  // namespace gpuprof::guest
