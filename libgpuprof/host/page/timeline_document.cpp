// SPDX-License-Identifier: Apache-2.0
#include "host/page/timeline_document.hpp"

#include "base/utf8.hpp"
#include "host/page/packed_columns.hpp"
#include "host/page/timeline_path.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gpuprof::host::page {
namespace {

using numbers = std::vector<std::uint64_t>;
constexpr double greatest_level = 65'534;
constexpr std::size_t max_links = 2000;  // of a path

std::string json_text(std::string_view text) {
  std::string out;
  append_json_text(out, text);
  return out;
}

std::string json_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", std::isfinite(value) ? value : 0);
  return text;
}

class document_writer {
 public:
  document_writer(timeline const& made, idle_times const& idle, timeline_steps const& steps,
                  std::vector<traced_path> const& paths)
      : made_(made), idle_(idle), steps_(steps), paths_(paths) {
    take_in(made.counters.devices());
    take_in(made.chip_states.devices());
    begin_ = std::min({begin_, made.begin_ns, idle.begin_ns()});
    end_ = std::max({end_, made.end_ns, idle.end_ns()});
    begin_ = std::min(begin_, end_);
  }

  timeline_document write() {
    head() = "{\"begin_ns\":" + std::to_string(begin_) + ",\"end_ns\":" + std::to_string(end_);
    add("joined_below_ns", made_.bars.joined_below_ns());
    add("lanes_left_out", made_.lanes_left_out);
    add("pieces_left_out", made_.pieces_left_out);
    finer();
    add("idle_joined_below_ns", idle_.bars().joined_below_ns());
    head() += std::string(",\"idle_is_finer\":") + (idle_.has_finer() ? "true" : "false");
    add("idle_finer_joined_below_ns", idle_.finer_below_ns());
    lanes();
    idle();
    counters();
    steps();
    paths();
    head() += '}';
    return std::move(document_);
  }

 private:
  std::string& head() { return document_.head; }
  void add(char const* name, std::uint64_t number) {
    head() += std::string(",\"") + name + "\":" + std::to_string(number);
  }
  void column(std::string const& name, numbers const& of) {
    document_.columns.emplace_back(name, packed(planes_of(of)));
  }
  /// Puts a comma between list elements.
  void next() {
    if (head().back() != '[') head() += ',';
  }

  void texts(std::string const& name, std::vector<std::string> const& of) {
    head() += ",\"" + name + "\":[";
    for (auto const& text : of) {
      next();
      head() += json_text(text);
    }
    head() += ']';
  }

  using counted_devices = std::map<std::uint32_t, counter_tracks::of_device>;
  void take_in(counted_devices const& devices) {
    for (auto const& [_, device] : devices)
      if (auto const points = device.series.points(); !points.empty()) {
        begin_ = std::min(begin_, points.front().start_ns);
        end_ = std::max(end_, points.back().start_ns + points.back().length_ns);
      }
  }

  void lanes() {
    auto const order = order_of(made_.bars.lanes());
    head() += ",\"lanes\":[";
    for (auto const* lane : order) {
      next();
      head() += "{\"group\":" + json_text(lane->group) + ",\"name\":" + json_text(lane->name) +
                ",\"bars\":" + std::to_string(lane->bars.size()) + "}";
    }
    head() += "]";
    texts("names", made_.names);
    texts("places", made_.places);
    bars(order, "");
    numbers names, places, longest;
    for (auto const* lane : order)
      for (auto const& one : lane->bars) {
        names.push_back(one.name);
        places.push_back(one.place);
        longest.push_back(one.length_ns - one.longest_ns);
      }
    column("name", names);
    column("place", places);
    column("longest", longest);
  }

  void idle() {
    auto const order = order_of(idle_.bars().lanes());
    head() += ",\"idle\":[";
    for (auto const* lane : order) {
      next();
      head() += "{\"device\":" + lane->group + ",\"cause\":" + json_text(lane->name) +
                ",\"bars\":" + std::to_string(lane->bars.size()) + "}";
    }
    head() += ']';
    bars(order, "idle-");
  }

  void finer() {
    head() += ",\"finer\":[";
    for (auto const& window : made_.finer) {
      next();
      // Windows may have been extended beyond the timeline.
      auto const begin = std::max(window.begin_ns, begin_), end = std::min(window.end_ns, end_);
      head() += "{\"begin_ns\":" + std::to_string(begin - begin_) +
                ",\"end_ns\":" + std::to_string(std::max(begin, end) - begin_) + "}";
    }
    head() += ']';
    add("finer_joined_below_ns", made_.finer_below_ns);
  }

  static std::vector<lane const*> order_of(std::vector<lane> const& lanes) {
    std::vector<lane const*> order;
    for (auto const& one : lanes) order.push_back(&one);
    std::stable_sort(order.begin(), order.end(),
                     [](auto const* a, auto const* b) { return a->order < b->order; });
    return order;
  }

  void bars(std::vector<lane const*> const& lanes, std::string const& prefix) {
    numbers starts, lengths, pauses, counts;
    for (auto const* lane : lanes) {
      auto before = begin_;
      for (auto const& one : lane->bars) {
        starts.push_back(one.start_ns - before);
        before = one.start_ns;
        lengths.push_back(one.length_ns);
        pauses.push_back(one.length_ns - one.busy_ns);
        counts.push_back(one.count);
      }
    }
    column(prefix + "start", starts);
    column(prefix + "length", lengths);
    column(prefix + "pause", pauses);
    column(prefix + "count", counts);
  }

