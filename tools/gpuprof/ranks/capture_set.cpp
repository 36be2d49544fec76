// SPDX-License-Identifier: Apache-2.0
#include "ranks/capture_set.hpp"

#include "base/readable.hpp"
#include "host/reading/capture_rank.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

namespace gpuprof::host::command {
namespace {

using amounts = std::vector<text::overview::amount>;

void add_amounts(amounts& to, amounts const& from) {
  for (auto const& more : from) {
    auto const known =
        std::find_if(to.begin(), to.end(), [&](auto const& a) { return a.what == more.what; });
    if (known != to.end())
      known->count += more.count;
    else
      to.push_back(more);
  }
}

}  // namespace

void joined_heading::add(text::overview const& one, ranked_capture const& capture) {
  ++ranks_;
  if (all_.program.empty()) all_.program = one.program;
  for (auto const& gpu : one.devices) {
    auto const place = capture.host + "\n" + std::to_string(gpu.device);
    auto& known = gpus_.try_emplace(gpu.uuid.empty() ? place : gpu.uuid, gpu).first->second;
    known.has_worked = known.has_worked || gpu.has_worked;
  }
  all_.seconds = std::max(all_.seconds, one.seconds);
  all_.windows = std::max(all_.windows, one.windows);
  add_amounts(all_.records, one.records);
  add_amounts(all_.losses, one.losses);
  all_.ways_to_lose_less.insert(one.ways_to_lose_less.begin(), one.ways_to_lose_less.end());
  if (ranks_ == 1 || share_lost(one) > most_lost_) {
    most_lost_ = share_lost(one);
    costliest_ = one;
    costliest_.costs_of = "most in rank " + capture.label;
  }
  for (auto const& loss : one.other_losses) losses_.add(loss, capture.label);
  for (auto const& remark : one.remarks) remarks_.add(remark, capture.label);
}

std::vector<std::string> joined_heading::lines() const {
  auto about = all_;
  about.program +=
      (about.program.empty() ? "" : " ") + std::string("as ") + counted(ranks_, "ranks");
  for (auto const& [_, gpu] : gpus_) about.devices.push_back(gpu);
  about.other_losses = losses_.lines(ranks_);
  about.remarks = remarks_.lines(ranks_);
  auto lines = overview_lines(about);
  lines[text::cost_line_at] = cost_line(costliest_);
  return lines;
}

namespace {

constexpr std::size_t max_files_named = 8;

bool is_before(ranked_capture const& a, ranked_capture const& b) {
  if (a.rank.has_value() != b.rank.has_value()) return a.rank.has_value();
  if (a.rank != b.rank) return *a.rank < *b.rank;
  return a.path < b.path;
}

void give_labels(std::vector<ranked_capture>& captures) {
  std::map<std::uint32_t, std::size_t> of_rank;
  for (auto const& capture : captures)
    if (capture.rank) ++of_rank[*capture.rank];
  std::set<std::string> used;
  for (auto& capture : captures) {
    if (!capture.rank)
      capture.label = std::filesystem::path(capture.path).stem().string();
    else if (of_rank[*capture.rank] == 1)
      capture.label = std::to_string(*capture.rank);
    else
      capture.label =
          std::to_string(*capture.rank) + " (pid " + std::to_string(capture.process) + ")";
    if (!used.insert(capture.label).second) capture.label += " " + capture.path;
    used.insert(capture.label);
  }
}

void give_file_names(std::vector<ranked_capture>& captures) {
  std::set<std::string> used;
  for (auto& capture : captures) {
    auto const is_alone = capture.rank && capture.label == std::to_string(*capture.rank);
    auto const name =
        is_alone ? "rank" + capture.label : std::filesystem::path(capture.path).stem().string();
    capture.file_name = name;
    for (unsigned i = 2; !used.insert(capture.file_name).second; ++i)
      capture.file_name = name + "-" + std::to_string(i);
  }
}

void say_doubled(capture_set& set) {
  std::map<std::uint32_t, std::vector<std::string>> paths;
  for (auto const& capture : set.captures)
    if (capture.rank) paths[*capture.rank].push_back(capture.path);
  for (auto const& [rank, of] : paths)
    if (of.size() > 1)
      set.remarks.push_back("rank " + std::to_string(rank) + " has " + std::to_string(of.size()) +
                            " captures, each counts: " + listed_words(of) +
                            "; name one of them where they are of different runs");
}

/// Launchers such as torchrun are processes, too, and are captured if all processes are.
void leave_out_launchers(capture_set& set) {
  auto const is_launcher = [](auto const& c) { return !c.rank && !c.has_gpu_work; };
  auto const first =
      std::stable_partition(set.captures.begin(), set.captures.end(), std::not_fn(is_launcher));
  if (first == set.captures.end() || first == set.captures.begin() || !set.captures.front().rank)
    return;
  std::vector<std::string> paths;
  for (auto each = first; each != set.captures.end(); ++each) paths.push_back(each->path);
  set.captures.erase(first, set.captures.end());
  set.remarks.push_back("not of a rank, and without work on a GPU: " + listed_words(paths) +
                        ", left out");
}

void say_without_rank(capture_set& set) {
  std::vector<std::string> paths;
  for (auto const& capture : set.captures)
    if (!capture.rank) paths.push_back(capture.path);
  if (paths.empty()) return;
  set.remarks.push_back("no rank is known of " + listed_words(paths) +
                        ", named by file: no launcher had set RANK or the like");
}

/// Adds a line if captures differ in a value that should be the same. Captures without a value are
/// ignored.
template <class Value>
void say_different(capture_set& set, Value value_of, std::string const& what) {
  std::map<std::string, std::vector<std::string>> labels;
  for (auto const& capture : set.captures)
    if (auto const value = value_of(capture)) labels[*value].push_back(capture.label);
  if (labels.size() < 2) return;
  std::vector<std::string> groups;
  for (auto const& [value, of] : labels)
    groups.push_back((value.empty() ? "not known" : value) + " (" + listed_words(of) + ")");
  set.remarks.push_back(what + ": " + listed_words(groups) + "; figures over ranks mix them");
}

void say_missing(capture_set& set) {
  std::uint32_t size = 0;
  std::set<std::uint32_t> there;
  for (auto const& capture : set.captures) {
    if (capture.world_size > 0 && size > 0 && capture.world_size != size) return;  // said already
    size = std::max(size, capture.world_size);
    if (capture.rank) there.insert(*capture.rank);
  }
  std::erase_if(there, [&](auto rank) { return rank >= size; });  // ranks beyond the size
  if (size <= there.size() || there.empty()) return;
  std::vector<std::string> missing;
  auto const count = size - there.size();
  for (std::uint32_t rank = 0; rank < size && missing.size() < max_files_named; ++rank)
    if (!there.contains(rank)) missing.push_back(std::to_string(rank));
  auto const more = count - missing.size();
  set.remarks.push_back("the job has " + std::to_string(size) + " ranks, captures of " +
                        std::to_string(there.size()) +
                        " are here; missing: " + listed_words(missing) +
                        (more > 0 ? " and " + std::to_string(more) + " more" : ""));
}

void say_not_together(capture_set& set) {
  ranked_capture const *first_to_end = nullptr, *last_to_begin = nullptr;
  for (auto const& capture : set.captures) {
    if (capture.begin.value == 0 || capture.end.value == 0) continue;
    if (first_to_end == nullptr || capture.end < first_to_end->end) first_to_end = &capture;
    if (last_to_begin == nullptr || capture.begin > last_to_begin->begin) last_to_begin = &capture;
  }
  if (first_to_end == nullptr || first_to_end->end >= last_to_begin->begin) return;
  set.remarks.push_back("the captures are not of one time: that of " + first_to_end->label +
                        " ended before that of " + last_to_begin->label +
                        " began; are they of different runs?");
}

}  // namespace

ranked_capture ranked(trace_contents& trace, std::string const& path) {
  ranked_capture about;
  about.path = path;
  auto const rank = rank_of_capture(trace);
  if (rank) {
    about.rank = rank->rank;
    about.world_size = rank->world_size;
  }
  about.host = trace.fact("host");
  about.program = trace.fact("process.program");
  about.job = trace.fact("environment.SLURM_JOB_ID");
  about.process = trace.process_id();
  auto const& file = trace.file();
  about.has_gpu_work = file.row_count<kernel_record>() + file.row_count<graph_record>() +
                           file.row_count<copy_record>() + file.row_count<memset_record>() >
                       0;
  if (!trace.windows().empty()) {
    about.begin = trace.windows().front().start;
    about.end = trace.windows().back().end;
  }
  return about;
}

capture_set capture_set_of(std::vector<ranked_capture> captures) {
  capture_set set;
  set.captures = std::move(captures);
  std::sort(set.captures.begin(), set.captures.end(), is_before);
  leave_out_launchers(set);
  give_labels(set.captures);
  give_file_names(set.captures);
  if (set.captures.size() < 2) return set;
  say_doubled(set);
  say_without_rank(set);
  say_different(
      set, [](auto const& c) { return std::optional(c.program); },
      "the captures are of different programs");
  say_different(
      set, [](auto const& c) { return std::optional(c.job); },
      "the captures are of different Slurm jobs");
  say_different(
      set,
      [](auto const& c) {
        return c.world_size > 0 ? std::optional(std::to_string(c.world_size)) : std::nullopt;
      },
      "the captures are of jobs of different size");
  say_not_together(set);
  say_missing(set);
  return set;
}

result<capture_set> read_capture_set(std::span<std::string const> paths) {
  std::vector<ranked_capture> captures;
  std::vector<std::string> unreadable;
  for (auto const& path : paths) {
    auto opened = capture::reader::open(path);
    if (!opened) {
      unreadable.push_back(opened.message());
      continue;
    }
    trace_contents trace(std::move(*opened));
    captures.push_back(ranked(trace, path));
  }
  if (captures.empty())
    return error{unreadable.empty() ? "no capture is named" : unreadable.front()};
  auto set = capture_set_of(std::move(captures));
  for (auto& line : unreadable) line += "; the other captures are used";
  set.has_unreadable = !unreadable.empty();
  set.remarks.insert(set.remarks.begin(), unreadable.begin(), unreadable.end());
  return set;
}

}  // namespace gpuprof::host::command
