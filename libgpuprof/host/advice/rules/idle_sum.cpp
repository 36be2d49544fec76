// SPDX-License-Identifier: Apache-2.0
#include "host/advice/rules/idle_sum.hpp"

#include "host/advice/wording.hpp"

namespace gpuprof::host::advice {

double idle_of_gpus(run_facts const& facts) {
  double ns = 0;
  for (auto const& device : facts.devices) ns += device.ledger.idle();
  return ns;
}

std::string majority(std::map<std::string, double> const& times) {
  double all = 0;
  for (auto const& [name, ns] : times) all += ns;
  for (auto const& [name, ns] : times)
    if (2 * ns > all) return name;
  return {};
}

steady_calls calls_of(run_facts const& facts, call_kind kind) {
  steady_calls sum;
  for (auto const& call : facts.calls) {
    if (call.kind != kind || call.after_warm_up == 0) continue;
    sum.count += call.after_warm_up;
    sum.total_ns += call.after_warm_up_ns;
    sum.by_name[call.name] += call.after_warm_up_ns;
    sum.by_range[call.range] += call.after_warm_up_ns;
  }
  return sum;
}

stated_repair repair_without(steady_calls const& calls) {
  stated_repair repair;
  repair.kind = replay::repair_kind::drop_calls;
  for (auto const& [name, ns] : calls.by_name) repair.names.push_back(name);
  return repair;
}

finding behind_calls(steady_calls const& calls, idle_sum const& idle, time_bucket bucket) {
  finding one;
  one.range = majority(idle.by_range);
  one.call = majority(calls.by_name);
  one.instances = calls.count;
  one.bucket = bucket;
  one.because = {{"idle behind them", idle.idle_ns, "ns", "traced"},
                 {"time in the calls", calls.total_ns, "ns", "traced"},
                 {"calls after warm-up", static_cast<double>(calls.count), "", "traced"}};
  one.arithmetic = "the GPU idles " + in_time(idle.idle_ns) + " behind " +
                   in_count(static_cast<double>(calls.count)) + " calls that take " +
                   in_time(calls.total_ns);
  return one;
}

}  // namespace gpuprof::host::advice
