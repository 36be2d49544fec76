#include "counters/launches/launch_safety.hpp"

#include "base/clock.hpp"

namespace gpuprof {
namespace {

constexpr std::uint64_t after_skipped_ns = 10'000'000;

/// Of ends whose begin was not heard of nothing is left.
void count_down(std::atomic<int>& under_way) noexcept {
  auto now = under_way.load(std::memory_order_relaxed);
  while (now > 0 && !under_way.compare_exchange_weak(now, now - 1)) {
  }
}

}  // namespace

void launch_safety::capture_ends() noexcept {
  count_down(captures_);
}
void launch_safety::context_ended() noexcept {
  count_down(endings_);
}

bool launch_safety::may_wait(CUstream stream) const noexcept {
  if (driver_.cuStreamIsCapturing == nullptr || driver_.cuStreamQuery == nullptr) return false;
  CUstreamCaptureStatus status{};
  return !is_capturing() && driver_.cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
         status == CU_STREAM_CAPTURE_STATUS_NONE;
}

bool launch_safety::follows_skipped(std::uint64_t now_ns) const noexcept {
  auto const skipped = last_skipped_.load(std::memory_order_relaxed);
  return skipped != 0 && now_ns - skipped < after_skipped_ns;
}

bool launch_safety::has_run_dry(CUstream stream, std::uint64_t patience_ns) const noexcept {
  auto const deadline = monotonic_ns() + patience_ns;
  while (driver_.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
    if (monotonic_ns() > deadline) return false;
  return true;
}

}  // namespace gpuprof
