// SPDX-License-Identifier: Apache-2.0
// Gives the stacks of all threads one set of numbers. Stacks share the frames of their callers.
#pragma once

#include "guest/nvtx/log_decoder.hpp"
#include "guest/recording/source_lines.hpp"
#include "model/ids.hpp"
#include "model/record_sink.hpp"
#include "model/records.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gpuprof::guest {

/// Used by the drain thread only.
class stack_tree {
 public:
  static constexpr std::size_t max_stacks = 1 << 20;

  /// Passes on what is new, callers first. Beyond max_stacks the innermost new frames are left out
  /// and the stack is counted.
  void add(stack_note const& note, record_sink& to) {
    auto at = of(note.thread, note.caller);
    for (auto frame = note.frames.rbegin(); frame != note.frames.rend(); ++frame) {
      auto const next = find_or_add(at, *frame, to);
      if (raw(next) == 0) {
        ++refused_;
        break;
      }
      at = next;
    }
    auto& known = by_thread_[note.thread];
    if (note.number >= known.size()) known.resize(note.number + std::size_t{64});
    known[note.number] = at;
  }

  /// Returns the stack that the thread described last by this number; 0 if none.
  stack_id of(thread_index thread, std::uint16_t number) const {
    if (number == 0) return {};
    auto const known = by_thread_.find(thread);
    return known != by_thread_.end() && number < known->second.size() ? known->second[number]
                                                                      : stack_id{};
  }
  std::uint64_t refused() const noexcept { return refused_; }
  /// The lines of frames that came since the last call, each once.
  std::vector<source_place> take_new_places() { return std::exchange(new_places_, {}); }
  /// The binaries of such frames, each once.
  std::vector<std::uint32_t> take_new_binaries() { return std::exchange(new_binaries_, {}); }

 private:
  using key = std::tuple<stack_id, name_id, name_id, std::uint32_t, std::uint32_t, name_id,
                         std::uint32_t, std::uint64_t>;

  stack_id find_or_add(stack_id caller, stack_frame_note const& frame, record_sink& to) {
    key const k{caller,     frame.file,   frame.function, frame.first_line,
                frame.line, frame.module, frame.binary,   frame.address};
    auto const known = stacks_.find(k);
    if (known != stacks_.end()) return known->second;
    if (stacks_.size() >= max_stacks) return {};
    auto const made = static_cast<stack_id>(stacks_.size() + 1);
    stacks_.emplace(k, made);
    source_place const place{frame.file, frame.line};
    if (frame.line != 0 && places_.size() < max_places && places_.insert(place).second)
      new_places_.push_back(place);
    if (frame.binary != 0 && binaries_.insert(frame.binary).second)
      new_binaries_.push_back(frame.binary);
    to.add(stack_record{.stack = made,
                        .caller = caller,
                        .file = frame.file,
                        .function = frame.function,
                        .first_line = frame.first_line,
                        .line = frame.line,
                        .module = frame.module,
                        .binary = static_cast<binary_id>(frame.binary),
                        .address = frame.address});
    return made;
  }

  static constexpr std::size_t max_places = 20'000;

  std::map<key, stack_id> stacks_;
  std::set<source_place> places_;
  std::vector<source_place> new_places_;
  std::set<std::uint32_t> binaries_;
  std::vector<std::uint32_t> new_binaries_;
  std::unordered_map<thread_index, std::vector<stack_id>> by_thread_;
  std::uint64_t refused_ = 0;
};

}  // namespace gpuprof::guest
