// SPDX-License-Identifier: Apache-2.0
// Rules on launches that hold the GPU: sequences for a graph, tiny kernels, late starts.
#include "host/advice/rules/idle_sum.hpp"
#include "host/advice/rules/looks.hpp"
#include "host/advice/rules/measured_rates.hpp"
#include "host/advice/step_bound.hpp"
#include "host/advice/wording.hpp"
#include "model/kernel_name.hpp"

#include <algorithm>

namespace gpuprof::host::advice {
namespace {

constexpr std::size_t min_sequence = 5;
constexpr std::uint64_t min_repetitions = 10;
constexpr double min_idle_in_sequence = 0.1;
constexpr double min_launch_bound = 0.1;  // of the window
constexpr double late_start = 2;          // times the measured latency

std::string sequence_text(sequence_facts const& sequence) {
  auto text = in_count(static_cast<double>(sequence.length)) +
              (sequence.is_whole_step ? " launches are the same in each step"
                                      : " launches repeat in one order");
  if (sequence.kernels.empty()) return text;
  auto const base = [](std::string const& name) {
    return kernel_display_name(name, kernel_name_style::base);
  };
  text += " (" + base(sequence.kernels.front());
  if (sequence.kernels.size() > 1) text += ", " + base(sequence.kernels[1]);
  return text + (sequence.length > 2 ? ", ...)" : ")");
}

void look_at_sequence(run_facts const& facts, sequence_facts const& sequence,
                      std::vector<finding>& found) {
  auto const idle = sequence.run_ns - sequence.busy_ns;
  if (sequence.length < min_sequence || sequence.repetitions < min_repetitions ||
      sequence.has_waits || idle < min_idle_in_sequence * sequence.run_ns)
    return;
  auto const n = static_cast<double>(sequence.length * sequence.repetitions);
  auto const peak = measured(facts, "graph_node");
  auto const node = peak ? *peak * 1e9 : facts.run.back_to_back;
  // A graph may hold several repetitions, and it avoids what recording adds to each launch.
  auto const run = sequence.run_ns + sequence.between_ns, own = n * facts.own_ns_a_launch;
  auto const high = std::max(0.0, run - std::max(sequence.busy_ns, n * node) - own);
  finding one;
  one.what = sequence_text(sequence) + ", and the GPU idles between them";
  one.range = sequence.range;
  one.instances = sequence.repetitions;
  one.because = {{"idle inside", idle / sequence.run_ns * 100, "%", "traced"},
                 {"launches in a row", static_cast<double>(sequence.length), "", "traced"},
                 {"repetitions", static_cast<double>(sequence.repetitions), "", "traced"}};
  // The CPU's own work between launches is an unknown part of the idle time.
  one.gain = {0, high};
  // With its launches in a graph the thread gets ahead, and other gaps become shorter.
  one.within_ns = idle_of_gpus(facts);
  one.bucket = time_bucket::launch_bound;
  one.further_buckets = {time_bucket::back_to_back};
  one.repairs = {{.kind = replay::repair_kind::join_launches,
                  .within = sequence.range,
                  .at_best = peak ? node : 0}};
  one.to_do =
      "Capture the sequence once and launch it as a CUDA graph: torch.cuda.graphs, "
      "torch.compile(mode=\"reduce-overhead\"), one jax.jit around it, or "
      "cudaStreamBeginCapture. Inputs must keep their shapes and addresses.";
  one.arithmetic =
      "takes " + in_time(run) + ", busy for " + in_time(sequence.busy_ns) + "; " + in_count(n) +
      " graph nodes cost " + in_time(node) + " each (" +
      (peak ? "measured on this GPU" : "the pause between kernels: no peaks") + ")" +
      (facts.own_ns_a_launch > 0
           ? ", this profiler " + in_time(facts.own_ns_a_launch) + " a launch, which is taken off"
           : "");
  found.push_back(std::move(one));
}

/// Returns the kernel with the most launches among those shorter than the time between two
/// launches.
kernel_facts const* tiniest(run_facts const& facts) {
  kernel_facts const* chosen = nullptr;
  for (auto const& kernel : facts.kernels)
    if (kernel.launches > 0 &&
        kernel.total_ns < facts.run.launch_distance * static_cast<double>(kernel.launches) &&
        (chosen == nullptr || kernel.launches > chosen->launches))
      chosen = &kernel;
  return chosen;
}

double launches_of(run_facts const& facts) {
  double launches = 0;
  for (auto const& kernel : facts.kernels) launches += static_cast<double>(kernel.launches);
  return launches;
}

}  // namespace

void look_at_sequences(run_facts const& facts, std::vector<finding>& found) {
  for (auto const& sequence : facts.sequences) look_at_sequence(facts, sequence, found);
}

void look_at_tiny_kernels(run_facts const& facts, std::vector<finding>& found) {
  auto const& run = facts.run;
  auto const idle = idle_of(facts, [](auto const& gap) {
    return gap.cause == time_bucket::launch_bound && !gap.before_graph;
  });
  if (run.launch_distance <= run.kernel_length + run.back_to_back) return;
  if (share_of_window(facts, idle.idle_ns) < min_launch_bound) return;
  auto const bound = bound_of(facts);
  auto const half = (bound.items > 0 ? bound.items : launches_of(facts)) / 2;
  auto const own = std::min(facts.own_ns_a_launch, run.launch_distance);
  auto const freed = half * (run.launch_distance - own);
  finding one;
  one.range = majority(idle.by_range);
  one.instances = idle.count;
  one.gain = bound.gain(idle.idle_ns, 0, {.host_ns = freed, .items = half});
  one.within_ns = idle.idle_ns;
  one.bucket = time_bucket::launch_bound;
  one.yields_to = every_other_rule;
  one.repairs = {{.kind = replay::repair_kind::fuse_pairs, .sure = 1, .at_best = 1}};
  one.condition = "every second launch can be joined with the one before it";
  one.what = "kernels are shorter than the time to launch them: the GPU waits for the CPU";
  if (auto const* const tiny = tiniest(facts)) {
    one.because.push_back(
        {"launches of " + tiny->name, static_cast<double>(tiny->launches), "", "traced"});
  }
  one.because.insert(one.because.begin(),
                     {{"from launch to launch", run.launch_distance, "ns", "traced"},
                      {"median kernel", run.kernel_length, "ns", "traced"}});
  one.to_do =
      "Launch fewer, longer kernels: fuse elementwise operations (torch.compile, jax.jit), "
      "use foreach or fused optimizers (fused=True), a greater batch.";
  one.arithmetic = "the GPU waits " + in_time(idle.idle_ns) + " for launches; half of the " +
                   in_count(2 * half) + " launches would free the thread for " + in_time(freed) +
                   (own > 0 ? ", without the " + in_time(own) + " that this profiler adds" : "");
  found.push_back(std::move(one));
}

void look_at_launch_delay(run_facts const& facts, std::vector<finding>& found) {
  auto const peak = measured(facts, "launch_latency");
  if (!peak || !facts.run.delay_is_measured) return;
  auto const normal = *peak * 1e9, delay = facts.run.start_delay;
  if (delay < late_start * normal) return;
  auto const idle = idle_of(facts, [](auto const& gap) {
    return is_idle(gap.cause) && gap.cause != time_bucket::back_to_back &&
           gap.cause != time_bucket::dependency;
  });
  if (!idle.any()) return;
  finding one;
  one.what = "work starts " + in_time(delay) +
             " after its launch at the earliest, this machine "
             "can do it in " +
             in_time(normal);
  one.range = majority(idle.by_range);
  one.instances = idle.count;
  one.because = {{"fastest starts", delay, "ns", "traced"},
                 {"launch latency", normal, "ns", "measured peak"},
                 {"gaps", static_cast<double>(idle.count), "", "traced"}};
  one.gain = {0, std::min(idle.idle_ns, static_cast<double>(idle.count) * (delay - normal))};
  one.repairs = {{.kind = replay::repair_kind::latency, .sure = normal, .at_best = normal}};
  one.condition = "the delay is of the CPU, and not of this GPU";
  one.bucket = time_bucket::launch_bound;
  one.further_buckets = {time_bucket::synchronization, time_bucket::cpu_work,
                         time_bucket::host_unknown};
  one.to_do =
      "Look for what delays the CPU: other processes on its cores, power saving (set the "
      "governor to performance), a debugger or a second profiler, CUDA_LAUNCH_BLOCKING=1, "
      "many processes on one GPU without MPS.";
  one.arithmetic = in_count(static_cast<double>(idle.count)) + " gaps x (" + in_time(delay) +
                   " - " + in_time(normal) + ")";
  found.push_back(std::move(one));
}

}  // namespace gpuprof::host::advice
