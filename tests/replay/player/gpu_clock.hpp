// SPDX-License-Identifier: Apache-2.0
// Gives recorded GPU work its times in this run: the same lengths, after the calls that cause it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace gpuprof::replay {

struct gpu_span {
  std::uint64_t start = 0, end = 0;
};

/// Any thread.
class gpu_clock {
 public:
  /// When work recorded at `recorded`, of a call recorded as entered at `entered`, runs if the call
  /// was entered at `entered_now`. Work that followed other work on its stream still does.
  gpu_span place(std::uint32_t context, std::uint32_t stream, gpu_span recorded,
                 std::uint64_t entered, std::uint64_t entered_now);

  /// From now on work takes an hour: it is still running when the program ends.
  void never_finish();
  /// Recorded times start over.
  void start_again();
  /// End of the latest work.
  std::uint64_t busy_until() const;

 private:
  mutable std::mutex lock_;                                           // protects everything
  std::map<std::pair<std::uint32_t, std::uint32_t>, gpu_span> last_;  // {recorded end, end now}
  std::uint64_t busy_until_ = 0;
  bool endless_ = false;
};

}  // namespace gpuprof::replay
