// SPDX-License-Identifier: Apache-2.0
// What ranks of a job have read around launches, told to each other while they run, so that none
// reads what another has.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof {

struct shared_reading {
  std::uint64_t signature = 0;  // the same in every process, see launch_signature::identity()
  std::uint32_t groups = 0;     // of metrics that were read; bits
  std::uint64_t mean_ns = 0;
  friend bool operator==(shared_reading const&, shared_reading const&) = default;
};

/// Each rank writes a file beside its capture, "run.rank3.readings", and reads those of the others.
/// It keeps a lock on its own, which goes with the process: what a process that is gone has left is
/// not believed. Where files cannot be made or locked nothing is shared. The worker's thread.
class shared_readings {
 public:
  /// Of a job with more ranks every rank reads for itself: looking at so many files costs more.
  static constexpr std::uint32_t max_ranks = 64;

  /// `own_capture`: the path of this rank's capture; empty while there is none.
  explicit shared_readings(std::function<std::string()> own_capture)
      : own_capture_(std::move(own_capture)) {}
  ~shared_readings() { end(); }
  shared_readings(shared_readings const&) = delete;
  shared_readings& operator=(shared_readings const&) = delete;

  /// What the counters are set up for: groups mean the same only where it is the same.
  void set_up_for(std::uint64_t setup) { setup_ = setup; }
  void tell(std::span<shared_reading const> fresh);
  /// All that ranks which run now have told.
  std::vector<shared_reading> hear() const;
  /// Removes the file. What comes to be told later makes it anew, with what was told before.
  void end() noexcept;

 private:
  bool open();

  std::function<std::string()> const own_capture_;
  std::uint64_t setup_ = 0;
  std::vector<shared_reading> told_;
  std::string path_;
  int file_ = -1;
};

}  // namespace gpuprof
