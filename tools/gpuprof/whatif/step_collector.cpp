// SPDX-License-Identifier: Apache-2.0
#include "whatif/step_collector.hpp"

#include "analyze/step_reading.hpp"
#include "base/readable.hpp"
#include "host/analysis/occupancy.hpp"
#include "host/analysis/timeline/host_calls.hpp"
#include "model/gpu_work.hpp"
#include "model/kernel_name.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace gpuprof::host::command {
namespace {

using replay::nothing;
using replay::work_kind;

constexpr std::uint64_t min_rate_bytes = 1 << 20;  // smaller copies do not reach the rate of a link
constexpr double max_share_missing = 0.01;         // of GPU work
constexpr double max_share_without_launch = 0.01;
constexpr double max_share_before_launch = 0.05;
constexpr std::int64_t clocks_differ_ns = 5000;  // of CPU and GPU, at most
constexpr std::string_view name_of_graph = "(CUDA graph)";

}  // namespace

class step_collector::collecting {
 public:
  collecting(trace_contents& trace, chosen_steps chosen)
      : trace_(trace),
        chosen_(std::move(chosen)),
        labels_(trace.labels(kernel_name_style::demangled)),
        shapes_(trace.shapes()) {
    for (auto const& device : trace.devices()) devices_[device.device] = device;
  }

  result<steps_of_capture> finish() {
    auto& steps = made_.steps;
    steps.steps = static_cast<std::uint32_t>(chosen_.count());
    steps.end_ns = since_begin(chosen_.end);
    steps.step_threads = {raw(chosen_.thread)};
    take_ranges();
    take_holds();
    add_slices();
    take_rates();
    if (auto const wrong = why_not(); !wrong.empty()) return error{wrong};
    made_.name = std::move(chosen_.name);
    made_.begin = chosen_.begin;
    made_.end = chosen_.end;
    made_.first_step = chosen_.first;
    made_.could_be_chosen = chosen_.could_be_chosen;
    made_.all_steps = chosen_.all;
    made_.is_sliced = !chosen_.slices.empty();
    made_.all_slices = chosen_.all_slices;
    made_.remarks.insert(made_.remarks.begin(), chosen_.remarks.begin(), chosen_.remarks.end());
    return std::move(made_);
  }

  void take(kernel_record const& kernel) {
    auto* const item = add(kernel);
    if (item == nullptr) return;
    item->name = work_name(kernel);
    item->room = room_of(kernel);
    item->shape = raw(kernel.shape);
  }
  void take(graph_record const& graph) {
    if (auto* const item = add(graph)) item->name = work_name(std::string(name_of_graph));
  }
  void take(copy_record const& copy) {
    note_rate(copy);
    auto* const item = add(copy);
    if (item == nullptr) return;
    item->kind = work_kind::copy;
    item->name = work_name(operation_of(copy.kind));
    item->bytes = copy.bytes;
    item->to_host = copy.kind == copy_kind::device_to_host || copy.kind == copy_kind::array_to_host;
    auto const host_side = item->to_host ? copy.destination_kind : copy.source_kind;
    item->is_pageable = host_side == memory_kind::pageable;
  }
  void take(memset_record const& fill) {
    auto* const item = add(fill);
    if (item == nullptr) return;
    item->kind = work_kind::fill;
    item->name = work_name(std::string(operation_of_memset));
    item->bytes = fill.bytes;
  }
  void take(api_record const& call) {
    auto const end = call.start + call.duration;
    if (call.start >= chosen_.end || end <= chosen_.begin) return;
    auto const [known, is_new] =
        calls_.try_emplace(call.name, static_cast<std::uint32_t>(made_.steps.call_names.size()));
    if (is_new) made_.steps.call_names.emplace_back(trace_.text()(call.name));
    auto const thread = trace_.thread_of(call.os_thread);
    made_.steps.calls.push_back(
        {.begin_ns = since_begin(call.start),
         .end_ns = since_begin(end),
         .thread = raw(thread) != 0 ? raw(thread) : call.os_thread | not_known_thread,
         .name = known->second,
         .kind = kind_of_call(trace_.text()(call.name))});
  }

 private:
  std::int64_t since_begin(timestamp_ns moment) const noexcept {
    return (moment - chosen_.begin).value;
  }

  /// Returns null if the record is not part of the steps.
  template <class Record>
  replay::recorded_item* add(Record const& record) {
    auto const end = record.start + record.duration;
    if (record.launched.value == 0) {
      if (record.start >= chosen_.begin && record.start < chosen_.end) ++without_launch_;
      return nullptr;
    }
    if (record.launched >= chosen_.end || end <= chosen_.begin) return nullptr;
    if (record.launched < chosen_.begin && record.start >= chosen_.end) return nullptr;
    auto const key = std::tuple(raw(record.device), raw(record.context), raw(record.stream));
    auto const [known, is_new] =
        streams_.try_emplace(key, static_cast<std::uint32_t>(streams_.size()));
    if (is_new) made_.streams.push_back(record.stream);
    auto const stream = known->second;
    if (since_begin(record.start) + clocks_differ_ns < since_begin(record.launched))
      ++before_launch_;
    made_.steps.items.push_back({.start_ns = since_begin(record.start),
                                 .end_ns = since_begin(std::max(end, record.start)),
                                 .launched_ns = since_begin(record.launched),
                                 .thread = raw(record.thread),
                                 .stream = stream,
                                 .device = raw(record.device),
                                 .is_from_before = record.launched < chosen_.begin,
                                 .stack = raw(record.stack)});
    return &made_.steps.items.back();
  }

