// SPDX-License-Identifier: Apache-2.0
// Programs that are right only if nothing waits for them on their threads, one a subcommand. Each
// prints "name value" lines, and "hung" with exit code 7 after 20 s, or
// GPU_PATIENCE_SECONDS; none knows the profiler.
#include "patience.hpp"

#include <functional>
#include <map>

int main(int count, char** values) {
  std::vector<std::string> words(values + 1, values + count);
  using program = std::function<int()>;
  std::map<std::string, program> const patient = {
      {"persistent", persistent},
      {"host-flag", host_flag},
      {"two-streams", two_streams},
      {"wait-value", wait_value},
      {"host-function", host_function},
      {"event-wait", event_wait},
      {"shared-gpu", [&] { return shared_gpu(words); }},
      {"captures", captures},
      {"destroy", destroy},
      {"endless-at-exit", [&] { return endless_at_exit(words); }}};
  if (!words.empty() && words[0] == "launch-latency") return launch_latency(words);
  if (words.empty() || patient.count(words[0]) == 0) {
    std::fprintf(stderr, "which program? one of: launch-latency");
    for (auto const& [name, run] : patient) std::fprintf(stderr, " %s", name.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  start_watchdog();
  return patient.at(words[0])();
}
