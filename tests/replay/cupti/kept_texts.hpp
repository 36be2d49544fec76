// SPDX-License-Identifier: Apache-2.0
// The names that records point to: CUPTI's own, and gone with the code they are names in.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::replay {

/// Any thread.
class kept_texts {
 public:
  /// The same pointer for a text of this context until its code is unloaded; null for null.
  char const* keep(char const* text, std::uint32_t context);
  /// As seen of CUPTI 13.0.1 on an H200: the texts' memory is used again for those of code that is
  /// loaded next.
  void unload(std::uint32_t context);
  /// All texts become unusable.
  void unload_all();

 private:
  void release(std::string& text);

  std::mutex lock_;  // protects all below
  std::deque<std::string> texts_;
  std::vector<std::string*> free_;
  std::map<std::pair<std::uint32_t, std::string>, std::string*> known_;
};

}  // namespace gpuprof::replay
