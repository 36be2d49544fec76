// SPDX-License-Identifier: Apache-2.0
// The hardware's buffer of one device's samples: which were taken since the start, which are left.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuprof::replay {

/// Numbers alone: sample i is that of the i-th interval after the start. One thread at a time.
class sample_buffer {
 public:
  struct setup {
    std::uint64_t interval = 1;  // ns
    std::size_t max_samples = 0;
    bool keeps_oldest = false;
  };
  struct samples {
    std::uint64_t first = 0;
    std::size_t count = 0;
  };

  void start(setup const& wanted, std::uint64_t now);
  void stop(std::uint64_t now) { stopped_ = now; }

  std::uint64_t begin_of(std::uint64_t index) const { return began_ + index * setup_.interval; }
  /// All that were complete by then, in the buffer or not.
  std::uint64_t taken(std::uint64_t by) const;

  /// True: it ran over, and the oldest samples are gone; `forced`: as if, half of them. One that
  /// keeps the oldest has run over from then on, and gives none.
  bool run_over(std::uint64_t now, bool forced);
  /// Takes out the oldest, at most so many, of those complete by then.
  samples take(std::size_t most, std::uint64_t by);
  bool holds_more(std::uint64_t by) const { return taken(by) > next_; }

 private:
  setup setup_;
  std::uint64_t began_ = 0, stopped_ = 0;
  std::uint64_t next_ = 0;  // the oldest in the buffer
  bool failed_ = false;
};

}  // namespace gpuprof::replay
