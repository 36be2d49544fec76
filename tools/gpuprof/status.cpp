// SPDX-License-Identifier: Apache-2.0
// gpuprof status: says what works on this machine, one line each, with a fix if it does not.
#include "status_checks.hpp"
#include "subcommands.hpp"
#include "terminal.hpp"
#include "text/padding.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <unistd.h>

namespace gpuprof::host::command {
namespace {

char const* word_for(check_state state) {
  switch (state) {
    case check_state::ok:
      return "ok";
    case check_state::limited:
      return "limited";
    case check_state::missing:
      return "missing";
    case check_state::unknown:
      break;
  }
  return "unknown";
}

/// Kernels can be recorded if all of these work.
bool can_trace(std::vector<check> const& checks) {
  return std::all_of(checks.begin(), checks.end(), [](check const& c) {
    bool const needed = c.name == "libgpuprof" || c.name == "driver" || c.name == "gpus" ||
                        c.name == "cupti" || c.name == "subscriber";
    return !needed || c.state == check_state::ok || c.state == check_state::limited;
  });
}

constexpr std::size_t behind_name = 13, behind_state = 22;

void print_text(std::vector<check> const& checks) {
  for (auto const& c : checks) {
    char begin[64];
    std::snprintf(begin, sizeof begin, "%-12s %-8s ", c.name.c_str(), word_for(c.state));
    auto const text = begin + c.text + (c.fix.empty() ? "" : ". " + c.fix);
    std::puts(text::wrapped(text, page_of(stdout, false).width, behind_state).c_str());
  }
  std::string const kernels =
      can_trace(checks) ? "can be traced here"
                        : "cannot be traced here, see above. gpuprof demo plays a recorded session";
  std::puts(
      text::wrapped("kernels      " + kernels, page_of(stdout, false).width, behind_name).c_str());
}

void print_json(std::vector<check> const& checks) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (auto const& c : checks) {
    list.push_back(
        {{"name", c.name}, {"state", word_for(c.state)}, {"text", c.text}, {"fix", c.fix}});
  }
  nlohmann::ordered_json const all{{"can_trace", can_trace(checks)}, {"checks", list}};
  auto const replace = nlohmann::ordered_json::error_handler_t::replace;  // paths may be any bytes
  std::printf("%s\n", all.dump(2, ' ', false, replace).c_str());
}

}  // namespace

void add_status(CLI::App& app, int& exit_code) {
  auto const as_json = std::make_shared<bool>(false);
  auto* const command =
      app.add_subcommand("status", "Say what works on this machine, and how to fix what does not");
  command->add_flag("--json", *as_json, "Print one JSON object");
  command->footer("Exit status: 0 when kernels can be traced here, else 1.");
  command->callback([as_json, &exit_code] {
    auto checks = gpu_checks();
    for (auto& c : system_checks("", environ)) checks.push_back(std::move(c));
    *as_json ? print_json(checks) : print_text(checks);
    exit_code = can_trace(checks) ? 0 : 1;
  });
}

}  // namespace gpuprof::host::command
