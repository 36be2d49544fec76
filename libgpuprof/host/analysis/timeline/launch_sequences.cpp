// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/timeline/launch_sequences.hpp"

#include <algorithm>
#include <optional>

namespace gpuprof::host {
namespace {

constexpr std::size_t shortest = 5;  // launches; a graph saves nothing for fewer
constexpr std::uint64_t fewest_repeats = 10;
constexpr std::size_t names_kept = 8;
constexpr int anchors_tried = 4;

std::uint64_t mixed(std::uint64_t hash, std::uint32_t subject) noexcept {
  hash = (hash ^ subject) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 31);
}

/// Pieces of a stream from one anchor to the next that repeat.
struct segment_kind {
  std::uint64_t repetitions = 0;
  std::size_t first = 0;  // index of the first launch of its first repetition
  std::size_t length = 0;
  double run_ns = 0, busy_ns = 0, between_ns = 0;
  bool has_waits = false;  // part of the kind: pieces with waits cannot become a graph
};

using subject_count = std::pair<std::uint64_t, std::uint32_t>;  // launches, and of which subject

template <class Launches>
std::vector<subject_count> counts_of(Launches const& stream) {
  constexpr std::uint32_t few = 1 << 16;  // subjects are shapes: mostly small numbers
  std::vector<std::uint64_t> small(few);
  std::unordered_map<std::uint32_t, std::uint64_t> large;
  for (auto const& one : stream) ++(one.subject < few ? small[one.subject] : large[one.subject]);
  std::vector<subject_count> counts;
  for (std::uint32_t subject = 0; subject < few; ++subject)
    if (small[subject] > 0) counts.emplace_back(small[subject], subject);
  for (auto const& [subject, count] : large) counts.emplace_back(count, subject);
  return counts;
}

/// Returns kinds of launches, rarest first: these are launched once per step.
std::vector<std::uint32_t> possible_anchors(std::vector<subject_count> counts) {
  std::erase_if(counts, [](auto const& one) { return one.first < fewest_repeats; });
  std::sort(counts.begin(), counts.end());
  std::vector<std::uint32_t> anchors;
  std::uint64_t last_count = 0;
  for (auto const& [count, subject] : counts) {
    // as frequent as the last one, so it gives the same number of pieces
    if (count == last_count) continue;
    last_count = count;
    anchors.push_back(subject);
    if (anchors.size() == anchors_tried) break;
  }
  return anchors;
}

}  // namespace

void launch_sequences::add(gpu_item const& kernel, bool after_wait) {
  auto const ns = std::min<std::uint64_t>(nanoseconds_of(kernel), UINT32_MAX);
  launch one{.start = kernel.start.value, .ns = static_cast<std::uint32_t>(ns)};
  one.subject = kernel.subject & 0x7fff'ffffu;
  one.after_wait = after_wait;
  streams_[(std::uint64_t{raw(kernel.context)} << 32) | raw(kernel.stream)].push_back(one);
}

class launch_sequences::cut {
 public:
  cut(launches const& all, std::uint32_t anchor) : all_(all) {
    std::size_t i = 0;
    for (auto const& one : all) {
      auto const is_anchor = one.subject == anchor;
      if (is_anchor) begin_piece(i);
      hash_ = mixed(hash_, one.subject);
      busy_ns_ += one.ns;
      // A wait before the anchor is between two pieces.
      has_waits_ = has_waits_ || (one.after_wait && !is_anchor);
      ++i;
    }
    begin_piece(all.size());
  }

  /// Replaces `best` if a kind that repeats often enough takes more time.
  void improve(segment_kind& best) const {
    for (auto const& [_, kind] : kinds_)
      if (kind.repetitions >= fewest_repeats && kind.run_ns > best.run_ns) best = kind;
  }

