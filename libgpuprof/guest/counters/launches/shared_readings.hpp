// SPDX-License-Identifier: Apache-2.0
// What ranks of a job have read around launches, told to each other while they run, so that none
// reads what another has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::guest {

struct shared_reading {
  std::uint64_t signature = 0;  // the same in every process, see launch_signature::identity()
  std::uint32_t groups = 0;     // of metrics that were read; bits
  std::uint64_t mean_ns = 0;
  friend bool operator==(shared_reading const&, shared_reading const&) = default;
};

/// Each rank writes a file beside its capture, "run.rank3.readings", and reads those of the others.
/// It keeps a lock on its own, which goes with the process: what a process that is gone has left is
/// not believed. Where files cannot be made or locked nothing is shared. The worker's thread.
///
/// The files may lie on a file system that all ranks share: a rank asks for the size and time of a
/// few of them at once, opens those that have changed, and asks less often while none has.
class shared_readings {
 public:
  /// Of a job with more ranks every rank reads for itself: looking at so many files costs more.
  static constexpr std::uint32_t max_ranks = 64;

  static constexpr std::uint64_t min_pause_ns = 500'000'000, max_pause_ns = 4'000'000'000;
  /// A file that has not changed is opened again after so long: its process may have gone.
  static constexpr std::uint64_t believed_for_ns = 32'000'000'000;
  static constexpr std::size_t max_files_at_once = 16;

  /// `own_capture`: the path of this rank's capture; empty while there is none.
  shared_readings(std::function<std::string()> own_capture, std::uint32_t ranks)
      : own_capture_(std::move(own_capture)), ranks_(ranks) {}
  ~shared_readings() { end(); }
  shared_readings(shared_readings const&) = delete;
  shared_readings& operator=(shared_readings const&) = delete;

  /// What the counters are set up for: groups mean the same only where it is the same.
  void set_up_for(std::uint64_t setup) { setup_ = setup; }
  void tell(std::span<shared_reading const> fresh);
  /// All that ranks which run now have told, as far as is known; looks for more when that is due.
  std::vector<shared_reading> hear(std::uint64_t now_ns);
  /// How many files of others it has asked for.
  std::uint64_t looks() const noexcept { return looks_; }
  /// Removes the file. What comes to be told later makes it anew, with what was told before.
  void end() noexcept;

 private:
  /// Of another rank.
  struct file {
    std::string path;
    std::array<std::uint64_t, 4> seen{};  // which file, how large, written when; zeros: none
    std::uint64_t opened_ns = 0;
    std::vector<shared_reading> told;
  };

  bool open();
  void list_files();
  bool look_at(file& other, std::uint64_t now_ns);
  std::vector<shared_reading> told_in(file& other) const;

  std::function<std::string()> const own_capture_;
  std::uint32_t const ranks_;
  std::vector<file> others_;  // by rank
  std::size_t next_file_ = 0;
  std::uint64_t next_look_ns_ = 0, pause_ns_ = min_pause_ns, looks_ = 0;
  std::uint64_t setup_ = 0;
  std::vector<shared_reading> told_;
  std::string path_;
  int file_ = -1;
};

}  // namespace gpuprof::guest
