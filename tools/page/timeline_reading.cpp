// SPDX-License-Identifier: Apache-2.0
#include "page/timeline_reading.hpp"

#include <gpuprof/capture.hpp>

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

namespace gpuprof::page {
namespace {

constexpr std::size_t max_lanes = 8000;    // 5,000 streams, and the threads that feed them
constexpr std::size_t max_depth = 64;      // of what overlaps on one stream or thread
constexpr std::size_t max_open = 16;       // of these rows for ranges that never end
constexpr std::size_t longest_name = 300;  // bytes; names of kernels reach 10 kB

/// Where a bar goes: the row of a stream or thread.
struct row_key {
  int group = 0;                     // 0: GPUs, 1: ranges, 2: calls
  std::uint64_t of = 0, number = 0;  // GPU and stream, thread and domain
  auto operator<=>(row_key const&) const = default;
};

std::string shortened_name(std::string_view name) {
  if (name.size() <= longest_name) return std::string(name);
  auto cut = longest_name;
  while (cut > 0 && (static_cast<unsigned char>(name[cut]) & 0xc0) == 0x80) --cut;  // UTF-8
  return std::string(name.substr(0, cut)) + "...";
}

class lane_finder {
 public:
  explicit lane_finder(timeline& made) : made_(made) {}

  void add(row_key const& key, std::string_view group, std::string const& name,
           std::uint64_t start_ns, std::uint64_t length_ns, std::string_view what,
           std::size_t depth = max_depth) {
    auto& known = rows_[key];
    std::size_t at = 0;
    while (at < known.size() && known[at].busy_until > start_ns) ++at;
    if (at >= depth || (at == known.size() && made_.bars.lanes().size() >= max_lanes)) {
      ++made_.pieces_left_out;
      return;
    }
    if (at == known.size()) {
      auto const label = at == 0 ? name : "";
      known.push_back({made_.bars.add_lane(std::string(group), label, 0), 0});
    }
    known[at].busy_until = start_ns + length_ns;
    made_.begin_ns = std::min(made_.begin_ns, start_ns);
    made_.end_ns = std::max(made_.end_ns, start_ns + length_ns);
    made_.bars.add(known[at].lane, start_ns, length_ns, number_of(what));
  }

  void finish() {
    std::uint64_t order = 0;
    for (auto const& [_, lanes] : rows_) {
      made_.lanes_left_out += lanes.empty();
      for (auto const& one : lanes) made_.bars.set_order(one.lane, order++);
    }
  }

 private:
  struct used_lane {
    std::size_t lane = 0;
    std::uint64_t busy_until = 0;
  };

  std::uint32_t number_of(std::string_view what) {
    auto const [known, is_new] =
        numbers_.try_emplace(what.data(), static_cast<std::uint32_t>(made_.names.size()));
    if (is_new) made_.names.push_back(shortened_name(what));
    return known->second;
  }

  timeline& made_;
  std::map<row_key, std::vector<used_lane>> rows_;
  // Texts of a capture_file stand where they are for as long as it lives.
  std::unordered_map<char const*, std::uint32_t> numbers_;
};

std::string copy_name(captured_copy const& copy) {
  static constexpr std::string_view kinds[] = {"copy",
                                               "copy host to device",
                                               "copy device to host",
                                               "copy host to array",
                                               "copy array to host",
                                               "copy array to array",
                                               "copy array to device",
                                               "copy device to array",
                                               "copy device to device",
                                               "copy host to host",
                                               "copy between GPUs"};
  return std::string(copy.kind < std::size(kinds) ? kinds[copy.kind] : kinds[0]);
}

}  // namespace

timeline read_timeline(std::string const& capture, std::size_t max_bars,
                       std::function<void()> const& advance, capture_visitor const& also) {
  capture_file run(capture);
  timeline_limits const limits(max_bars);
  timeline made(limits);
  lane_finder lanes(made);
  std::map<std::uint8_t, std::string> copy_names;
  auto const on_gpu = [&](captured_work const& work, std::string_view what) {
    lanes.add({0, work.device, work.stream}, "GPU " + std::to_string(work.device),
              "stream " + std::to_string(work.stream), work.start_ns, work.duration_ns, what);
    advance();
  };
  capture_visitor visitor;
  visitor.kernel = [&](captured_kernel const& kernel) {
    on_gpu(kernel, kernel.base_name);
    if (also.kernel) also.kernel(kernel);
  };
  visitor.graph = [&](captured_graph const& graph) { on_gpu(graph, "CUDA graph"); };
  visitor.copy = [&](captured_copy const& copy) {
    on_gpu(copy, copy_names.try_emplace(copy.kind, copy_name(copy)).first->second);
    if (also.copy) also.copy(copy);
  };
  visitor.fill = [&](captured_fill const& fill) {
    on_gpu(fill, "fill");
    if (also.fill) also.fill(fill);
  };
  std::unordered_map<std::string_view, std::uint64_t> domains{{"", 0}};  // the default one first
  visitor.range = [&](captured_range const& range) {
    auto const domain = domains.try_emplace(range.domain, domains.size()).first->second;
    auto name = "thread " + std::to_string(range.os_thread);
    if (!range.domain.empty()) name += ", " + shortened_name(range.domain);
    lanes.add({1, range.os_thread, domain}, "NVTX", name, range.start_ns, range.duration_ns,
              range.name, range.still_open ? max_open : max_depth);
    if (also.range) also.range(range);
    advance();
  };
  visitor.call = [&](captured_call const& call) {
    lanes.add({2, 0, call.os_thread}, "CUDA calls", "thread " + std::to_string(call.os_thread),
              call.start_ns, call.duration_ns, call.name);
    advance();
  };
  visitor.sample = [&](captured_sample const& sample) {
    made.counters.add(sample);
    if (also.sample) also.sample(sample);
    advance();
  };
  visitor.chip_state = [&](captured_chip_state const& state) { made.chip_states.add(state); };
  run.visit(visitor);
  lanes.finish();
  made.counters.finish(limits.counter_values);
  made.chip_states.finish(made.end_ns, limits.chip_state_values);
  return made;
}

}  // namespace gpuprof::page
