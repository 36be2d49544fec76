// SPDX-License-Identifier: Apache-2.0
// Shares what each rank of a job has read around launches, while they run, so that no rank reads
// what another has.
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
  std::uint64_t signature = 0;  // equal in all processes, see launch_signature::identity()
  std::uint32_t groups = 0;     // bits of the metric groups that were read
  std::uint64_t mean_ns = 0;
  friend bool operator==(shared_reading const&, shared_reading const&) = default;
};

/// Each rank writes a file beside its capture, "run.rank3.readings", and reads those of the others.
/// It holds a lock on its own file, which ends with the process; files of ended processes are
/// ignored. If files cannot be created or locked, nothing is shared. Used by the worker's thread
/// only.
///
/// The files may be on a file system that all ranks share. So a rank checks size and time of only a
/// few of them at once, opens those that have changed, and checks less often while none change.
class shared_readings {
 public:
  /// In a job with more ranks every rank reads for itself, because checking so many files costs
  /// more.
  static constexpr std::uint32_t max_ranks = 64;

  static constexpr std::uint64_t min_pause_ns = 500'000'000, max_pause_ns = 4'000'000'000;
  /// An unchanged file is opened again after this time, because its process may have ended.
  static constexpr std::uint64_t believed_for_ns = 32'000'000'000;
  static constexpr std::size_t max_files_at_once = 16;

  /// `own_capture`: the path of this rank's capture; empty while there is none.
  shared_readings(std::function<std::string()> own_capture, std::uint32_t ranks)
      : own_capture_(std::move(own_capture)), ranks_(ranks) {}
  ~shared_readings() { end(); }
  shared_readings(shared_readings const&) = delete;
  shared_readings& operator=(shared_readings const&) = delete;

  /// Sets the id of the counter setup: group numbers are comparable only if it is equal.
  void set_up_for(std::uint64_t setup) { setup_ = setup; }
  void tell(std::span<shared_reading const> fresh);
  /// Returns all readings that running ranks are known to have shared. Checks for new ones when
  /// that is due.
  std::vector<shared_reading> hear(std::uint64_t now_ns);
  /// How often it has checked files of other ranks.
  std::uint64_t looks() const noexcept { return looks_; }
  /// Removes the file. A later tell() creates it again, with all earlier readings.
  void end() noexcept;

 private:
  /// File of another rank.
  struct file {
    std::string path;
    std::array<std::uint64_t, 4> seen{};  // inode, size and time of writing; zeros: no file
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
