// SPDX-License-Identifier: Apache-2.0
#include "host/advice/bottleneck.hpp"

#include <cstdio>

namespace gpuprof::host::advice {
namespace {

bucket_times ledger_of(run_facts const& facts) {
  bucket_times sum;
  for (auto const& device : facts.devices) sum += device.ledger;
  return sum;
}

time_bucket greatest_of(bucket_times const& times) {
  auto greatest = time_bucket::compute;
  for (std::size_t i = 0; i < time_bucket_count; ++i)
    if (times[static_cast<time_bucket>(i)] > times[greatest])
      greatest = static_cast<time_bucket>(i);
  return greatest;
}

std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

}  // namespace

bottleneck bottleneck_of(run_facts const& facts) {
  auto const times = ledger_of(facts);
  bottleneck found;
  auto const all = times.total();
  if (all <= 0) {
    found.sentence = "No GPU did anything in the capture.";
    return found;
  }
  found.bucket = greatest_of(times);
  found.share = times[found.bucket] / all;
  auto const busy = times.busy() / all;
  found.launches_hold = times[time_bucket::launch_bound] > 0.1 * all;
  found.sentence = "The GPU is busy " + percent(busy) + " of the time";
  if (is_idle(found.bucket))
    found.sentence += (times.idle() > all / 2 ? "; most of the time it waits (" : "; it waits (") +
                      std::string(name_of(found.bucket)) + ", " + percent(found.share) +
                      "): " + std::string(meaning_of(found.bucket)) + ".";
  else if (found.launches_hold)
    found.sentence += ", and for " + percent(times[time_bucket::launch_bound] / all) +
                      " it waits for launches: the launching thread holds the program.";
  else
    found.sentence += ": " + std::string(name_of(found.bucket)) + " holds the program.";
  return found;
}

}  // namespace gpuprof::host::advice