  std::uint32_t work_name(kernel_record const& kernel) {
    auto const label = labels_.label_of(kernel.shape);
    auto const [known, is_new] = by_label_.try_emplace(label, 0);
    if (is_new) {
      known->second = static_cast<std::uint32_t>(made_.steps.work_names.size());
      made_.steps.work_names.push_back(labels_.text(label));
      made_.raw_work_names.emplace_back(raw(kernel.shape) != 0 && shape_of(kernel.shape) != nullptr
                                            ? trace_.text()(shape_of(kernel.shape)->name)
                                            : std::string_view(labels_.text(label)));
      made_.steps.base_names.push_back(
          kernel_display_name(made_.raw_work_names.back(), kernel_name_style::base));
    }
    return known->second;
  }
  std::uint32_t work_name(std::string text) {
    auto const [known, is_new] =
        by_text_.try_emplace(text, static_cast<std::uint32_t>(made_.steps.work_names.size()));
    if (is_new) {
      made_.steps.work_names.push_back(text);
      made_.steps.base_names.push_back(text);
      made_.raw_work_names.push_back(std::move(text));
    }
    return known->second;
  }

  kernel_shape const* shape_of(shape_id id) {
    if (shape_places_.empty())
      for (std::size_t i = 0; i < shapes_.size(); ++i) shape_places_[raw(shapes_[i].id)] = i;
    auto const known = shape_places_.find(raw(id));
    return known != shape_places_.end() ? &shapes_[known->second] : nullptr;
  }

  float room_of(kernel_record const& kernel) {
    auto const [known, is_new] = rooms_.try_emplace({kernel.device, kernel.shape}, 0.0f);
    if (!is_new) return known->second;
    auto const* const shape = shape_of(kernel.shape);
    auto const device = devices_.find(kernel.device);
    if (shape == nullptr || device == devices_.end() || !shape->has_geometry()) return 0;
    auto const limits = sm_limits_of(device->second);
    if (!limits) return 0;
    auto const fits = occupancy_of(*shape, *limits);
    if (!fits) return 0;
    auto const waves = waves_of(*shape, *fits, device->second.sm_count);
    if (waves) known->second = static_cast<float>(std::min(1.0, *waves));
    return known->second;
  }

  void note_rate(copy_record const& copy) {
    if (copy.bytes < min_rate_bytes || copy.duration.value <= 0) return;
    auto const rate = static_cast<double>(copy.bytes) / static_cast<double>(copy.duration.value);
    if (copy.kind == copy_kind::host_to_device && copy.source_kind == memory_kind::pinned)
      to_device_rates_.push_back(rate);
    if (copy.kind == copy_kind::device_to_host && copy.destination_kind == memory_kind::pinned)
      to_host_rates_.push_back(rate);
  }

  void take_ranges() {
    auto const& tree = trace_.ranges();
    std::vector<std::uint32_t> place(tree.size(), nothing);
    std::map<range_key, std::uint32_t> names;
    auto& steps = made_.steps;
    for (std::uint32_t i = 0; i < tree.size(); ++i) {
      auto const& range = tree[i];
      if (range.style != range_style::push_pop || range.begin > chosen_.end ||
          range.end < chosen_.begin)
        continue;
      auto const [name, is_new] =
          names.try_emplace(key_of(range), static_cast<std::uint32_t>(steps.range_names.size()));
      if (is_new) {
        auto const domain = trace_.text()(range.domain);
        steps.range_names.push_back((domain.empty() ? "" : std::string(domain) + ":") +
                                    std::string(trace_.text()(range.name)));
      }
      place[i] = static_cast<std::uint32_t>(steps.ranges.size());
      auto const around = range.around();
      steps.ranges.push_back(
          {.begin_ns = since_begin(range.begin),
           .end_ns = since_begin(range.end),
           .thread = raw(range.thread),
           .name = name->second,
           .parent = around == no_range ? nothing : place[around],
           .is_step = std::binary_search(chosen_.instances.begin(), chosen_.instances.end(), i)});
    }
  }

  void take_holds() {
    for (auto const& [begin, end] : disturbed_times(trace_))
      if (begin < chosen_.end && end > chosen_.begin)
        made_.steps.holds.push_back(
            {since_begin(std::max(begin, chosen_.begin)), since_begin(std::min(end, chosen_.end))});
  }

