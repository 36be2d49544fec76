// SPDX-License-Identifier: Apache-2.0
// How long a call that launches a kernel takes, over many: what a profiler holds a launch up shows
// in the tail.
#include "patience.hpp"

#include <algorithm>

int launch_latency(std::vector<std::string> const& words) {
  double const seconds = words.size() > 1 ? std::atof(words[1].c_str()) : 5;
  ordinary_work work;
  for (int i = 0; i < 100; ++i) work.round();
  work.wait();
  std::vector<std::uint32_t> ns;
  ns.reserve(static_cast<std::size_t>(1e6 * std::max(seconds, 1.0)));
  auto const start = steady::now();
  while (seconds_since(start) < seconds && ns.size() + 256 <= ns.capacity()) {
    for (int i = 0; i < 256; ++i) {  // far fewer than the driver queues: no call waits for room
      auto const before = steady::now();
      work.launch();
      auto const took =
          std::chrono::duration_cast<std::chrono::nanoseconds>(steady::now() - before).count();
      ns.push_back(static_cast<std::uint32_t>(std::min<long long>(took, UINT32_MAX)));
    }
    work.wait();
  }
  std::sort(ns.begin(), ns.end());
  auto const at = [&](double share) {
    return std::uint64_t{ns[std::min(
        ns.size() - 1, static_cast<std::size_t>(share * static_cast<double>(ns.size())))]};
  };
  print("launches", static_cast<std::uint64_t>(ns.size()));
  print("p50_ns", at(0.5));
  print("p99_ns", at(0.99));
  print("p9999_ns", at(0.9999));
  print("max_ns", at(1));
  print("over_1ms",
        static_cast<std::uint64_t>(ns.end() - std::upper_bound(ns.begin(), ns.end(), 1'000'000u)));
  print("seconds", seconds_since(start));
  return 0;
}