  void counters() {
    head() += ",\"counters\":[";
    counters_of("samples", made_.counters.devices());
    counters_of("nvml", made_.chip_states.devices());
    head() += ']';
    column("counter-start", counter_start_);
    column("counter-length", counter_length_);
    column("counter-mean", mean_);
    column("counter-below", below_);
    column("counter-above", above_);
  }

  void counters_of(char const* source, counted_devices const& devices) {
    for (auto const& [number, device] : devices) {
      auto const points = device.series.points();
      if (points.empty()) continue;
      next();
      head() += "{\"device\":" + std::to_string(number) + ",\"from\":" + json_text(source) +
                ",\"points\":" + std::to_string(points.size());
      add("joined_below_ns", device.series.joined_below_ns());
      add("left_out", device.tracks_left_out);
      head() += ",\"tracks\":[";
      for (std::size_t i = 0; i < device.tracks.size(); ++i)
        track(device.tracks[i], device.series.values(i));
      head() += "]}";
      auto before = begin_;
      for (auto const& point : points) {
        counter_start_.push_back(point.start_ns - before);
        before = point.start_ns;
        counter_length_.push_back(point.length_ns);
      }
    }
  }

  void track(counter_track const& of, std::span<counter_value const> values) {
    double least = 0, greatest = 0;  // the axis of each track includes 0
    for (auto const& value : values)
      if (value.is_there()) {
        least = std::min<double>(least, value.least);
        greatest = std::max<double>(greatest, value.greatest);
      }
    next();
    head() += "{\"name\":" + json_text(of.name) + ",\"unit\":" + json_text(of.unit) +
              ",\"source\":" + json_text(of.source) +
              ",\"main\":" + (of.is_main ? "true" : "false") + ",\"least\":" + json_number(least) +
              ",\"greatest\":" + json_number(greatest) + "}";
    auto const range = greatest > least ? greatest - least : 1;
    auto const level = [&](double value) {
      return static_cast<std::uint64_t>(std::lround((value - least) / range * greatest_level));
    };
    for (auto const& value : values) {
      auto const mean = value.is_there() ? level(value.mean) : 0;
      mean_.push_back(value.is_there() ? mean + 1 : 0);
      // A rounded mean may lie outside of its values.
      below_.push_back(value.is_there() ? mean - std::min(mean, level(value.least)) : 0);
      above_.push_back(value.is_there() ? std::max(mean, level(value.greatest)) - mean : 0);
    }
  }

  void steps() {
    head() += ",\"steps\":{\"name\":" + json_text(steps_.name) +
              ",\"count\":" + std::to_string(steps_.shown.size());
    add("left_out", steps_.left_out);
    add("warm_up", steps_.warm_up);
    if (steps_.shown_first) add("shown_first", *steps_.shown_first);
    head() += '}';
    numbers begins, lengths, periods;
    auto before = begin_;
    for (auto const& step : steps_.shown) {
      auto const begin = std::max(before, step.begin_ns);
      begins.push_back(begin - before);
      before = begin;
      lengths.push_back(std::max(begin, step.end_ns) - begin);
      periods.push_back(step.period_ns);
    }
    column("step-begin", begins);
    column("step-length", lengths);
    column("step-period", periods);
  }

  void paths() {
    std::vector<link_row> rows;
    numbers starts, lengths, row_numbers;
    auto const since_begin = [&](timestamp_ns at) { return std::max(at.value, begin_) - begin_; };
    head() += ",\"paths\":[";
    for (auto const& path : paths_) {
      auto const links = joined_links(path.links, max_links);
      next();
      head() += std::string("{\"slowest\":") + (path.is_slowest ? "true" : "false") +
                ",\"steps\":" + std::to_string(path.steps);
      add("begin_ns", since_begin(path.begin));
      add("end_ns", since_begin(path.end));
      add("links", links.size());
      head() += '}';
      std::uint64_t before = 0;
      for (auto const& link : links) {
        auto const begin = std::max(since_begin(link.begin), before);
        starts.push_back(begin - before);
        before = begin;
        lengths.push_back(std::max(since_begin(link.end), begin) - begin);
        auto row = std::find(rows.begin(), rows.end(), row_of(link));
        if (row == rows.end()) row = rows.insert(rows.end(), row_of(link));
        row_numbers.push_back(static_cast<std::uint64_t>(row - rows.begin()));
      }
    }
    head() += "],\"path_rows\":[";
    for (auto const& row : rows) {
      next();
      head() += "{\"group\":" + json_text(row.group) + ",\"name\":" + json_text(row.name) + "}";
    }
    head() += ']';
    column("path-start", starts);
    column("path-length", lengths);
    column("path-row", row_numbers);
  }

  timeline const& made_;
  idle_times const& idle_;
  timeline_steps const& steps_;
  std::vector<traced_path> const& paths_;
  std::uint64_t begin_ = ~std::uint64_t{0}, end_ = 0;
  timeline_document document_;
  numbers counter_start_, counter_length_, mean_, below_, above_;
};

}  // namespace

timeline_document document_of(timeline const& made, idle_times const& idle,
                              timeline_steps const& steps, std::vector<traced_path> const& paths) {
  return document_writer(made, idle, steps, paths).write();
}

}  // namespace gpuprof::host::page
