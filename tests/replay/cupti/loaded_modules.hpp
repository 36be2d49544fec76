// SPDX-License-Identifier: Apache-2.0
// The modules that the driver loads lazily: one for each kernel, when it is first launched.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::replay {

struct loaded_module {
  std::uint32_t id = 0;  // 0: it was loaded before
  std::vector<std::uint8_t> cubin;
};

/// Any thread.
class loaded_modules {
 public:
  static loaded_modules& get() noexcept;
  /// Code that fits the made-up counters: products have tensor instructions of one type and nothing
  /// else that computes, other kernels FP32 alone.
  loaded_module load_for(std::string_view kernel);

 private:
  std::mutex lock_;  // protects the next
  std::set<std::string, std::less<>> kernels_;
};

}  // namespace gpuprof::replay
