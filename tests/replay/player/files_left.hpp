// SPDX-License-Identifier: Apache-2.0
// A program that may open few more files, and counts how many it really can.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

namespace gpuprof::replay {

/// With REPLAY_FILES_LEFT=N the process gets a limit under which it may open N more files than it
/// has now, and tries to, again and again.
class files_left {
 public:
  /// Null without the variable. With REPLAY_FILES_AFTER=FILE it waits for that file first.
  static std::unique_ptr<files_left> count_if_wanted();
  explicit files_left(std::size_t wanted);
  ~files_left();

  /// "files_tried=N files_opened=M": of the later half of all tries.
  void print();

 private:
  void count();

  std::size_t const wanted_;
  std::vector<std::size_t> opened_;  // by try
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

}  // namespace gpuprof::replay
