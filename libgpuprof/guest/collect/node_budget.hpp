// SPDX-License-Identifier: Apache-2.0
// Decides how many launches of graphs may be recorded by their nodes.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gpuprof::guest {

/// CUPTI records nodes at a price that the launching thread pays: on an H200 a call that launches
/// 208 nodes takes 0.3 ms longer, while the graph takes as long on the GPU. So the length of the
/// calls is compared. Whole numbers only, because this runs on threads of the program.
class node_budget {
 public:
  /// How long calls that launch one graph take, without those that were held up; 0: not known.
  struct call_times {
    std::uint64_t whole_ns = 0, by_nodes_ns = 0;
  };
  static constexpr std::uint32_t usual_one_in = 32, max_one_in = 128;
  static constexpr std::uint64_t account_every_ns = 100'000'000;

  /// `millionths` of the time may be spent on recording nodes; 0: one launch in usual_one_in.
  void begin(std::uint32_t millionths) noexcept {
    *this = {};
    millionths_ = millionths;
  }
  /// A launch of a graph took so long and ended now.
  void add(call_times& graph, bool as_whole, std::uint64_t took_ns, std::uint64_t now_ns) noexcept {
    auto& known = as_whole ? graph.whole_ns : graph.by_nodes_ns;
    known = known == 0 || took_ns < known ? took_ns : known + (took_ns - known) / 16;
    ++launches_;
    if (graph.whole_ns == 0 || graph.by_nodes_ns == 0)
      ++launches_unknown_;
    else if (graph.by_nodes_ns > graph.whole_ns)
      price_ns_ += graph.by_nodes_ns - graph.whole_ns;
    if (since_ns_ == 0) since_ns_ = now_ns - took_ns;
    if (now_ns - since_ns_ >= account_every_ns) settle(now_ns);
  }
  /// One launch in so many is to be recorded by its nodes; 1: all.
  std::uint32_t one_in() const noexcept { return one_in_; }

 private:
  void settle(std::uint64_t now_ns) noexcept {
    auto const allowed = (now_ns - since_ns_) / 1'000 * millionths_ / 1'000;
    if (millionths_ != 0 && 2 * launches_unknown_ <= launches_)
      one_in_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
          price_ns_ / std::max<std::uint64_t>(allowed, 1), 1, max_one_in));
    since_ns_ = now_ns;
    price_ns_ = launches_ = launches_unknown_ = 0;
  }

  std::uint32_t millionths_ = 0, one_in_ = usual_one_in;
  std::uint64_t since_ns_ = 0;
  // Since then: of all launches, if they had been recorded by nodes.
  std::uint64_t price_ns_ = 0, launches_ = 0, launches_unknown_ = 0;
};

}  // namespace gpuprof::guest
