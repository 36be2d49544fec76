// SPDX-License-Identifier: Apache-2.0
#include "guest/cupti/sharing/record_copies.hpp"

#include <cstring>
#include <optional>
#include <utility>

namespace gpuprof::guest {
namespace {

std::unique_ptr<started_buffer> start(buffer_functions const& client) {
  auto fresh = std::make_unique<started_buffer>();
  fresh->owner = client;
  client.request(&fresh->bytes, &fresh->size, &fresh->max_records);
  return fresh->bytes != nullptr ? std::move(fresh) : nullptr;
}

// A client may flush while it is handed something.
constinit thread_local int deliveries_here __attribute__((tls_model("initial-exec"))) = 0;

/// Counts a delivery until it is over, however that ends: a client may throw.
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
  } catch (...) {  // no memory, or the client has none
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
  } catch (...) {  // no memory: its records are what is lost
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
  } catch (...) {  // no memory: its records are what is lost
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

}  // namespace gpuprof::guest