  /// Marks without a length, because stretches of equal length may cut ranges.
  void add_slices() {
    auto& steps = made_.steps;
    if (chosen_.slices.empty()) return;
    auto const name = static_cast<std::uint32_t>(steps.range_names.size());
    steps.range_names.emplace_back("(stretch of the run)");
    for (auto const begin : chosen_.slices)
      steps.ranges.push_back({.begin_ns = since_begin(begin),
                              .end_ns = since_begin(begin),
                              .thread = raw(chosen_.thread),
                              .name = name,
                              .is_step = true});
  }

  void take_rates() {
    auto const median = [](std::vector<double>& rates) {
      if (rates.empty()) return 0.0;
      auto const middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
      std::nth_element(rates.begin(), middle, rates.end());
      return *middle;
    };
    made_.pinned_to_device_bytes_per_ns = median(to_device_rates_);
    made_.pinned_to_host_bytes_per_ns = median(to_host_rates_);
    trace_.file().for_each<peak_record>([&](std::span<peak_record const> peaks) {
      for (auto const& peak : peaks) {
        auto const test = trace_.text()(peak.test);
        if (to_device_rates_.empty() && test == "h2d")
          made_.pinned_to_device_bytes_per_ns = peak.burst / 1e9;
        if (to_host_rates_.empty() && test == "d2h")
          made_.pinned_to_host_bytes_per_ns = peak.burst / 1e9;
      }
    });
  }

  /// Valid after the walk, because damage inside the file shows only when it is read.
  std::uint64_t missing_work() const {
    auto const& file = trace_.file();
    auto missing = file.rows_lost<kernel_record>() + file.rows_lost<graph_record>() +
                   file.rows_lost<copy_record>() + file.rows_lost<memset_record>();
    for (auto const* const counter :
         {"lost.kernels", "lost.graph_launches", "lost.kernels_without_time",
          "lost.other_records_without_time", "lost.records_dropped_by_cupti"})
      missing += trace_.counter(counter);
    return missing;
  }
  std::uint64_t held_work() const {
    auto const& file = trace_.file();
    return file.row_count<kernel_record>() + file.row_count<graph_record>() +
           file.row_count<copy_record>() + file.row_count<memset_record>();
  }

  /// Returns why the steps cannot be replayed; empty if they can.
  std::string why_not() {
    auto const items = made_.steps.items.size();
    auto const share = [&](std::uint64_t of) {
      return static_cast<double>(of) / static_cast<double>(std::max<std::size_t>(1, items + of));
    };
    auto const missing = missing_work();
    if (static_cast<double>(missing) > max_share_missing * static_cast<double>(held_work()))
      return counted(missing, "pieces of GPU work") +
             " are missing in the capture, so steps look shorter on the GPU than they were";
    if (missing > 0)
      made_.remarks.push_back(counted(missing, "pieces of GPU work") +
                              " are missing in the capture");
    if (items == 0 && without_launch_ == 0)
      return chosen_.slices.empty()
                 ? "no work of a GPU was launched in the steps \"" + chosen_.name + "\""
                 : "no work of a GPU has a launch in the capture";
    if (share(without_launch_) > max_share_without_launch)
      return counted(without_launch_, "pieces of GPU work") +
             " in the steps have no launch in the capture, so nothing says what they waited for";
    if (without_launch_ > 0)
      made_.remarks.push_back(counted(without_launch_, "pieces of GPU work") +
                              " without a launch are left out");
    if (share(before_launch_) > max_share_before_launch)
      return "the clocks of CPU and GPU differ: " + counted(before_launch_, "pieces of GPU work") +
             " begin before their launch";
    made_.has_calls = trace_.calls() != captured_calls::none;
    if (!made_.has_calls)
      made_.remarks.emplace_back(
          "the capture holds no CUDA calls, so waits of the CPU count as CPU work");
    return {};
  }

  trace_contents& trace_;
  chosen_steps chosen_;
  kernel_labels const& labels_;
  std::vector<kernel_shape> const& shapes_;
  std::map<device_id, device_record> devices_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> streams_;
  std::unordered_map<std::uint32_t, std::uint32_t> by_label_;
  std::map<std::string, std::uint32_t> by_text_;
  std::unordered_map<std::uint32_t, std::size_t> shape_places_;
  std::map<std::pair<device_id, shape_id>, float> rooms_;
  std::map<name_id, std::uint32_t> calls_;
  std::vector<double> to_device_rates_, to_host_rates_;
  std::uint64_t without_launch_ = 0, before_launch_ = 0;
  steps_of_capture made_;
};

void step_collector::add(kernel_record const& kernel) {
  all_->take(kernel);
}
void step_collector::add(graph_record const& graph) {
  all_->take(graph);
}
void step_collector::add(copy_record const& copy) {
  all_->take(copy);
}
void step_collector::add(memset_record const& fill) {
  all_->take(fill);
}
void step_collector::add(api_record const& call) {
  all_->take(call);
}
result<steps_of_capture> step_collector::finish() {
  return all_->finish();
}

step_collector::step_collector(trace_contents& trace, chosen_steps chosen)
    : all_(std::make_unique<collecting>(trace, std::move(chosen))) {}
step_collector::~step_collector() = default;

}  // namespace gpuprof::host::command
