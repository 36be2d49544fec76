// SPDX-License-Identifier: Apache-2.0
// Processes with gpuprof take turns at a GPU's counters: takes a turn, and names the process that
// has it.
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

/// While it lives, no other gpuprof process has the counters of this GPU. Within one process,
/// several may live at once.
class device_turn {
 public:
  device_turn() = default;  // for no GPU
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

/// One per process. Any thread; never waits. A turn is a lock on a file, named by the user and the
/// GPU's UUID, in a folder that all processes share. The lock ends with its process, and a forked
/// child does not have it. Other users, and containers with their own folder, are not seen, because
/// a file that others may lock could keep every process from counting. If the file cannot be made,
/// every process gets a turn, and CUPTI refuses when the counters are taken.
class device_turns {
 public:
  /// Not TMPDIR, which is often different for each job.
  explicit device_turns(std::string folder = "/tmp") : folder_(std::move(folder)) {}
  /// All turns must have ended.
  ~device_turns() = default;
  device_turns(device_turns const&) = delete;
  device_turns& operator=(device_turns const&) = delete;

  /// `gpu`: its UUID; empty: unknown, then the turn is not shared with other processes. Returns
  /// nullopt if another process has the turn.
  std::optional<device_turn> try_take(std::string const& gpu);
  /// Returns the process that has the turn, such as "gpuprof in process 1234 (python3)". Empty: no
  /// process, or this one.
  std::string holder(std::string const& gpu) const;

 private:
  friend class device_turn;
  struct held {
    own_descriptor file;  // locked, if there is one
    std::size_t turns = 0;
  };
  void release(std::string const& gpu) noexcept;
  std::string path_of(std::string const& gpu) const;

  std::string const folder_;
  mutable std::mutex mutex_;  // guards the rest; held for a few system calls
  std::map<std::string, held> held_;
};

}  // namespace gpuprof::guest
