// SPDX-License-Identifier: Apache-2.0
#include "page/timeline_reading.hpp"

#include <gpuprof/capture.hpp>

#include "base/json_text.hpp"
#include "page/packed_columns.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <unordered_map>

namespace gpuprof::page {
namespace {

constexpr std::size_t max_lanes = 400;     // more than anybody scrolls through
constexpr std::size_t longest_name = 300;  // bytes; names of kernels reach 10 kB

/// Where a bar goes: the row of a stream or thread, and of those that overlap on it which one.
struct row_key {
  int group = 0;  // 0: GPUs, 1: ranges, 2: calls
  std::uint64_t of = 0, number = 0;
  auto operator<=>(row_key const&) const = default;
};

std::string json_text(std::string_view text) {
  std::string out;
  append_json_text(out, text);
  return out;
}

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
           std::uint64_t start_ns, std::uint64_t length_ns, std::string_view what) {
    auto& known = rows_[key];
    std::size_t at = 0;
    while (at < known.size() && known[at].busy_until > start_ns) ++at;
    if (at == known.size()) {
      if (made_.bars.lanes().size() >= max_lanes) {
        ++left_out_[key];
        return;
      }
      auto const label = at == 0 ? name : "";
      known.push_back({made_.bars.add_lane(std::string(group), label, order_of(key, at)), 0});
    }
    known[at].busy_until = start_ns + length_ns;
    made_.begin_ns = std::min(made_.begin_ns, start_ns);
    made_.end_ns = std::max(made_.end_ns, start_ns + length_ns);
    made_.bars.add(known[at].lane, start_ns, length_ns, number_of(what));
  }

  std::size_t left_out() const noexcept { return left_out_.size(); }

 private:
  struct used_lane {
    std::size_t lane = 0;
    std::uint64_t busy_until = 0;
  };

  static std::uint64_t order_of(row_key const& key, std::size_t which) {
    return (static_cast<std::uint64_t>(key.group) << 60) + (key.of << 44) + (key.number << 12) +
           std::min<std::size_t>(which, 4095);
  }

  std::uint32_t number_of(std::string_view what) {
    auto const [known, is_new] =
        numbers_.try_emplace(what.data(), static_cast<std::uint32_t>(made_.names.size()));
    if (is_new) made_.names.push_back(shortened_name(what));
    return known->second;
  }

  timeline& made_;
  std::map<row_key, std::vector<used_lane>> rows_;
  std::map<row_key, std::size_t> left_out_;
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
  timeline made(max_bars);
  made.begin_ns = ~std::uint64_t{0};
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
  visitor.sample = also.sample;
  visitor.range = [&](captured_range const& range) {
    lanes.add({1, 0, range.os_thread}, "NVTX", "thread " + std::to_string(range.os_thread),
              range.start_ns, range.duration_ns, range.name);
    if (also.range) also.range(range);
    advance();
  };
  visitor.call = [&](captured_call const& call) {
    lanes.add({2, 0, call.os_thread}, "CUDA calls", "thread " + std::to_string(call.os_thread),
              call.start_ns, call.duration_ns, call.name);
    advance();
  };
  run.visit(visitor);
  made.begin_ns = std::min(made.begin_ns, made.end_ns);
  made.lanes_left_out = lanes.left_out();
  return made;
}

timeline_document document_of(timeline const& made) {
  auto const& lanes = made.bars.lanes();
  std::vector<std::size_t> order(lanes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return lanes[a].order < lanes[b].order; });
  timeline_document document;
  auto& head = document.head;
  head = "{\"begin_ns\":" + std::to_string(made.begin_ns) +
         ",\"end_ns\":" + std::to_string(made.end_ns) +
         ",\"joined_below_ns\":" + std::to_string(made.bars.joined_below_ns()) +
         ",\"lanes_left_out\":" + std::to_string(made.lanes_left_out) + ",\"lanes\":[";
  std::vector<std::uint64_t> starts, lengths, pauses, names, counts, longest;
  for (auto const at : order) {
    auto const& [group, name, place, bars] = lanes[at];
    head += (head.back() == '[' ? "{\"group\":" : ",{\"group\":") + json_text(group) +
            ",\"name\":" + json_text(name) + ",\"bars\":" + std::to_string(bars.size()) + "}";
    auto before = made.begin_ns;
    for (auto const& one : bars) {
      starts.push_back(one.start_ns - before);
      before = one.start_ns;
      lengths.push_back(one.length_ns);
      pauses.push_back(one.length_ns - one.busy_ns);
      names.push_back(one.name);
      counts.push_back(one.count);
      longest.push_back(one.length_ns - one.longest_ns);
    }
  }
  head += "],\"names\":[";
  for (auto const& name : made.names)
    head += (&name == &made.names.front() ? "" : ",") + json_text(name);
  head += "]}";
  auto const add = [&](char const* name, std::vector<std::uint64_t> const& numbers) {
    document.columns.emplace_back(name, packed(planes_of(numbers)));
  };
  add("start", starts);
  add("length", lengths);
  add("pause", pauses);
  add("name", names);
  add("count", counts);
  add("longest", longest);
  return document;
}

}  // namespace gpuprof::page
