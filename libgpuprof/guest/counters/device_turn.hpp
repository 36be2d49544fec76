// SPDX-License-Identifier: Apache-2.0
// Processes of ours take turns at a GPU's counters: whose turn it is, and who has it instead.
#pragma once

#include "base/own_descriptor.hpp"

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace gpuprof::guest {

class device_turns;

/// While it lives no other process of ours has the counters of this GPU. Within a process any
/// number of them may live at once.
class device_turn {
 public:
  device_turn() = default;  // of no GPU
  device_turn(device_turn&& other) noexcept
      : of_(std::exchange(other.of_, nullptr)), gpu_(std::move(other.gpu_)) {}
  device_turn& operator=(device_turn&& other) noexcept {
    std::swap(of_, other.of_);
    std::swap(gpu_, other.gpu_);
    return *this;
  }
  ~device_turn();

 private:
  friend class device_turns;
  device_turn(device_turns& of, std::string gpu) : of_(&of), gpu_(std::move(gpu)) {}
  device_turns* of_ = nullptr;
  std::string gpu_;
};

/// One per process, any thread; nothing here waits. A turn is a lock on a file named by the user
/// and the GPU's UUID, in a folder that all processes share: it goes with the process that has it,
/// and no forked child has it. Other users, and containers with a folder of their own, are not
/// seen: a file that others may lock could keep everybody from counting. Where there is no such
/// file, and none can be made, everybody has a turn: CUPTI tells then.
class device_turns {
 public:
  /// Not TMPDIR, which often is a job's own.
  explicit device_turns(std::string folder = "/tmp") : folder_(std::move(folder)) {}
  /// Turns must be over.
  ~device_turns() = default;
  device_turns(device_turns const&) = delete;
  device_turns& operator=(device_turns const&) = delete;

  /// `gpu`: its UUID; empty: not known, and there is nothing to share. Empty result: another
  /// process has it.
  std::optional<device_turn> try_take(std::string const& gpu);
  /// "gpuprof in process 1234 (python3)": another process that has its turn now. Empty: none, or
  /// this one.
  std::string holder(std::string const& gpu) const;

 private:
  friend class device_turn;
  struct held {
    own_descriptor file;  // locked, where there is one
    std::size_t turns = 0;
  };
  void release(std::string const& gpu) noexcept;
  std::string path_of(std::string const& gpu) const;

  std::string const folder_;
  mutable std::mutex mutex_;  // guards the rest; held for a few system calls
  std::map<std::string, held> held_;
};

}  // namespace gpuprof::guest
