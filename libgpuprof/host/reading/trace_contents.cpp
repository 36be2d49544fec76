// SPDX-License-Identifier: Apache-2.0
#include "host/reading/trace_contents.hpp"

#include "base/readable.hpp"
#include "host/analysis/timeline/log_histogram.hpp"
#include "host/reading/native_names.hpp"
#include "host/reading/time_order.hpp"
#include "model/kernel_name.hpp"
#include "model/torch_ranges.hpp"
#include "text/overview.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <numeric>
#include <set>
#include <string>

namespace gpuprof::host {
namespace {

template <class Row, class Take>
void each(capture::reader& file, Take take) {
  file.for_each<Row>([&](std::span<Row const> rows) {
    for (auto const& row : rows) take(row);
  });
}

// The file numbers its names from 1 on; it cannot have so many.
constexpr std::uint32_t first_added_text = 0xC000'0000;

std::string graphs_line(std::uint64_t by_nodes, std::uint64_t launches) {
  return "graphs: the nodes of " + readable_count(by_nodes) + " of " +
         counted(launches, "launches") +
         " were recorded; what the others ran has their times, within the time that each launch "
         "took (--cuda-graph-trace node records all)";
}

}  // namespace

trace_contents::trace_contents(capture::reader file)
    : file_(std::move(file)), text_([this](name_id id) { return text_of(id); }) {
  // A capture window is written when it opens, and again with its end when it closes.
  std::map<std::uint32_t, window_record> windows;
  each<window_record>(file_, [&](auto const& w) { windows[w.index] = w; });
  for (auto const& [index, window] : windows) windows_.push_back(window);
  each<fact_record>(file_, [&](auto const& f) { facts_.emplace_back(f.key, f.value); });
  each<device_record>(file_, [&](auto const& d) { devices_.push_back(d); });
  each<counter_record>(file_,
                       [&](auto const& c) { counters_[std::string(text_(c.name))] = c.value; });
  each<thread_record>(file_, [&](auto const& t) {
    os_threads_[t.thread] = t.os_thread;
    threads_[t.os_thread] = t.thread;
  });
  if (!windows_.empty()) {
    origin_ = windows_.front().start;
    return;
  }
  each<clock_record>(file_, [&](auto const& c) {
    if (origin_.value == 0) origin_ = c.realtime;
  });
}

std::vector<kernel_shape> const& trace_contents::shapes() {
  if (!shapes_) {
    shapes_.emplace();
    each<kernel_shape>(file_, [&](auto const& shape) { shapes_->push_back(shape); });
  }
  return *shapes_;
}

kernel_labels const& trace_contents::labels(kernel_name_style style) {
  auto& made = labels_[static_cast<std::size_t>(style)];
  if (!made)
    made.emplace(shapes(), text_, style,
                 style == kernel_name_style::kind ? codes() : kernel_codes());
  return *made;
}

kernel_codes const& trace_contents::codes() {
  if (!codes_) {
    codes_.emplace();
    each<kernel_code_record>(file_, [&](auto const& row) { codes_->add(row); });
  }
  return *codes_;
}

range_tree const& trace_contents::ranges() {
  if (ranges_) return *ranges_;
  ranges_ = read_ranges();
  if (!with_operators_)
    ranges_->leave_out(
        [this, last = name_id{}, leaves_out = false](traced_range const& range) mutable {
          if (range.domain != last) leaves_out = !is_structure(text_(last = range.domain));
          return leaves_out;
        });
  // The id of a process is that of its main thread.
  ranges_->join_helpers(thread_of(process_id()));
  return *ranges_;
}

range_tree trace_contents::read_ranges() {
  std::vector<range_begin> begins;
  std::vector<range_end> ends;
  begins.reserve(file_.row_count<range_begin>());
  ends.reserve(file_.row_count<range_end>());
  each<range_begin>(file_, [&](auto const& row) { begins.push_back(row); });
  each<range_end>(file_, [&](auto const& row) { ends.push_back(row); });
  auto const all_ended = begins.size() == ends.size();
  return {begins, ends, all_ended ? timestamp_ns{} : last_moment()};
}

open_ranges const& trace_contents::open() {
  if (!open_) open_.emplace(ranges());
  return *open_;
}

launch_ranges const& trace_contents::launched(range_scope scope) {
  auto& made = launched_[static_cast<std::size_t>(scope)];
  if (!made) made.emplace(ranges(), scope, thread_of(process_id()));
  return *made;
}

timestamp_ns trace_contents::last_moment() {
  if (!windows_.empty() && windows_.back().end.value != 0) return windows_.back().end;
  if (last_moment_) return *last_moment_;
  auto& last = last_moment_.emplace();
  each<clock_record>(file_, [&](auto const& c) { last = std::max(last, c.realtime); });
  each<range_end>(file_, [&](auto const& e) { last = std::max(last, e.time); });
  file_.for_each<kernel_record>(
      [&](std::span<kernel_record const> kernels) {
        for (auto const& k : kernels) last = std::max(last, k.start + k.duration);
      },
      capture::only(&kernel_record::start, &kernel_record::duration));
  return last;
}

std::string trace_contents::fact(std::string_view key) const {
  for (auto const& [k, value] : facts_)
    if (text_(k) == key) return std::string(text_(value));
  return {};
}

std::uint64_t trace_contents::counter(std::string_view name) const {
  auto const known = counters_.find(name);
  return known != counters_.end() ? known->second : 0;
}

std::string trace_contents::without_counters() const {
  std::string const none = "holds no hardware counters";
  if (counters_of("counters").empty())
    return none + "; record them with gpuprof profile --metrics auto";
  auto const busy = counter("counters.skipped_busy");
  return none + ": they were asked for, but the program ended, or they were refused, before any " +
         "was read" +
         (busy > 0 ? " (" + counted(busy, "launches") + " came before the GPU was idle)" : "") +
         "; a longer run gives some, gpuprof status says whether they can be read here";
}

std::vector<std::pair<std::string, std::uint64_t>> trace_contents::counters_of(
    std::string_view family) const {
  std::vector<std::pair<std::string, std::uint64_t>> found;
  for (auto const& [name, value] : counters_)
    if (name.starts_with(family) && name.size() > family.size() && name[family.size()] == '.')
      found.emplace_back(name.substr(family.size() + 1), value);
  return found;
}

std::uint32_t trace_contents::process_id() const {
  auto const text = fact("process.id");
  std::uint32_t id = 0;
  std::from_chars(text.data(), text.data() + text.size(), id);
  return id;
}

std::map<std::uint32_t, std::string> trace_contents::device_names() const {
  std::map<std::uint32_t, std::string> names;
  for (auto const& device : devices_) names[raw(device.device)] = text_(device.name);
  return names;
}

/// Ends as soon as all GPUs that are described are found.
template <class Row>
void trace_contents::find_devices_at_work() {
  for (auto const block : file_.blocks_of<Row>()) {
    if (std::ranges::all_of(devices_, [&](auto const& described) {
          return devices_at_work_->contains(described.device);
        }))
      return;
    if (!file_.devices_of(block)) {
      capture::block_devices devices;
      file_.for_each_in<Row>(
          block, [&](std::span<Row const> rows) { note_devices(devices, rows); },
          capture::only(&Row::device));
      file_.note_devices(block, std::move(devices));
    }
    auto const& found = *file_.devices_of(block);
    devices_at_work_->insert(found.begin(), found.end());
  }
}

std::set<device_id> const& trace_contents::devices_at_work() {
  if (devices_at_work_) return *devices_at_work_;
  devices_at_work_.emplace();
  if (devices_.size() == 1) {
    devices_at_work_->insert(devices_.front().device);
    return *devices_at_work_;
  }
  find_devices_at_work<graph_record>();
  find_devices_at_work<memset_record>();
  find_devices_at_work<copy_record>();
  find_devices_at_work<kernel_record>();
  return *devices_at_work_;
}

std::uint32_t trace_contents::os_thread(thread_index thread) const {
  auto const known = os_threads_.find(thread);
  return known != os_threads_.end() ? known->second : 0;
}

thread_index trace_contents::thread_of(std::uint32_t os_thread) const {
  auto const known = threads_.find(os_thread);
  return known != threads_.end() ? known->second : thread_index{};
}

std::map<std::uint32_t, std::string> trace_contents::peaks_measured_at() {
  std::map<std::uint32_t, std::string> latest;
  each<peak_record>(file_, [&](auto const& peak) {
    auto& moment = latest[raw(peak.device)];
    moment = std::max(moment, std::string(text_(peak.measured_at)));
  });
  return latest;
}

namespace {

/// Seconds of a bare launch, from the peaks in the capture; 0: not measured.
double bare_launch_ns(capture::reader& file, text_of_name const& text) {
  double ns = 0;
  each<peak_record>(file, [&](peak_record const& peak) {
    if (text(peak.test) == "launch_throughput") ns = peak.burst * 1e9;
  });
  return ns;
}

/// A tenth of the distances between launches of a thread is shorter. Looks at the first launches
/// only, which come quickly enough.
std::optional<double> quick_launch_ns(capture::reader& file) {
  constexpr std::uint64_t enough = 200'000;
  std::map<thread_index, timestamp_ns> last;
  log_histogram distances;
  for (auto const block : file.blocks_of<kernel_record>()) {
    if (distances.count() >= enough) break;
    file.for_each_in<kernel_record>(
        block,
        [&](std::span<kernel_record const> rows) {
          for (auto const& row : rows) {
            if (row.launched.value == 0) continue;
            auto& before = last[row.thread];
            if (before.value != 0 && row.launched > before)
              distances.add(static_cast<std::uint64_t>((row.launched - before).value));
            before = std::max(before, row.launched);
          }
        },
        capture::only(&kernel_record::launched, &kernel_record::thread));
  }
  return distances.quantile(0.1);
}

}  // namespace

std::optional<double> trace_contents::ns_a_launch() {
  if (ns_a_launch_) return *ns_a_launch_;
  auto& made = ns_a_launch_.emplace();
  auto const alone = bare_launch_ns(file_, text_);
  if (!(alone > 0)) return made;
  // If a launch takes twice the measured time or more, not all of the excess is due to the
  // profiler: the program itself is slow.
  if (auto const quick = quick_launch_ns(file_)) made = std::clamp(*quick - alone, 0.0, alone);
  return made;
}

std::vector<std::pair<std::string, std::uint64_t>> trace_contents::costs() const {
  std::vector<std::pair<std::string, std::uint64_t>> found;
  for (auto const& [name, value] : counters_)
    if (name.starts_with("cost.") || name.starts_with("memory.")) found.emplace_back(name, value);
  return found;
}

namespace {

/// Adds a line such as "30,000 kernels (12.5%) in damaged parts of the file". Returns the number of
/// lost rows.
template <class Row>
std::uint64_t add_lost_rows(capture::reader const& file, char const* what, text::overview& about) {
  auto const lost = file.rows_lost<Row>();
  if (lost == 0) return 0;
  auto const all = lost + file.row_count<Row>();
  char share[32];
  std::snprintf(share, sizeof share, " (%.1f%%)",
                100 * static_cast<double>(lost) / static_cast<double>(all));
  about.other_losses.push_back(counted(lost, what) + share + " in damaged parts of the file");
  return lost;
}

/// Adds what the program recorded but the file lacks.
void add_file_losses(capture::reader const& file, text::overview& about) {
  auto const told = add_lost_rows<kernel_record>(file, "kernels", about) +
                    add_lost_rows<graph_record>(file, "graphs", about) +
                    add_lost_rows<copy_record>(file, "copies", about) +
                    add_lost_rows<memset_record>(file, "fills", about) +
                    add_lost_rows<api_record>(file, "API calls", about) +
                    add_lost_rows<range_begin>(file, "NVTX ranges", about) +
                    add_lost_rows<sample_record>(file, "values of samples", about);
  auto const& losses = file.losses();
  auto const all = std::accumulate(losses.rows.begin(), losses.rows.end(), std::uint64_t{0},
                                   [](auto sum, auto const& of) { return sum + of.second; });
  if (auto const others = all - told; others > 0)
    about.other_losses.push_back(counted(others, "other records") +
                                 " in damaged parts of the file");
  if (losses.blocks != 0)
    about.other_losses.push_back(counted(losses.blocks, "blocks of records") +
                                 " in damaged parts of the file");
  if (losses.unwritten != 0)
    about.other_losses.push_back(counted(losses.unwritten, "records") +
                                 " that could not be written");
  if (losses.lacks_end)
    about.other_losses.emplace_back(
        "whatever came last (the file was cut, or its program was killed: "
        "--flush-interval-ms says how much that can be)");
}

}  // namespace

/// Returns "labels: size=4096, type=bf16", or an empty text without labels.
std::string trace_contents::labels_line() const {
  constexpr std::string_view prefix = "label.";
  std::string line;
  for (auto const& [key, value] : facts_) {
    auto const name = std::string(text_(key));
    if (!name.starts_with(prefix)) continue;
    line += (line.empty() ? "labels: " : ", ") + name.substr(prefix.size()) + "=" +
            std::string(text_(value));
  }
  return line;
}

captured_calls trace_contents::calls() const {
  if (fact("trace.api") == "blocking") return captured_calls::blocking;
  return file_.row_count<api_record>() == 0 ? captured_calls::none : captured_calls::all;
}

/// Returns "peaks: GPU 0 measured 2026-03-01T12:00:00Z", or an empty text without peaks.
std::string trace_contents::peaks_line() {
  std::string line;
  for (auto const& [device, moment] : peaks_measured_at())
    line +=
        (line.empty() ? "peaks: GPU " : ", GPU ") + std::to_string(device) + " measured " + moment;
  return line;
}

std::vector<std::string> trace_contents::missing() {
  auto const about = overview();
  std::vector<std::string> lines;
  for (auto const& [what, count] : about.losses)
    if (count > 0) lines.push_back(counted(count, what) + " lost while recording");
  lines.insert(lines.end(), about.other_losses.begin(), about.other_losses.end());
  for (auto const& warning : file_.warnings()) lines.push_back(warning);
  return lines;
}

text::overview trace_contents::overview() {
  text::overview about;
  about.program = fact("process.command_line");
  if (about.program.empty()) about.program = fact("process.program");
  std::map<device_id, device_record> described;
  for (auto const& device : devices_) described[device.device] = device;
  for (auto const& [id, device] : described) {
    std::string name(text_(device.name));
    about.devices.push_back({.name = name.empty() ? "a GPU without a name" : name,
                             .uuid = std::string(text_(device.uuid)),
                             .device = raw(id),
                             .has_worked = devices_at_work().contains(id)});
  }
  about.windows = windows_.size();
  for (auto const& window : windows_)
    if (window.end > window.start)
      about.seconds += static_cast<double>((window.end - window.start).value) / 1e9;
  auto const batched = counters_.find("note.batched_copies");
  auto const copies =
      file_.row_count<copy_record>() + (batched != counters_.end() ? batched->second : 0);
  about.records = {{"kernels", file_.row_count<kernel_record>()},
                   {"graphs", file_.row_count<graph_record>()},
                   {"copies", copies},
                   {"fills", file_.row_count<memset_record>()},
                   {"API calls", file_.row_count<api_record>()},
                   {"NVTX ranges", file_.row_count<range_begin>()},
                   {"marks", file_.row_count<mark_record>()}};
  for (auto const& [name, value] : counters_) add_counter(about, name, value);
  if (counter("note.graph_launches_computed") > 0)
    about.remarks.push_back(
        graphs_line(counter("note.graph_launches_chosen") + counter("note.graph_launches_by_nodes"),
                    counter("seen.graph_launches")));
  about.all_launches_read = fact("environment.GPUPROF_METRICS").starts_with("exact");
  about.launches = counter("seen.launches") + counter("seen.graph_launches");
  about.ns_a_launch = ns_a_launch();
  add_file_losses(file_, about);
  if (auto line = labels_line(); !line.empty()) about.remarks.push_back(std::move(line));
  if (auto line = peaks_line(); !line.empty()) about.remarks.push_back(std::move(line));
  for (auto const& warning : file_.warnings()) about.remarks.push_back("warning: " + warning);
  return about;
}

std::string_view trace_contents::text_of(name_id name) const noexcept {
  if (raw(name) < first_added_text) return file_.text(name);
  auto const index = raw(name) - first_added_text;
  return index < added_texts_.size() ? added_texts_[index] : std::string_view{};
}

std::vector<stack_record> const& trace_contents::stacks() {
  if (stacks_) return *stacks_;
  auto& stacks = stacks_.emplace(1);
  each<stack_record>(file_, [&](stack_record const& row) {
    constexpr std::uint32_t largest = 1u << 24;  // only a damaged file has others
    if (raw(row.stack) > largest) return;
    if (raw(row.stack) >= stacks.size()) stacks.resize(raw(row.stack) + std::size_t{1});
    stacks[raw(row.stack)] = row;
  });
  std::map<binary_id, native_binary> binaries;
  each<binary_record>(file_, [&](binary_record const& row) {
    binaries[row.binary] = {row.path, std::string(text_(row.path)),
                            std::string(text_(row.build_id))};
  });
  // nvcc makes a function of the CPU for each kernel, with its name, which makes the launch.
  std::set<std::string> kernels;
  if (!binaries.empty())
    for (auto const& shape : shapes()) kernels.insert(function_display_name(text_(shape.name)));
  name_native_frames(stacks, binaries, [&](std::string text) {
    if (kernels.contains(text)) text.insert(0, "__device_stub__");
    added_texts_.push_back(std::move(text));
    return static_cast<name_id>(first_added_text + added_texts_.size() - 1);
  });
  return stacks;
}

}  // namespace gpuprof::host
