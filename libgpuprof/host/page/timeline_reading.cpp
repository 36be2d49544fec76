// SPDX-License-Identifier: Apache-2.0
#include "host/page/timeline_reading.hpp"

#include "host/page/timeline_bars.hpp"

#include <algorithm>
#include <utility>

namespace gpuprof::host::page {
namespace {

constexpr std::size_t max_lanes = 8000;  // 5,000 streams, and the threads that launch their work

/// Fills the tracks of a timeline, and hands all records on.
class track_listener final : public record_listener {
 public:
  track_listener(timeline& to, std::function<void()> const& advance, record_listener& also)
      : to_(to), advance_(advance), also_(also) {}

  void add(captured_kernel const& kernel) override { also_.add(kernel); }
  void add(captured_graph const& graph) override { also_.add(graph); }
  void add(captured_copy const& copy) override { also_.add(copy); }
  void add(captured_fill const& fill) override { also_.add(fill); }
  void add(captured_range const& range) override { also_.add(range); }
  void add(captured_call const& call) override { also_.add(call); }
  void add(captured_sample const& sample) override {
    to_.counters.add(sample);
    also_.add(sample);
    advance_();
  }
  void add(captured_chip_state const& state) override {
    to_.chip_states.add(state);
    also_.add(state);
  }

 private:
  timeline& to_;
  std::function<void()> const& advance_;
  record_listener& also_;
};

}  // namespace

timeline_reader::timeline_reader(capture_file& capture, std::size_t max_bars)
    : pieces_(capture), limits_(max_bars), made_(limits_) {}

void timeline_reader::read(std::function<void()> const& advance, record_listener& also) {
  track_listener tracks(made_, advance, also);
  pieces_.read(
      [&](timeline_piece const& piece) {
        add(piece);
        advance();
      },
      &tracks);
  order_lanes();
  made_.counters.finish(limits_.counter_values);
  made_.chip_states.finish(made_.end_ns, limits_.chip_state_values);
}

void timeline_reader::add(timeline_piece const& piece) {
  auto& lanes = rows_[piece.row];
  auto const at = first_free(lanes, piece.start_ns);
  auto const is_new = at == lanes.size();
  if (at >= piece.max_lanes || (is_new && made_.bars.lanes().size() >= max_lanes)) {
    ++made_.pieces_left_out;
    return;
  }
  if (is_new) {
    auto const label = at == 0 ? pieces_.name_of(piece.row) : "";
    lanes.push_back({made_.bars.add_lane(pieces_.group_of(piece.row), label, 0), 0});
  }
  auto const end = piece.start_ns + piece.length_ns;
  lanes[at].busy_until_ns = end;
  made_.begin_ns = std::min(made_.begin_ns, piece.start_ns);
  made_.end_ns = std::max(made_.end_ns, end);
  made_.bars.add(lanes[at].lane, piece.start_ns, piece.length_ns, number_of(piece.what));
}

std::uint32_t timeline_reader::number_of(std::string_view what) {
  auto const [known, is_new] =
      numbers_.try_emplace(what.data(), static_cast<std::uint32_t>(made_.names.size()));
  if (is_new) made_.names.push_back(shortened_name(what));
  return known->second;
}

void timeline_reader::order_lanes() {
  std::uint64_t order = 0;
  for (auto const& [_, lanes] : rows_) {
    made_.lanes_left_out += lanes.empty();
    for (auto const& one : lanes) made_.bars.set_order(one.lane, order++);
  }
}

std::size_t timeline_reader::pieces_in(captured_stretch const& window) const {
  std::size_t sum = 0;
  for (auto const& lane : made_.bars.lanes()) {
    auto const end = lane.first_from(window.end_ns);
    for (auto at = lane.first_from(window.begin_ns); at != end; ++at) sum += at->count;
  }
  return sum;
}

// Halves the window until its pieces fit.
captured_stretch timeline_reader::middle() const {
  captured_stretch window{made_.begin_ns, made_.end_ns};
  while (window.end_ns - window.begin_ns > made_.bars.joined_below_ns() &&
         pieces_in(window) > limits_.finer_bars) {
    auto const quarter = (window.end_ns - window.begin_ns) / 4;
    window.begin_ns += quarter;
    window.end_ns -= quarter;
  }
  return window;
}

/// Each window is grown first, because all that will be read counts.
std::vector<captured_stretch> timeline_reader::with_room(
    std::vector<captured_stretch> const& wanted) const {
  auto const joined_below = made_.bars.joined_below_ns();
  std::vector<captured_stretch> windows;
  std::size_t pieces = 0;
  for (auto const& one : wanted) {
    auto const window = grown({one}, joined_below).front();
    if (is_in(windows, one.begin_ns + (one.end_ns - one.begin_ns) / 2)) continue;
    pieces += pieces_in(window);
    if (!windows.empty() && pieces > limits_.finer_bars) break;
    windows.push_back(window);
  }
  std::sort(windows.begin(), windows.end(),
            [](auto const& a, auto const& b) { return a.begin_ns < b.begin_ns; });
  return grown(windows, joined_below);
}

void timeline_reader::read_finer(std::vector<captured_stretch> const& wanted) {
  if (made_.bars.joined_below_ns() == 0) return;
  auto const windows = with_room(wanted.empty() ? std::vector{middle()} : wanted);
  finer_bars finer(made_.bars, rows_, windows, limits_.finer_bars);
  pieces_.read([&](timeline_piece const& piece) { finer.add(piece, number_of(piece.what)); },
               nullptr, windows);
  auto const& bars = finer.bars();
  if (bars.joined_below_ns() >= made_.bars.joined_below_ns()) return;
  made_.finer = windows;
  made_.finer_below_ns = bars.joined_below_ns();
  for (auto const& window : windows) made_.bars.take(bars, window.begin_ns, window.end_ns);
}

}  // namespace gpuprof::host::page
