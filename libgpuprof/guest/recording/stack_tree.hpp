// SPDX-License-Identifier: Apache-2.0
// Gives the stacks of all threads one set of numbers. Stacks share the frames of their callers.
// Work of a graph has the stack that made its node, and behind it the stack that launched the
// graph.
#pragma once

#include "guest/nvtx/log_decoder.hpp"
#include "guest/nvtx/name_registry.hpp"
#include "guest/recording/source_lines.hpp"
#include "model/ids.hpp"
#include "model/record_sink.hpp"
#include "model/records.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gpuprof::guest {

/// Used by the drain thread only.
class stack_tree {
 public:
  static constexpr std::size_t max_stacks = 1 << 20;
  static constexpr std::string_view frame_between = "(CUDA graph)";

  /// Passes on what is new, callers first. Beyond max_stacks the innermost new frames are left out
  /// and the stack is counted.
  void add(stack_note const& note, record_sink& to) {
    auto& known = by_thread_[note.thread];
    if (note.number >= known.size()) known.resize(note.number + std::size_t{64});
    known[note.number] = add_frames(of(note.thread, note.caller), note.frames, to);
  }

  /// Returns the stack that the thread described last by this number; 0 if none.
  stack_id of(thread_index thread, std::uint16_t number) const {
    if (number == 0) return {};
    auto const known = by_thread_.find(thread);
    return known != by_thread_.end() && number < known->second.size() ? known->second[number]
                                                                      : stack_id{};
  }
  /// With max_nodes, those of graphs that may still be launched are forgotten with all others.
  void add(graph_node_note const& note) {
    if (nodes_.size() >= max_nodes) {
      forgotten_nodes_ += nodes_.size();
      nodes_.clear();
    }
    auto made_by = of(note.thread, note.stack);
    if (auto const known = nodes_.find(note.original); known != nodes_.end())
      made_by = known->second;
    if (raw(made_by) != 0) nodes_[note.node] = made_by;
  }
  /// `launch`: the stack that launched the graph.
  stack_id in_graph(graph_node_id node, stack_id launch, record_sink& to) {
    auto const known = raw(node) != 0 ? nodes_.find(node) : nodes_.end();
    if (known == nodes_.end()) return launch;
    auto& joined = joined_[{known->second, launch}];
    if (raw(joined) == 0) joined = join(known->second, launch, to);
    return joined;
  }
  std::uint64_t refused() const noexcept { return refused_; }
  std::uint64_t forgotten_nodes() const noexcept { return forgotten_nodes_; }
  /// The lines of frames that came since the last call, each once.
  std::vector<source_place> take_new_places() { return std::exchange(new_places_, {}); }
  /// The binaries of such frames, each once.
  std::vector<std::uint32_t> take_new_binaries() { return std::exchange(new_binaries_, {}); }

 private:
  struct place {
    stack_id caller{};
    stack_frame_note frame;
    auto operator<=>(place const&) const = default;
  };
  static constexpr std::size_t max_places = 20'000, max_nodes = 1 << 18;

  /// `frames`: innermost first.
  stack_id add_frames(stack_id caller, std::span<stack_frame_note const> frames, record_sink& to) {
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      auto const next = find_or_add({caller, *frame}, to);
      if (raw(next) == 0) {
        ++refused_;
        break;
      }
      caller = next;
    }
    return caller;
  }

  stack_id join(stack_id made_by, stack_id launch, record_sink& to) {
    std::vector<stack_frame_note> frames;
    for (auto at = made_by; raw(at) != 0; at = stacks_in_order_[raw(at) - 1]->first.caller)
      frames.push_back(stacks_in_order_[raw(at) - 1]->first.frame);
    frames.push_back({.function = names().intern(frame_between)});
    return add_frames(launch, frames, to);
  }

  stack_id find_or_add(place const& at, record_sink& to) {
    auto const known = stacks_.find(at);
    if (known != stacks_.end()) return known->second;
    if (stacks_.size() >= max_stacks) return {};
    auto const made = static_cast<stack_id>(stacks_.size() + 1);
    if (stacks_in_order_.size() == stacks_in_order_.capacity())
      stacks_in_order_.reserve(2 * stacks_in_order_.size() + 64);  // before the other can fail
    stacks_in_order_.push_back(stacks_.emplace(at, made).first);
    auto const& frame = at.frame;
    source_place const line{frame.file, frame.line};
    if (frame.line != 0 && places_.size() < max_places && places_.insert(line).second)
      new_places_.push_back(line);
    if (frame.binary != 0 && binaries_.insert(frame.binary).second)
      new_binaries_.push_back(frame.binary);
    to.add(stack_record{.stack = made,
                        .caller = at.caller,
                        .file = frame.file,
                        .function = frame.function,
                        .first_line = frame.first_line,
                        .line = frame.line,
                        .module = frame.module,
                        .binary = static_cast<binary_id>(frame.binary),
                        .address = frame.address});
    return made;
  }

  std::map<place, stack_id> stacks_;
  std::vector<std::map<place, stack_id>::const_iterator> stacks_in_order_;
  std::unordered_map<graph_node_id, stack_id> nodes_;         // by what made them
  std::map<std::pair<stack_id, stack_id>, stack_id> joined_;  // of a node, and of the launch
  std::set<source_place> places_;
  std::vector<source_place> new_places_;
  std::set<std::uint32_t> binaries_;
  std::vector<std::uint32_t> new_binaries_;
  std::unordered_map<thread_index, std::vector<stack_id>> by_thread_;
  std::uint64_t refused_ = 0, forgotten_nodes_ = 0;
};

}  // namespace gpuprof::guest
