// SPDX-License-Identifier: Apache-2.0
#include "report_page/kernel_document.hpp"

#include "host/analysis/occupancy.hpp"
#include "host/analysis/samples.hpp"
#include "host/report/json_object.hpp"

#include <algorithm>
#include <cstdio>

namespace gpuprof::host::command {
namespace {

using report::append_json_array;
using report::json_object;

constexpr std::size_t max_places = 200;  // more than a list to choose from can hold

extent3 extent_of(captured_extent const& e) {
  return {e.x, e.y, e.z};
}

std::string extent_text(captured_extent const& e) {
  if (e.x == 0) return "not recorded";
  return std::to_string(e.x) + " x " + std::to_string(e.y) + " x " + std::to_string(e.z);
}

template <class Numbers>
void append_numbers(std::string& out, Numbers const& numbers) {
  out += '[';
  for (auto const number : numbers) {
    if (out.back() != '[') out += ',';
    out += std::to_string(number);
  }
  out += ']';
}

kernel_shape shape_of(page::launch_geometry const& geometry) {
  kernel_shape shape;
  shape.grid = extent_of(geometry.grid);
  shape.block = extent_of(geometry.block);
  shape.cluster = extent_of(geometry.cluster);
  shape.registers_per_thread = geometry.registers;
  shape.static_shared_bytes = geometry.static_shared;
  shape.dynamic_shared_bytes = geometry.dynamic_shared;
  shape.local_bytes_per_thread = geometry.local_bytes;
  shape.shared_bytes_unknown = geometry.shared_unknown;
  return shape;
}

std::vector<std::string> limiters_of(occupancy const& now) {
  std::vector<std::string> limiters;
  if (now.limited_by_registers()) limiters.emplace_back("registers");
  if (now.limited_by_shared_memory()) limiters.emplace_back("shared memory");
  if (now.limited_by_warps()) limiters.emplace_back("warps");
  if (now.limited_by_blocks()) limiters.emplace_back("blocks");
  return limiters;
}

void append_occupancy(json_object& o, page::launch_geometry const& geometry,
                      std::vector<device_record> const& devices) {
  auto const device = std::find_if(devices.begin(), devices.end(), [&](auto const& one) {
    return raw(one.device) == geometry.device;
  });
  if (device == devices.end()) return;
  auto const limits = sm_limits_of(*device);
  if (!limits) return;
  auto const shape = shape_of(geometry);
  auto const now = occupancy_of(shape, *limits);
  if (!now) return;
  o.number("occupancy", now->share);
  o.whole("blocks_per_sm", now->blocks_per_sm);
  o.member("limited_by",
           [&](std::string& to) { report::append_json_texts(to, limiters_of(*now)); });
  // How many clusters fit on the GPU is not known here.
  if (geometry.cluster.x <= 1 && geometry.cluster.y <= 1 && geometry.cluster.z <= 1)
    o.number("waves", waves_of(shape, *now, device->sm_count));
}

void append_geometry(std::string& out, page::used_geometry const& used,
                     std::vector<device_record> const& devices) {
  auto const& geometry = used.geometry;
  json_object o(out);
  o.whole("device", geometry.device);
  o.text("grid", extent_text(geometry.grid));
  o.text("block", extent_text(geometry.block));
  if (geometry.cluster.x > 0) o.text("cluster", extent_text(geometry.cluster));
  if (geometry.registers != 0) o.whole("registers", geometry.registers);
  if (!geometry.shared_unknown) {
    o.whole("static_shared", geometry.static_shared);
    o.whole("dynamic_shared", geometry.dynamic_shared);
  }
  o.whole("local", geometry.local_bytes);
  o.whole("launches", used.launches);
  o.whole("total_ns", used.total_ns);
  append_occupancy(o, geometry, devices);
  o.end();
}

void append_points(std::string& out, page::duration_series const& series, std::uint64_t origin) {
  auto before = origin;
  out += '[';
  for (auto const& point : series.points()) {
    if (out.back() != '[') out += ',';
    auto const start = std::max(point.start_ns, before);
    append_numbers(
        out, std::initializer_list<std::uint64_t>{start - before, point.launches, point.shortest_ns,
                                                  point.total_ns, point.longest_ns});
    before = start;
  }
  out += ']';
}

void append_durations(json_object& o, page::line_details const& line, std::uint64_t origin) {
  o.whole("left_out", line.left_out);
  o.member("histogram", [&](std::string& to) {
    auto const shown = line.durations.shown();
    json_object histogram(to);
    histogram.flag("logarithmic", shown.logarithmic);
    histogram.member("edges", [&](std::string& out) { append_numbers(out, shown.edges); });
    histogram.member("counts", [&](std::string& out) { append_numbers(out, shown.counts); });
    histogram.whole("shorter", shown.shorter);
    histogram.whole("longer", shown.longer);
    histogram.end();
  });
  o.whole("joined_within_ns", line.over_time.joined_within_ns());
  o.member("points", [&](std::string& to) { append_points(to, line.over_time, origin); });
}

void append_neighbors(std::string& out, std::vector<page::neighbor> const& list) {
  append_json_array(out, list, [](std::string& to, page::neighbor const& one) {
    append_numbers(to, std::initializer_list<std::uint64_t>{one.kernel, one.times});
  });
}

/// Means by position, null where nothing was sampled.
void append_course(std::string& out, page::sample_course const& course) {
  json_object o(out);
  o.text("metric", course.metric);
  o.member("means", [&](std::string& to) {
    to += '[';
    for (std::size_t i = 0; i < course.sum.size(); ++i) {
      std::optional<double> mean;
      if (course.samples[i] > 0) mean = course.sum[i] / static_cast<double>(course.samples[i]);
      if (i > 0) to += ',';
      if (mean)
        text::append_cell(to, text::number_cell(mean), text::column_kind::number, {});
      else
        to += "null";
    }
    to += ']';
  });
  o.member("samples", [&](std::string& to) { append_numbers(to, course.samples); });
  o.end();
}

class document_writer {
 public:
  document_writer(watched_kernels const& watched, page::kernel_details const& details,
                  trace_contents& trace)
      : watched_(watched), details_(details), trace_(trace), origin_(trace.origin().value) {}

