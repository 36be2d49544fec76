// SPDX-License-Identifier: Apache-2.0
// The result of an API call of the program, and the reason if it had no effect.
#pragma once

#include <string>
#include <utility>

namespace gpuprof::guest {

inline constexpr char const* nothing_captured = "nothing has been captured in this process";
inline constexpr char const* no_capture_runs = "no capture is running: gpuprof_start() begins one";

/// Returns a line with the system's error for a drain thread that could not be started.
inline std::string line_without_thread(int code) {
  return "nothing is captured: no thread could be started (error " + std::to_string(code) +
         "). The program is not affected.";
}

struct api_outcome {
  enum class kind {
    done,
    inactive,  // nothing is being captured, and the call could not change that
    late       // the timeout passed first; the rest is done in the background
  };
  kind what = kind::done;
  std::string why = {};  // one line; empty if `what` is `done`

  explicit operator bool() const noexcept { return what == kind::done; }
  static api_outcome inactive(std::string why) { return {kind::inactive, std::move(why)}; }
  static api_outcome late(std::string why) { return {kind::late, std::move(why)}; }
};

}  // namespace gpuprof::guest
