// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/launches/context_streams.hpp"

#include "base/own_calls.hpp"
#include "base/time.hpp"

#include <algorithm>

namespace gpuprof::guest {
namespace {

/// The stream this thread used last: most calls use the same one again.
struct state_of_thread {
  context_streams const* of = nullptr;
  CUstream stream = nullptr;
  std::uint32_t epoch = 0;
  std::uint64_t noted_ns = 0;
};
constinit thread_local state_of_thread here __attribute__((tls_model("initial-exec")));

// Precision of the time at which a stream was last used.
constexpr std::uint64_t renewed_after_ns = 10'000'000;

/// While it lives, queries by this thread do not break a stream capture that another thread has
/// begun.
class relaxed_captures {
 public:
  explicit relaxed_captures(cuda_driver const& driver) noexcept
      : exchange_(driver.cuThreadExchangeStreamCaptureMode) {
    if (exchange_ != nullptr) exchange_(&mode_);
  }
  ~relaxed_captures() {
    if (exchange_ != nullptr) exchange_(&mode_);
  }
  relaxed_captures(relaxed_captures const&) = delete;
  relaxed_captures& operator=(relaxed_captures const&) = delete;

 private:
  decltype(cuda_driver::cuThreadExchangeStreamCaptureMode) exchange_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

}  // namespace

void context_streams::used(CUstream stream) noexcept {
  // This handle means another stream in each thread, so only that thread could query it.
  if (stream == CU_STREAM_PER_THREAD) return used_unknown();
  auto const epoch = epoch_.load(std::memory_order_acquire);
  auto const moment = monotonic_ns();
  if (here.of == this && here.stream == stream && here.epoch == epoch &&
      moment - here.noted_ns < renewed_after_ns)
    return;
  here = {this, stream, epoch, moment};
  std::lock_guard const lock(mutex_);
  auto const found = std::find_if(streams_.begin(), streams_.end(),
                                  [stream](used_stream const& s) { return s.stream == stream; });
  if (found != streams_.end()) {
    found->last_used_ns = moment;
    found->may_have_work = true;
    return;
  }
  try {
    if (streams_.size() < max_streams) return streams_.push_back({stream, moment, true});
  } catch (...) {
  }
  auto const idle = std::find_if(streams_.begin(), streams_.end(),
                                 [](used_stream const& s) { return !s.may_have_work; });
  if (idle == streams_.end()) return used_unknown();
  *idle = {stream, moment, true};
}

void context_streams::destroyed(CUstream stream) noexcept {
  std::lock_guard const lock(mutex_);
  auto const found = std::find_if(streams_.begin(), streams_.end(),
                                  [stream](used_stream const& s) { return s.stream == stream; });
  if (found == streams_.end()) return;
  // Its remaining work continues after the handle is gone, when it can no longer be queried.
  own_calls const marked;
  relaxed_captures const relaxed(driver_);
  if (found->may_have_work &&
      (driver_.cuStreamQuery == nullptr || driver_.cuStreamQuery(stream) != CUDA_SUCCESS))
    used_unknown();
  streams_.erase(found);
  epoch_.fetch_add(1, std::memory_order_release);  // the handle may be used for another stream
}

void context_streams::forget() noexcept {
  used_unknown();
  std::lock_guard const lock(mutex_);
  streams_.clear();
  epoch_.fetch_add(1, std::memory_order_release);
}

bool context_streams::is_busy(CUstream stream) const noexcept {
  return driver_.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY;
}

bool context_streams::are_idle() noexcept {
  if (!is_known() || driver_.cuStreamQuery == nullptr) return false;
  relaxed_captures const relaxed(driver_);
  std::lock_guard const lock(mutex_);
  for (auto const& s : streams_)
    if (s.may_have_work && is_busy(s.stream)) return false;
  return true;
}

void context_streams::forget_idle() noexcept {
  std::lock_guard const lock(mutex_);
  for (auto& s : streams_) s.may_have_work = false;
  epoch_.fetch_add(1, std::memory_order_release);
}

bool context_streams::works_long(std::uint64_t now_ns, std::uint64_t than_ns) noexcept {
  if (driver_.cuStreamQuery == nullptr) return true;
  relaxed_captures const relaxed(driver_);
  std::lock_guard const lock(mutex_);
  return std::any_of(streams_.begin(), streams_.end(), [&](used_stream const& s) {
    return s.may_have_work && s.last_used_ns + than_ns < now_ns && is_busy(s.stream);
  });
}

bool context_streams::is_known_stream(CUstream stream) const noexcept {
  return stream == nullptr || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD ||
         std::any_of(streams_.begin(), streams_.end(),
                     [stream](used_stream const& s) { return s.stream == stream; });
}

bool context_streams::may_wait_for(CUstream stream) noexcept {
  if (driver_.cuStreamIsCapturing == nullptr) return false;
  relaxed_captures const relaxed(driver_);
  std::lock_guard const lock(mutex_);
  if (!is_known_stream(stream)) return false;
  CUstreamCaptureStatus status{};
  return driver_.cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
         status == CU_STREAM_CAPTURE_STATUS_NONE;
}

}  // namespace gpuprof::guest
