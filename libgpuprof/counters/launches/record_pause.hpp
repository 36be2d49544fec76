// Kernel records off around one launch, and no launch of another thread meanwhile.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

namespace gpuprof {

/// One per process: what it knows of a thread is kept once. Any thread, without lock.
class record_pause {
 public:
  /// `pause`, false when it cannot be now, and `resume` switch the records.
  record_pause(std::function<bool()> pause, std::function<void()> resume)
      : pause_(std::move(pause)), resume_(std::move(resume)) {}

  /// A launching call of this thread begins, which waits for the pause of another, 10 ms at most.
  void call_begins() noexcept;
  void call_ends() noexcept;

  /// Within such a call. False, and nothing to end, when one of another thread is under way.
  bool begin() noexcept;
  /// Nothing when this thread has none.
  void end() noexcept;
  /// This thread has one.
  bool is_mine() const noexcept;

 private:
  std::function<bool()> const pause_;
  std::function<void()> const resume_;
  std::atomic<int> calls_{0}, pauses_{0};  // under way
};

}  // namespace gpuprof
