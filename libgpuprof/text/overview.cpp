// SPDX-License-Identifier: Apache-2.0
#include "text/overview.hpp"

#include "base/readable.hpp"

#include <algorithm>
#include <cstdio>

namespace gpuprof::text {
namespace {

std::string joined(std::vector<std::string> const& parts, std::string_view separator) {
  std::string out;
  for (auto const& part : parts) {
    if (!out.empty()) out += separator;
    out += part;
  }
  return out;
}

std::vector<std::string> shown(std::vector<overview::amount> const& amounts) {
  std::vector<std::string> out;
  for (auto const& amount : amounts)
    if (amount.count > 0) out.push_back(counted(amount.count, amount.what));
  return out;
}

/// "2 x NVIDIA H200 (of 8 GPUs)": those that have worked. All of them if none has.
std::string device_list(std::vector<overview::gpu> const& described) {
  std::vector<std::string> devices, parts;
  for (auto const& gpu : described)
    if (gpu.has_worked) devices.push_back(gpu.name);
  auto const some_rest = !devices.empty() && devices.size() < described.size();
  if (devices.empty())
    for (auto const& gpu : described) devices.push_back(gpu.name);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (std::find(devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(i), devices[i]) !=
        devices.begin() + static_cast<std::ptrdiff_t>(i))
      continue;
    auto const n = std::count(devices.begin(), devices.end(), devices[i]);
    parts.push_back((n > 1 ? std::to_string(n) + " x " : "") + devices[i]);
  }
  return joined(parts, ", ") +
         (some_rest ? " (of " + std::to_string(described.size()) + " GPUs)" : "");
}

std::string in_words(std::string_view name) {
  std::string words(name);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

/// Returns the option that avoids losses for this reason in the next run; empty if there is none.
std::string_view way_to_lose_less(std::string_view reason) {
  constexpr std::pair<std::string_view, std::string_view> ways[] = {
      {"buffers_refused", "a greater --buffer-limit-mib"},
      {"records_dropped_by_cupti", "a greater --buffer-limit-mib"},
      {"threads", "a greater --buffer-limit-mib"},
      {"rows_on_disk", "more room on the disk, or another --output"},
      {"sampling_overflows", "a longer --pm-sampling-interval"}};
  auto const known = std::find_if(std::begin(ways), std::end(ways),
                                  [&](auto const& way) { return way.first == reason; });
  return known != std::end(ways) ? known->second : std::string_view{};
}

}  // namespace

std::vector<std::string> overview_lines(overview const& about) {
  auto captured = "captured: " + (about.program.empty() ? "a program" : about.program);
  if (!about.devices.empty()) captured += " on " + device_list(about.devices);
  if (about.seconds > 0) captured += ", " + readable_time(about.seconds * 1e9);
  if (about.windows > 1) captured += " in " + std::to_string(about.windows) + " captures";
  auto const records = shown(about.records);
  captured += ", " + (records.empty() ? "no records" : joined(records, ", "));

  auto losses = shown(about.losses);
  losses.insert(losses.end(), about.other_losses.begin(), about.other_losses.end());
  auto lost = "lost: " + (losses.empty() ? "nothing" : joined(losses, ", "));
  if (!about.ways_to_lose_less.empty())
    lost += ". To lose less: " +
            joined({about.ways_to_lose_less.begin(), about.ways_to_lose_less.end()}, ", ");
  std::vector<std::string> lines = {std::move(captured), std::move(lost), cost_line(about)};
  lines.insert(lines.end(), about.remarks.begin(), about.remarks.end());
  return lines;
}

void add_counter(overview& about, std::string_view name, std::uint64_t value) {
  auto const point = name.find('.');
  if (point == std::string_view::npos) return;
  auto const family = name.substr(0, point);
  auto what = name.substr(point + 1);
  if (name == "note.names_grouped" && value > 0)
    about.remarks.push_back("the names of " + counted(value, "ranges") +
                            " stand for others too, as 'request *': there were too many to keep");
  if (name == "note.readings_begin_after_s" && value > 0)
    about.remarks.push_back("no launch was read: with this --overhead-budget, that begins after " +
                            std::to_string(value) + " s. --set explain reads from the start");
  if (name == "note.sampling_begins_after_ms" && value > 0)
    about.remarks.push_back("nothing was sampled: with this --overhead-budget, that begins after " +
                            std::to_string(value) +
                            " ms of steady work. --set explain begins at once");
  if (name == "lost.kernel_grids" && value > 0)
    about.remarks.push_back(
        "grid not recorded: " + counted(value, "kernels") +
        " have no grid and block, because more different launch shapes came than can be kept");
  // More memory helps only if a ring could not grow. Otherwise its thread was too fast for the
  // reader.
  if (name == "note.rings_without_memory" && value > 0)
    about.ways_to_lose_less.emplace(way_to_lose_less("threads"));
  if (name == "lost.work_of_launching_kernels") {  // the number of kernels is not known
    if (value > 0)
      about.other_losses.push_back("what " + counted(value, "kernels") +
                                   " may have launched from the GPU (dynamic parallelism, graphs "
                                   "launched by a kernel)");
  } else if (family == "lost") {
    about.losses.push_back({in_words(what), value});
    if (auto const way = way_to_lose_less(what); value > 0 && !way.empty())
      about.ways_to_lose_less.emplace(way);
  }
  if (family == "cost" || family == "memory") about.costs.push_back({std::string(name), value});
}

}  // namespace gpuprof::text