  std::string write() {
    std::string text;
    json_object o(text);
    o.member("kernels", [this](std::string& to) { kernels(to); });
    o.member("signatures", [this](std::string& to) { signatures(to); });
    o.whole("more_kernels", watched_.more_kernels);
    o.whole("more_signatures", watched_.more_signatures);
    o.member("names", [this](std::string& to) { report::append_json_texts(to, details_.names()); });
    places(o, "ranges", details_.places().ranges());
    places(o, "graphs", details_.places().graphs());
    o.whole("not_placed", details_.places().not_placed());
    o.end();
    return text;
  }

 private:
  void kernels(std::string& to) {
    auto const around = details_.surroundings();
    std::size_t at = 0;
    append_json_array(to, details_.kernels(), [&](std::string& out, auto const& line) {
      json_object o(out);
      o.text("name", watched_.kernels[at].name);
      append_durations(o, line, origin_);
      o.member("geometries", [&](std::string& list) {
        append_json_array(list, details_.geometries(at), [&](std::string& one, auto const& used) {
          append_geometry(one, used, trace_.devices());
        });
      });
      o.member("samples", [&](std::string& list) {
        append_json_array(list, details_.samples().of(static_cast<std::uint32_t>(at)),
                          append_course);
      });
      o.member("before", [&](std::string& list) { append_neighbors(list, around[at].before); });
      o.member("after", [&](std::string& list) { append_neighbors(list, around[at].after); });
      o.end();
      ++at;
    });
  }

  void signatures(std::string& to) {
    std::size_t at = 0;
    append_json_array(to, details_.signatures(), [&](std::string& out, auto const& line) {
      auto const& watched = watched_.signatures[at++];
      json_object o(out);
      o.text("name", watched.name);
      o.text("grid", extent_text(*watched.grid));
      o.text("block", extent_text(*watched.block));
      append_durations(o, line, origin_);
      o.end();
    });
  }

