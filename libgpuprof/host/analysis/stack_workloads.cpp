// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/stack_workloads.hpp"

namespace gpuprof::host {
namespace {

void add_share(std::map<std::uint32_t, launched_part>& to, launched_part const& part,
               double share) {
  auto& sum = to[part.workload];
  sum.workload = part.workload;
  sum.launches += part.launches * share;
  sum.ns += part.ns * share;
}

}  // namespace

std::uint32_t stack_workloads::place_of(thread_index thread, stack_id stack) {
  place const wanted{thread, stack};
  if (last_ < places_.size() && places_[last_] == wanted) return last_;
  auto const next = static_cast<std::uint32_t>(places_.size());
  auto const [at, is_new] = number_of_.try_emplace(wanted, next);
  if (is_new) places_.push_back(wanted);
  return last_ = at->second;
}

void stack_workloads::finish(launch_metrics const& metrics, workload_times const& times) {
  cells_.decide(metrics, times);
  struct launched {
    std::map<stack_id, double> by_stack;
    double all = 0;
  };
  std::map<std::pair<thread_index, std::uint32_t>, launched> alike;  // by thread and workload
  std::map<thread_index, launched> of_thread;
  auto const part_of = [&](workload_cells::cell const& cell) {
    return launched_part{cell.workload, static_cast<double>(cell.tally.launches),
                         times.time_of(cell.workload, cell.tally)};
  };
  for (auto const& cell : cells_.all()) {
    auto const& [thread, stack] = places_[cell.place];
    if (raw(stack) == 0) continue;
    auto const part = part_of(cell);
    add_share(of_stack_[stack], part, 1);
    for (auto* known : {&alike[{thread, cell.workload}], &of_thread[thread]}) {
      known->by_stack[stack] += part.launches;
      known->all += part.launches;
    }
  }
  for (auto const& cell : cells_.all()) {
    auto const& [thread, stack] = places_[cell.place];
    if (raw(stack) != 0) continue;
    auto const part = part_of(cell);
    auto const same = alike.find({thread, cell.workload});
    auto const any = of_thread.find(thread);
    if (any == of_thread.end() || !(any->second.all > 0)) {
      add_share(without_stack_[thread], part, 1);
      continue;
    }
    auto const& over = same != alike.end() && same->second.all > 0 ? same->second : any->second;
    for (auto const& [other, launches] : over.by_stack)
      add_share(of_stack_[other], part, launches / over.all);
  }
}

std::vector<launched_part> stack_workloads::launched_by(
    std::span<stack_id const> stacks, std::span<thread_index const> threads) const {
  parts sum;
  auto const add = [&](auto const& from, auto key) {
    auto const found = from.find(key);
    if (found == from.end()) return;
    for (auto const& [_, part] : found->second) add_share(sum, part, 1);
  };
  for (auto const stack : stacks) add(of_stack_, stack);
  for (auto const thread : threads) add(without_stack_, thread);
  std::vector<launched_part> all;
  for (auto const& [_, part] : sum) all.push_back(part);
  return all;
}

}  // namespace gpuprof::host
