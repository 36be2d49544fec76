// SPDX-License-Identifier: Apache-2.0
#include "report_page/range_places.hpp"

#include "host/report/json_object.hpp"
#include "host/report/summary_tables.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace gpuprof::host::command {
namespace {

/// Returns the rates reached in each place, by the number of the place.
std::map<std::string, roofline_row> figures_of(bounded_paths const& made,
                                               counted_ranges const* counted) {
  std::map<std::string, roofline_row> rows;
  if (counted == nullptr) return rows;
  std::vector<std::uint32_t> around;
  for (auto const& path : made.paths) around.push_back(path.parent);
  auto const work = counted->read.ranges_by_place(made.of_range, around);
  for (auto& row :
       counted->roofs.by_range(work, [](range_key key) { return std::to_string(raw(key.name)); }))
    rows.emplace(row.name, row);
  return rows;
}

void append_path(std::string& out, range_path const& path, std::string const& name,
                 roofline_row const* row) {
  report::json_object o(out);
  o.text("name", name);
  o.member("parent", [&](std::string& to) {
    to += path.parent == no_range ? "null" : std::to_string(path.parent);
  });
  if (path.key.style == range_style::start_end) o.text("style", report::style_name(path.key.style));
  if (path.joined > 0) o.whole("joined", path.joined);
  o.whole("instances", path.instances);
  o.whole("cpu_ns", path.cpu_ns);
  o.whole("own_cpu_ns", path.own_cpu_ns);
  auto const overlap = path.joined > 0 && path.key.style == range_style::start_end;
  if (!overlap) {
    o.whole("gpu_ns", path.gpu_ns);
    o.whole("own_gpu_ns", path.own_gpu_ns);
    o.whole("operations", path.operations);
  }
  if (overlap) row = nullptr;
  if (row != nullptr) {
    o.number("flops", row->total_flops);
    o.number("dram_bytes_per_second", row->dram_rate);
    o.number("l2_bytes_per_second", row->l2_rate);
    if (row->bound != bound_by{}) o.text("bound_by", name_of(row->bound));
    o.number("of_roof", row->of_roof);
  }
  o.end();
}

void append_slow_steps(report::json_object& o, report::ledger const& time) {
  o.number("slow_beyond_ns", time.slow_beyond_ns);
  std::vector<std::size_t> slow;
  for (std::size_t i = 0; i < time.steps.size(); ++i)
    if (time.steps[i].is_slow) slow.push_back(i);
  o.member("slow_steps", [&](std::string& to) {
    report::append_json_array(to, slow,
                              [](std::string& of, std::size_t i) { of += std::to_string(i); });
  });
}

}  // namespace

range_places::range_places(trace_contents& trace, std::string const& step_name)
    : trace_(trace),
      lines_(trace.ranges(), trace.text(), number_steps(trace.ranges(), trace.text(), step_name)),
      paths_(trace.ranges(), trace.open(), trace.launched(range_scope::process),
             [this](traced_range const& range) { return lines_.line_of(key_of(range)); }) {}

template <class Row>
void range_places::join_others(capture_walk& walk) {
  walk.add_each<Row>({}, [this](Row const& row) { paths_.add(row, nanoseconds(row.duration)); });
}

void range_places::join(capture_walk& walk, summed_kernels& kernels) {
  if (trace_.ranges().empty()) return;
  kernels.add(
      capture::only(&kernel_record::duration, &kernel_record::range, &kernel_record::launched),
      [this](std::span<kernel_record const> some, bool) {
        for (auto const& kernel : some) paths_.add(kernel, nanoseconds(kernel.duration));
      });
  join_others<graph_record>(walk);
  join_others<copy_record>(walk);
  join_others<memset_record>(walk);
}

std::string range_places::document(report::ledger const& time, counted_ranges const* counted,
                                   std::size_t max_paths) const {
  auto const made = paths_.bounded(max_paths);
  auto const figures = figures_of(made, counted);
  auto const name_of_path = [&](range_path const& path) {
    if (path.joined > 0) return std::string();
    auto const shared = lines_.name_of_line(path.key);
    if (shared.empty()) return range_name(path.key, trace_.text());
    auto const domain = std::string(trace_.text()(path.key.domain));
    return (domain.empty() ? "" : domain + ":") + shared;
  };
  std::string text;
  report::json_object o(text);
  std::size_t number = 0;
  o.member("paths", [&](std::string& to) {
    report::append_json_array(to, made.paths, [&](std::string& of, range_path const& path) {
      auto const row = figures.find(std::to_string(number++));
      append_path(of, path, name_of_path(path), row == figures.end() ? nullptr : &row->second);
    });
  });
  o.whole("joined", made.joined);
  append_slow_steps(o, time);
  o.end();
  return text;
}

}  // namespace gpuprof::host::command