  void places(json_object& o, std::string const& what, std::vector<page::kernel_place> list) {
    auto const more = list.size() - std::min(list.size(), max_places);
    list.resize(list.size() - more);
    o.member(what, [&](std::string& to) {
      append_json_array(to, list, [](std::string& out, page::kernel_place const& place) {
        json_object one(out);
        one.text("name", place.name);
        if (place.is_start_end) one.flag("start_end", true);
        one.member("kernels", [&](std::string& kernels) {
          append_json_array(kernels, place.kernels, [](std::string& numbers, auto const& of) {
            append_numbers(
                numbers, std::initializer_list<std::uint64_t>{of.kernel, of.launches, of.total_ns});
          });
        });
        one.end();
      });
    });
    o.whole("more_" + what, more);
  }

  watched_kernels const& watched_;
  page::kernel_details const& details_;
  trace_contents& trace_;
  std::uint64_t origin_;
};

class named_cells {
 public:
  explicit named_cells(text::table const& table) : columns_(table.columns) {}
  std::string_view text(text::row const& row, std::string_view column) const {
    auto const* const cell = std::get_if<std::string_view>(find(row, column));
    return cell == nullptr ? std::string_view() : *cell;
  }
  std::uint64_t whole(text::row const& row, std::string_view column) const {
    auto const* const cell = std::get_if<std::int64_t>(find(row, column));
    return cell == nullptr || *cell < 0 ? 0 : static_cast<std::uint64_t>(*cell);
  }

 private:
  text::cell const* find(text::row const& row, std::string_view column) const {
    for (std::size_t i = 0; i < columns_.size() && i < row.size(); ++i)
      if (columns_[i].name == column) return &row[i];
    return nullptr;
  }
  std::vector<text::column> const& columns_;
};

/// "264    1    1".
std::optional<captured_extent> extent_of(std::string_view text) {
  captured_extent extent;
  if (std::sscanf(std::string(text).c_str(), "%u %u %u", &extent.x, &extent.y, &extent.z) != 3)
    return std::nullopt;
  return extent;
}

/// Returns how many lines are not among them.
std::size_t take_lines(text::table const& table, bool with_extents, std::size_t max_lines,
                       std::vector<page::watched_line>& lines) {
  named_cells const cells(table);
  std::size_t more = 0;
  table.each_row([&](text::row const& row) {
    if (lines.size() == max_lines) {
      ++more;
      return;
    }
    page::watched_line line{std::string(cells.text(row, "Name")),
                            {},
                            {},
                            cells.whole(row, "Min"),
                            cells.whole(row, "Max")};
    if (with_extents) {
      line.grid = extent_of(cells.text(row, "GridXYZ"));
      line.block = extent_of(cells.text(row, "BlockXYZ"));
      if (!line.grid || !line.block) {
        ++more;
        return;
      }
    }
    lines.push_back(std::move(line));
  });
  return more;
}

}  // namespace

void note_undisturbed(summed_kernels& kernels, undisturbed_lengths& to) {
  kernels.add(
      capture::only(&kernel_record::correlation, &kernel_record::start, &kernel_record::duration),
      [&to](std::span<kernel_record const> some, bool is_substituted) {
        if (!is_substituted) return;
        for (auto const& kernel : some)
          to[{raw(kernel.correlation), kernel.start.value}] = nanoseconds(kernel.duration);
      });
}

std::string kernel_document(watched_kernels const& watched, page::kernel_details const& details,
                            trace_contents& trace) {
  return document_writer(watched, details, trace).write();
}

watched_kernels kernels_to_watch(std::vector<finished_report> const& reports,
                                 std::size_t max_kernels) {
  auto const max_signatures = max_kernels + max_kernels / 2;
  watched_kernels watched;
  for (auto const& report : reports) {
    if (!report.missing.empty()) continue;
    if (report.table.name == "cuda_gpu_kern_sum")
      watched.more_kernels = take_lines(report.table, false, max_kernels, watched.kernels);
    if (report.table.name == "cuda_gpu_kern_gb_sum")
      watched.more_signatures = take_lines(report.table, true, max_signatures, watched.signatures);
  }
  return watched;
}

}  // namespace gpuprof::host::command
