// Whether a launch can be waited for without harm to the program.
#pragma once

#include "driver/cuda_driver.hpp"

#include <atomic>
#include <cstdint>

namespace gpuprof {

/// Any thread.
class launch_safety {
 public:
  explicit launch_safety(cuda_driver const& driver) noexcept : driver_(driver) {}

  /// Streams being captured, as far as it was heard of.
  void capture_begins() noexcept { captures_.fetch_add(1, std::memory_order_seq_cst); }
  void capture_ends() noexcept;
  /// Calls that destroy a context, from their begin to their end: none is to be set up meanwhile.
  void context_ending() noexcept { endings_.fetch_add(1, std::memory_order_seq_cst); }
  void context_ended() noexcept;
  bool is_ending_context() const noexcept { return endings_.load(std::memory_order_seq_cst) != 0; }
  /// Begins whose ends were not to be heard of.
  void forget_begins() noexcept {
    captures_.store(0, std::memory_order_relaxed);
    endings_.store(0, std::memory_order_relaxed);
  }
  bool is_capturing() const noexcept { return captures_.load(std::memory_order_seq_cst) != 0; }
  /// No wait for the GPU would break a capture, this stream's own included.
  bool may_wait(CUstream stream) const noexcept;

  /// A kernel on the skip list was launched, which may wait for other GPUs, or went into a graph.
  /// What graphs hold is not known: none is safe then.
  void note_skipped(std::uint64_t now_ns) noexcept {
    last_skipped_.store(now_ns, std::memory_order_relaxed);
    shuns_graphs_.store(true, std::memory_order_relaxed);
  }
  /// A graph was changed after it was made: CUPTI does not count around such graphs.
  void note_changed_graph() noexcept { shuns_graphs_.store(true, std::memory_order_relaxed); }
  /// No graph is safe in this process.
  bool shuns_graphs() const noexcept { return shuns_graphs_.load(std::memory_order_relaxed); }
  bool follows_skipped(std::uint64_t now_ns) const noexcept;

  /// Polls, since CUPTI would wait for ever for a kernel that waits for what this thread does next.
  bool has_run_dry(CUstream stream, std::uint64_t patience_ns) const noexcept;

 private:
  cuda_driver const& driver_;
  std::atomic<int> captures_{0}, endings_{0};
  std::atomic<std::uint64_t> last_skipped_{0};
  std::atomic<bool> shuns_graphs_{false};
};

}  // namespace gpuprof
