// SPDX-License-Identifier: Apache-2.0
// Makes the recorded NVTX calls through the real NVTX headers.
#pragma once

#include "replay/format/recording.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace gpuprof::replay {

/// Any thread. Handles and range ids of the recording are those of this run, whichever thread made
/// them.
class nvtx_player {
 public:
  explicit nvtx_player(recording const& r);

  void play(event const&);
  /// Before the session is played once more: ranges are new, domains and strings stay.
  void start_again();
  /// The os thread that stands for a recorded one, for nvtxNameOsThread.
  void set_os_thread(std::uint32_t recorded, std::uint32_t now);

  std::uint64_t ranges() const { return ranges_; }
  std::uint64_t marks() const { return marks_; }

 private:
  struct slot {
    std::atomic<bool> made{false};
    std::atomic<std::uint64_t> value{0};
  };
  using slots = std::deque<slot>;

  static std::uint64_t wait_for(slots& all, std::uint32_t ordinal);
  static void put(slots& all, std::uint32_t ordinal, std::uint64_t value);
  char const* text(event const& e) const { return r_.strings[e.text].c_str(); }
  wchar_t const* wide(event const& e) const { return wide_[e.text].c_str(); }
  void play_default_domain(event const&);
  void play_domain(event const&);
  std::uint32_t os_thread(std::uint32_t recorded);

  recording const& r_;
  std::vector<std::wstring> wide_;
  slots domains_, strings_, ranges_by_id_;
  int (*step_)();  // null: none
  std::vector<std::pair<std::uint32_t, std::atomic<std::uint32_t>>> os_threads_;
  std::atomic<std::uint64_t> ranges_{0}, marks_{0};
};

}  // namespace gpuprof::replay
