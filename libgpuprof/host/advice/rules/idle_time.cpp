// SPDX-License-Identifier: Apache-2.0
// Rules on idle time behind data loading and graph building, and on other idle time.
#include "host/advice/rules/idle_sum.hpp"
#include "host/advice/rules/looks.hpp"
#include "host/advice/rules/measured_rates.hpp"
#include "host/advice/step_bound.hpp"
#include "host/advice/wording.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace gpuprof::host::advice {
namespace {

constexpr double long_load_ns = 1e6;
constexpr double min_idle_share = 0.02;
constexpr double share_that_may_stay = 0.5;  // of CPU work that moves elsewhere

/// The advice for a cause that no other rule handles.
struct advice_on_idle {
  time_bucket cause;
  std::string_view what, to_do;
};
constexpr std::array<advice_on_idle, 4> words = {{
    {time_bucket::cpu_work, "the GPU idles while the CPU does something else than CUDA calls",
     "Mark the parts of the step with NVTX ranges to see which it is. Then move it to another "
     "thread or process, do it while the GPU is busy, or do it less often (logging, metrics, "
     "checkpoints, tokenizing)."},
    {time_bucket::host_unknown, "the GPU idles for the host, of which no calls were recorded",
     "Record the calls (--trace cuda-api) and mark the parts of a step with NVTX ranges: then this "
     "time gets a cause."},
    {time_bucket::dependency, "queued work waits for an event, another stream or another GPU",
     "Look in a timeline (gpuprof export) at what ended just before: record the event earlier, "
     "wait for it later, or put independent work in front of the wait."},
    {time_bucket::between_steps, "the GPU idles between two steps",
     "Look at what the loop does there: fetching the next batch (DataLoader num_workers, "
     "prefetch), logging, evaluating, saving. Mark it with an NVTX range; let the next step be "
     "launched before the result of the last one is read."},
}};

/// What a finding says if its idle time was mostly seen to be this.
struct seen_cause {
  std::string_view what, to_do;
};

constexpr seen_cause loading_in_program{
    "the GPU idles while the program itself loads data",
    "The loader computes on the thread that launches. Give it processes of its own "
    "(DataLoader(num_workers=4, persistent_workers=True)), or do less for each sample."};
constexpr seen_cause loading_elsewhere{
    "the GPU idles while the program waits for its data loader",
    "The processes that load are too slow: more of them (num_workers), less work for each sample, "
    "samples prepared beforehand, or decoding on the GPU."};

constexpr seen_cause running_modules{
    "the GPU idles while PyTorch's modules run Python",
    "Their Python takes longer than their kernels. torch.compile(mode=\"reduce-overhead\") or CUDA "
    "graphs leave it out (generation: with a static cache), a greater batch spreads it."};

seen_cause words_for(idle_look const& look) {
  if (look.loads_data)
    return look.cause == idle_cause::running || look.cause == idle_cause::no_core
               ? loading_in_program
               : loading_elsewhere;
  switch (look.cause) {
    case idle_cause::running:
      if (look.in_module > look.looks / 2) return running_modules;
      return look.has_python
                 ? seen_cause{"the GPU idles while the program computes in Python",
                              "Do what this line does in another thread or process, while the GPU "
                              "is busy, less often (logging, metrics, checkpoints), or on the GPU."}
                 : seen_cause{"the GPU idles while the program computes outside of Python",
                              "Mark the parts of the step with NVTX ranges to see which it is, "
                              "then do it while the GPU is busy, or less often."};
    case idle_cause::gil:
      return {"the GPU idles while its launching thread waits for Python's GIL",
              "Another thread runs Python meanwhile. Move its work to a process "
              "(multiprocessing), or into code that releases the GIL."};
    case idle_cause::no_core:
      return {"the GPU idles while its launching thread finds no free core",
              "Give the program more cores (taskset, the container's limit, --cpus-per-task), or "
              "start fewer threads and processes (OMP_NUM_THREADS, num_workers)."};
    case idle_cause::sleeping:
      return {"the GPU idles while its launching thread sleeps",
              "Wait for the event itself instead of sleeping, or sleep while the GPU is busy."};
    case idle_cause::input:
      return {"the GPU idles while its launching thread waits for a socket or a pipe",
              "Ask for the next input before this one is used up, in another thread."};
    case idle_cause::file:
      return {"the GPU idles while its launching thread reads or writes a file",
              "Read ahead in another thread or process, keep the data in memory, write "
              "checkpoints in the background."};
    case idle_cause::lock:
      return {"the GPU idles while its launching thread waits for another thread",
              "Look at what the other thread does meanwhile; let it work ahead with a queue."};
    default:
      return {};
  }
}

/// What to do about child processes that mostly do this.
std::string_view words_for_children(idle_cause cause) {
  switch (cause) {
    case idle_cause::running:
      return "compute: more of them (num_workers), less work for each sample, samples prepared "
             "beforehand, or decoding on the GPU.";
    case idle_cause::no_core:
      return "find no free core: give the program more cores (taskset, the container's limit, "
             "--cpus-per-task), or start fewer threads in each.";
    case idle_cause::file:
      return "wait for files: more of them (num_workers, prefetch_factor), fewer and larger files, "
             "or data in memory.";
    case idle_cause::gil:
    case idle_cause::lock:
    case idle_cause::input:
      return "wait themselves. If it is for work, the time goes into handing it over: larger "
             "pieces, tensors instead of many small objects.";
    default:
      return {};
  }
}

/// What child processes did while the launching thread waited. `place`: where it is said.
void say_what_children_did(run_facts const& facts, finding& one,
                           std::vector<evidence>::iterator place) {
  constexpr double fewest_looks = 10, worth_a_line = 0.1, most_of_it = 0.5;
  double all = 0;
  std::map<idle_cause, double> by_cause;
  for (auto const& look : facts.looks_at_children)
    if (look.bucket == one.bucket) {
      all += look.looks;
      by_cause[look.cause] += look.looks;
    }
  if (all < fewest_looks) return;
  std::string where;
  for (auto const& look : facts.looks_at_children) {
    auto const share = look.looks / all;
    if (look.bucket != one.bucket || share < worth_a_line) continue;
    auto name = "its child processes: " + look.words;
    if (!look.where.empty()) name += " at " + look.where;
    if (where.empty() && by_cause[look.cause] >= most_of_it * all) where = look.where;
    place = one.because.insert(place, {name, 100 * share, "% of their time", "sampled",
                                       100 * std::sqrt(share * (1 - share) / all)});
    ++place;
  }
  auto const most =
      std::ranges::max_element(by_cause, {}, [](auto const& of) { return of.second; });
  auto const advice = words_for_children(most->first);
  if (most->second < most_of_it * all || advice.empty()) return;
  one.to_do = "The child processes (" + in_count(static_cast<double>(facts.children)) + ") ";
  one.to_do += advice;
  if (!where.empty()) one.line = where + " in a child process";
}

/// Says what the launching thread was seen to do in this idle time, if it was seen often enough.
void say_what_was_seen(run_facts const& facts, finding& one) {
  constexpr double fewest_looks = 10, worth_a_line = 0.1, most_of_it = 0.5, nearly_all = 0.9;
  double all = 0;
  std::map<std::string_view, double> by_title;
  std::vector<idle_look const*> looks;  // most first
  for (auto const& look : facts.looks) {
    if (look.bucket != one.bucket) continue;
    all += look.looks;
    by_title[words_for(look).what] += look.looks;
    looks.push_back(&look);
  }
  if (all < fewest_looks) return;
  auto place = one.because.begin() + 1;  // behind the idle time
  for (auto const* const look : looks) {
    auto const share = look->looks / all;
    if (share < worth_a_line) break;
    auto name = look->words;
    if (!look->where.empty()) name += " at " + look->where;
    if (!look->held_by.empty()) name += ", held by " + look->held_by;
    place = one.because.insert(place, {name, 100 * share, "% of it", "sampled",
                                       100 * std::sqrt(share * (1 - share) / all)});
    ++place;
  }
  auto const& first = *looks.front();
  auto const title = words_for(first);
  if (!first.where.empty())
    one.line = first.where + (first.looks < nearly_all * all
                                  ? " (" + in_count(100 * first.looks / all) + " % of it)"
                                  : std::string());
  if (title.what.empty() || by_title[title.what] < most_of_it * all) return;
  one.what = title.what;
  one.to_do = title.to_do;
  auto const waits_for_others = first.cause == idle_cause::input ||
                                first.cause == idle_cause::lock || first.cause == idle_cause::child;
  if (waits_for_others) say_what_children_did(facts, one, place);
}

void look_at_cause(run_facts const& facts, advice_on_idle const& of, std::vector<finding>& found) {
  std::map<std::string, idle_sum> by_range;
  for (auto const& gap : facts.gaps)
    if (gap.cause == of.cause) by_range[gap.range].add(gap);
  auto const bound = bound_of(facts);
  // Time between steps does not count as time that the thread needs in them.
  auto const frees_thread = of.cause == time_bucket::cpu_work;
  for (auto const& [range, idle] : by_range) {
    if (share_of_window(facts, idle.idle_ns) < min_idle_share) continue;
    finding one;
    one.what = of.what;
    one.range = range;
    one.instances = idle.count;
    one.bucket = of.cause;
    one.gain = bound.gain(idle.idle_ns, idle.sure_ns, {.host_ns = frees_thread ? idle.idle_ns : 0});
    one.within_ns = idle.idle_ns;
    one.removed_wait_ns = frees_thread ? 0 : one.gain.high_ns;
    if (frees_thread)  // shorter pauses between launches are launching itself
      one.repairs = {{.kind = replay::repair_kind::scale_long_cpu,
                      .within = range,
                      .sure = share_that_may_stay,
                      .limit_ns = facts.run.launch_distance > 0
                                      ? facts.run.longest_launching()
                                      : idle.idle_ns / static_cast<double>(idle.count) / 2}};
    if (of.cause == time_bucket::dependency) {
      // This is not replayed: waits between streams are not recorded, and what is inferred of them
      // explains only a part.
      one.condition = "the work needs nothing of what it waits for";
      one.gain.low_ns = 0;
    }
    if (of.cause == time_bucket::between_steps)
      one.repairs = {{.kind = replay::repair_kind::scale_between, .sure = share_that_may_stay}};
    one.because = {
        {"idle", 100 * share_of_window(facts, idle.idle_ns), "% of the window", "traced"},
        {"mean gap", idle.idle_ns / static_cast<double>(idle.count), "ns", "traced"}};
    one.to_do = of.to_do;
    one.arithmetic = in_count(static_cast<double>(idle.count)) + " gaps of " +
                     in_time(idle.idle_ns / static_cast<double>(idle.count)) +
                     "; a step can be no shorter than its GPU work and its launching thread";
    say_what_was_seen(facts, one);
    found.push_back(std::move(one));
  }
}

}  // namespace