 private:
  void begin_piece(std::size_t next) {
    auto const is_long_enough = begin_ && next - *begin_ >= shortest;
    last_ = is_long_enough ? take_piece(*begin_, next) : nullptr;
    begin_ = next;
    hash_ = 0;
    busy_ns_ = 0;
    has_waits_ = false;
  }
  segment_kind* take_piece(std::size_t begin, std::size_t end) {
    auto const length = static_cast<std::uint32_t>(end - begin);
    auto& kind = kinds_[mixed(mixed(hash_, length), has_waits_)];
    if (kind.repetitions++ == 0) {
      kind.first = begin;
      kind.length = end - begin;
    }
    auto const& last = all_[end - 1];
    kind.run_ns += static_cast<double>(last.start + last.ns - all_[begin].start);
    kind.busy_ns += busy_ns_;
    kind.has_waits = has_waits_;
    auto const follows = last_ == &kind && !all_[begin].after_wait;
    auto const& before = all_[begin > 0 ? begin - 1 : 0];
    if (follows && before.start + before.ns < all_[begin].start)
      kind.between_ns += static_cast<double>(all_[begin].start - before.start - before.ns);
    return &kind;
  }

  launches const& all_;
  std::unordered_map<std::uint64_t, segment_kind> kinds_;
  std::optional<std::size_t> begin_;
  segment_kind* last_ = nullptr;  // kind of the piece that ended where this one begins
  std::uint64_t hash_ = 0;
  double busy_ns_ = 0;
  bool has_waits_ = false;
};

std::vector<launch_sequence> launch_sequences::found() const {
  std::vector<launch_sequence> all;
  for (auto const& [_, stream] : streams_) {
    segment_kind best;
    for (auto const anchor : possible_anchors(counts_of(stream))) {
      cut(stream, anchor).improve(best);
      if (2 * best.repetitions * best.length > stream.size()) break;  // already most of the stream
    }
    if (best.repetitions == 0) continue;
    auto& sequence = all.emplace_back();
    sequence.length = best.length;
    sequence.repetitions = best.repetitions;
    sequence.run_ns = best.run_ns;
    sequence.busy_ns = std::min(best.busy_ns, best.run_ns);
    sequence.between_ns = best.between_ns;
    sequence.has_waits = best.has_waits;
    for (std::size_t i = 0; i < std::min(best.length, names_kept); ++i)
      sequence.first_subjects.push_back(stream[best.first + i].subject);
  }
  std::sort(all.begin(), all.end(),
            [](auto const& a, auto const& b) { return a.run_ns > b.run_ns; });
  return all;
}

namespace {

constexpr auto default_stream = stream_id{7};

}  // namespace

void serialized_streams::add(gpu_item const& kernel, std::optional<range_key> const& range,
                             pace const& run) {
  auto& of = recent_[kernel.device];
  if (kernel.stream == default_stream) {
    of.barrier = kernel;
    of.has_barrier = of.has_first;
    return;
  }
  auto const pause = static_cast<std::uint64_t>(3 * run.back_to_back);
  auto const came_in_order = of.has_barrier && of.first.launched <= of.barrier.launched &&
                             of.barrier.launched <= kernel.launched;
  auto const is_another_stream =
      of.has_first && of.first.stream != kernel.stream && of.first.context == kernel.context;
  auto const right_behind = of.has_barrier && of.barrier.start >= of.first.end &&
                            kernel.start >= of.barrier.end &&
                            kernel.start.value - of.barrier.end.value <= pause;
  auto const ready = std::max<std::uint64_t>(
      kernel.launched.value + static_cast<std::uint64_t>(run.usual_delay), of.first.start.value);
  if (came_in_order && is_another_stream && right_behind && kernel.launched.value != 0 &&
      ready < of.first.end.value) {
    auto& sum = sums_[kernel.device];
    ++sum.count;
    auto const waited = static_cast<double>(kernel.start.value - ready);
    sum.waited_ns += waited;
    if (fits_beside_ && fits_beside_(kernel.device, of.first.subject, kernel.subject))
      sum.overlap_ns += std::min(
          waited, static_cast<double>(std::min(nanoseconds_of(of.first), nanoseconds_of(kernel)) +
                                      nanoseconds_of(of.barrier)));
    sum.ranges.add(range, waited);
  }
  of.first = kernel;
  of.has_first = true;
  of.has_barrier = false;
}

}  // namespace gpuprof::host
