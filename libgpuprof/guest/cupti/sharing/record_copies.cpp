// SPDX-License-Identifier: Apache-2.0
#include "guest/cupti/sharing/record_copies.hpp"

#include "base/time.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <link.h>
#include <optional>
#include <string_view>
#include <utility>

namespace gpuprof::guest {
namespace {

std::unique_ptr<started_buffer> start(buffer_functions const& client) {
  auto fresh = std::make_unique<started_buffer>();
  fresh->owner = client;
  client.request(&fresh->bytes, &fresh->size, &fresh->max_records);
  return fresh->bytes != nullptr ? std::move(fresh) : nullptr;
}

// A client may flush while records are delivered to it.
constinit thread_local int deliveries_here __attribute__((tls_model("initial-exec"))) = 0;

/// Counts a delivery until it ends, even by an exception of the client.
class counted_delivery {
 public:
  explicit counted_delivery(std::atomic<int>& all) noexcept : all_(all) {
    all_.fetch_add(1, std::memory_order_acq_rel);
    ++deliveries_here;
  }
  ~counted_delivery() {
    --deliveries_here;
    all_.fetch_sub(1, std::memory_order_acq_rel);
  }
  counted_delivery(counted_delivery const&) = delete;
  counted_delivery& operator=(counted_delivery const&) = delete;

 private:
  std::atomic<int>& all_;
};

}  // namespace

bool record_copies::writer::add(std::span<std::uint8_t const> record) noexcept {
  try {
    if (buffer_ != nullptr && !buffer_->has_room(record.size())) {
      std::lock_guard const lock(all_.mutex_);
      all_.full_.push_back(std::move(buffer_));
    }
    if (buffer_ == nullptr) buffer_ = start(client_);
  } catch (...) {  // no memory, here or in the client
    return false;
  }
  if (buffer_ == nullptr || !buffer_->has_room(record.size())) return false;
  std::memcpy(buffer_->bytes + buffer_->used, record.data(), record.size());
  buffer_->used += record.size();
  ++buffer_->records;
  buffer_->context = context_;
  return true;
}

void record_copies::put_off(started_buffer const& buffer) noexcept {
  try {
    auto waiting = std::make_unique<started_buffer>(buffer);
    std::lock_guard const lock(mutex_);
    full_.push_back(std::move(waiting));
  } catch (...) {  // no memory: its records are lost
  }
}

std::unique_ptr<started_buffer> record_copies::take_started(buffer_functions const& client) {
  std::lock_guard const lock(mutex_);
  if (started_.empty() || started_.back()->owner != client) return nullptr;
  auto last = std::move(started_.back());
  started_.pop_back();
  return last;
}

void record_copies::keep(std::unique_ptr<started_buffer> buffer) noexcept {
  if (buffer == nullptr) return;
  try {
    std::lock_guard const lock(mutex_);
    started_.push_back(std::move(buffer));
  } catch (...) {  // no memory: its records are lost
  }
}

void record_copies::prepare(buffer_functions const& client) {
  {
    std::lock_guard const lock(mutex_);
    if (!started_.empty()) return;
  }
  keep(start(client));
}

void record_copies::deliver(bool partly, bool empty) {
  std::vector<std::unique_ptr<started_buffer>> ready;
  std::optional<counted_delivery> counted;
  {
    std::lock_guard const lock(mutex_);
    counted.emplace(deliveries_);
    ready.swap(full_);
    for (auto& buffer : started_)
      if (empty || (partly && buffer->used != 0)) ready.push_back(std::move(buffer));
    std::erase(started_, nullptr);
  }
  for (auto const& buffer : ready)
    buffer->owner.complete(buffer->context, 0, buffer->bytes, buffer->size, buffer->used);
}

bool record_copies::is_delivered_elsewhere() const noexcept {
  return deliveries_.load(std::memory_order_acquire) > deliveries_here;
}

std::uint64_t clock_map::theirs(std::uint64_t real) const noexcept {
  if (is_identity() || real == 0) return real;
  auto const signed_difference = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(static_cast<std::int64_t>(a - b));
  };
  auto from = pairs_.front();
  double rate = 1;  // one tick per nanosecond
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

// Takes the middle between two reads of our clock: the error is at most half the time of reading
// the client's clock.
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
  } catch (...) {  // no memory: read again when records are delivered
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