void look_at_late_modules(run_facts const& facts, std::vector<finding>& found) {
  auto const calls = calls_of(facts, call_kind::load_module);
  if (calls.count == 0 || calls.total_ns < long_load_ns * static_cast<double>(calls.count)) return;
  auto const idle =
      idle_of(facts, [](auto const& gap) { return gap.cause == time_bucket::module_load; });
  auto one = behind_calls(calls, idle, time_bucket::module_load);
  one.what = "kernels are loaded " + in_times(calls.count) + " in the middle of the run";
  one.gain = {std::min({idle.sure_ns, calls.total_ns, idle.idle_ns}), idle.idle_ns};
  one.to_do =
      "Load them before the loop: run each shape and each branch once as warm-up, or set "
      "CUDA_MODULE_LOADING=EAGER. In steps that compile (torch.compile, jax.jit), avoid "
      "shapes that change.";
  found.push_back(std::move(one));
}

void look_at_graph_builds(run_facts const& facts, std::vector<finding>& found) {
  auto const calls = calls_of(facts, call_kind::build_graph);
  auto const idle =
      idle_of(facts, [](auto const& gap) { return gap.cause == time_bucket::graph_build; });
  if (calls.count == 0 || !idle.any()) return;
  auto one = behind_calls(calls, idle, time_bucket::graph_build);
  one.what = "CUDA graphs are built " + in_times(calls.count) + " after warm-up";
  one.gain = bound_of(facts).gain(idle.idle_ns, idle.sure_ns, {.host_ns = calls.total_ns});
  one.repairs = {repair_without(calls)};
  one.to_do =
      "Instantiate a graph once and launch it many times: keep one for each shape (pad "
      "sizes to a few), change its parameters with cudaGraphExecKernelNodeSetParams "
      "instead of building it anew, upload it with cudaGraphUpload beforehand.";
  found.push_back(std::move(one));
}

void look_at_other_idle_time(run_facts const& facts, std::vector<finding>& found) {
  for (auto const& of : words) look_at_cause(facts, of, found);
}

}  // namespace gpuprof::host::advice
