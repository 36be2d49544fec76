// SPDX-License-Identifier: Apache-2.0
#include "filter_options.hpp"

#include "base/nearest_name.hpp"
#include "base/readable.hpp"
#include "model/kernel_patterns.hpp"
#include "word_option.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>

namespace gpuprof::host::command {
namespace {

using outcome = std::optional<filter_failure>;

outcome narrow_to_kernels(selection& wanted, std::vector<std::string> const& names,
                          trace_contents& trace, std::string const& path) {
  std::vector<kernel_pattern> asked_for;
  for (auto const& name : names) asked_for.push_back(kernel_pattern_of(name));
  auto const patterns = kernel_patterns::make(asked_for);
  if (!patterns) return filter_failure{"--kernel " + patterns.message(), true};
  auto const& shapes = trace.shapes();
  std::vector<bool> chosen;
  std::map<name_id, bool> answers;  // a kernel has one shape per grid and block
  for (auto const& shape : shapes) {
    auto const [answer, is_new] = answers.try_emplace(shape.name);
    if (is_new) answer->second = patterns->match(trace.text()(shape.name));
    auto const id = std::size_t{raw(shape.id)};
    if (id > largest_shape) continue;  // only in damaged files
    if (id >= chosen.size()) chosen.resize(id + 1);
    chosen[id] = answer->second;
  }
  if (std::find(chosen.begin(), chosen.end(), true) == chosen.end()) {
    std::vector<std::string> known;
    for (auto const& [name, passes] : answers)
      known.push_back(kernel_display_name(trace.text()(name), kernel_name_style::base));
    auto const near = nearest_name(names.front(), known);
    // A name is the whole name of a kernel; most type a part of it.
    auto const is_part = [&](std::string const& name) {
      return name.find(names.front()) != std::string::npos;
    };
    auto const parts = std::count_if(known.begin(), known.end(), is_part);
    auto const& asked = names.front();
    auto hint = near.empty() ? std::string() : "; did you mean '" + near + "'?";
    if (parts > 0)
      hint += (near.empty() ? "; " : " ") + std::string("--kernel regex:") + asked + " selects " +
              counted(static_cast<std::uint64_t>(parts), "kernels") + " with that in the name";
    return filter_failure{path + " holds no kernel '" + asked + "'" + hint};
  }
  wanted.only_kernels(std::move(chosen));
  return {};
}

outcome narrow_to_device(selection& wanted, std::uint32_t number, trace_contents& trace,
                         std::string const& path) {
  std::string known;
  for (auto const& device : trace.devices()) {
    if (raw(device.device) == number) {
      wanted.only(device.device);
      return {};
    }
    known += (known.empty() ? "" : ", ") + std::to_string(raw(device.device));
  }
  return filter_failure{"there is no GPU " + std::to_string(number) + " in " + path +
                        (known.empty() ? "" : "; it has " + known)};
}

outcome narrow_to_ranges(selection& wanted, std::string const& text, trace_contents& trace,
                         std::string const& path, range_scope scope) {
  auto const filter = parse_range_expression(text);
  if (!filter) return filter_failure{filter.message(), true};
  auto const found =
      wanted.only(*filter, trace.ranges(), trace.open(), trace.launched(scope), trace.text());
  if (!found) return filter_failure{path + ": " + found.message()};
  return {};
}

}  // namespace

void add_own_option(CLI::App& command, std::vector<std::string>& folders) {
  auto* const own = command.add_option(
      "--own", folders,
      "FOLDER: code under it is the program's own. May be given several times. Default: all but "
      "the standard library and installed packages");
  own->expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  complete_with(own, {.words = {}, .is_file = true});
}

void add_filter_options(CLI::App& command, filter_options& options) {
  command
      .add_option(
          "--filter-nvtx", options.nvtx,
          "RANGE[@DOMAIN][/INDEX], or DOMAIN:RANGE as reports show it: only what was launched "
          "inside these NVTX ranges")
      ->check(not_empty);
  command
      .add_option("--filter-time", options.time,
                  "START/END: only what overlaps this time since the start of the capture (ns, "
                  "us, ms, s)")
      ->check(not_empty);
  command
      .add_option("--kernel", options.kernels,
                  "NAME or regex:EXPRESSION: of GPU work only these kernels, by full or base "
                  "name. May be given several times")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option("--device", options.device, "N: of GPU work only this GPU's, as CUDA counts them")
      ->check(CLI::Range(0, 65535));
  command.add_option(
      "--stream", options.stream,
      "N: of GPU work only that of streams of this number, as cuda_gpu_trace shows it");
}

std::string filters_line(filter_options const& options) {
  std::vector<std::string> given;
  auto const add = [&](std::string const& option, std::string const& value) {
    given.push_back(option + " " + value);
  };
  if (!options.nvtx.empty()) add("--filter-nvtx", options.nvtx);
  if (!options.time.empty()) add("--filter-time", options.time);
  for (auto const& kernel : options.kernels) add("--kernel", kernel);
  if (options.device) add("--device", std::to_string(*options.device));
  if (options.stream) add("--stream", std::to_string(*options.stream));
  std::string line;
  for (auto const& filter : given) line += (line.empty() ? "only: " : ", ") + filter;
  return line;
}

std::optional<filter_failure> narrow(selection& wanted, filter_options const& options,
                                     trace_contents& trace, std::string const& path,
                                     range_scope scope) {
  if (!options.time.empty()) {
    auto const stretch = parse_time_stretch(options.time, trace.origin());
    if (!stretch) return filter_failure{stretch.message(), true};
    wanted.only(*stretch);
  }
  if (options.stream) wanted.only(static_cast<stream_id>(*options.stream));
  if (options.device)
    if (auto failed = narrow_to_device(wanted, *options.device, trace, path)) return failed;
  if (!options.kernels.empty())
    if (auto failed = narrow_to_kernels(wanted, options.kernels, trace, path)) return failed;
  if (!options.nvtx.empty()) return narrow_to_ranges(wanted, options.nvtx, trace, path, scope);
  return {};
}

}  // namespace gpuprof::host::command
