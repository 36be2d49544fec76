// SPDX-License-Identifier: Apache-2.0
// Rules on work that may not be needed at all: moves, additions by atomics, copies to the host,
// masks, sorts.
#include "host/advice/rules/group/group_finding.hpp"
#include "host/advice/wording.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace gpuprof::host::advice {
namespace {

struct move_advice {
  std::string_view does, rule, to_do, condition;
};

constexpr std::string_view one_hot = "looks rows up by one-hot products";

constexpr std::string_view told_by_code = "moves data";

constexpr move_advice moves[] = {
    {"changes the layout of tensors", "layout_conversion",
     "Keep one layout: channels_last for convolutions; products take transposed views, without "
     ".contiguous().",
     "what reads them takes the other layout"},
    {"converts types", "repeated_cast",
     "Convert once, where the tensor is kept: weights in the type that computes "
     "(model.bfloat16()), inputs when they are loaded.",
     "the tensors can be kept in that type"},
    {"concatenates tensors", "data_movement",
     "Allocate once at full size and write into views (a static cache), or hand over the list.",
     "they can lie side by side from the start"},
    {one_hot, "data_movement", "Look rows up with F.embedding, or by indexing.",
     "nothing else needs the one-hot rows"},
    {"gathers elements", "data_movement",
     "Indices of neighbors are a slice, which is a view; a mask can be a weight, ignore_index or "
     "torch.where.",
     "a view or a weight can take their place"},
    {"scatters elements", "data_movement",
     "Sort or group once where the indices stay the same; use slices.",
     "they can be in order before"},
    {"fills tensors", "data_movement",
     "Allocate without filling (torch.empty) where all is written, and set gradients to None.",
     "nothing reads the filled values"},
    {told_by_code, "data_movement",
     "Let the kernel before write where the next one reads, or the next one read it from there.",
     "nothing needs the moves"},
    {"copies tensors", "data_movement", "Use views, operations in place, or out= arguments.",
     "nothing needs the copies"},
};

std::string joined(std::vector<std::string> const& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

void look_at_moves(run_facts const& facts, std::string_view rule, std::vector<finding>& found) {
  for (auto const& group : facts.groups) {
    if (group.pattern != group_pattern::moves || group.does.empty()) continue;
    auto const named = [](std::string_view does) {
      return std::find_if(std::begin(moves), std::end(moves),
                          [&](auto const& one) { return one.does == does; });
    };
    auto const of = named(group.does.front());
    if (of == std::end(moves) || of->rule != rule) continue;
    auto const often = how_often(facts, static_cast<double>(group.launches));
    auto one = finding_on(
        facts, without_remainder(group),
        group.does.front() == told_by_code
            ? "kernels without arithmetic on floats run, " + often + ": they move data"
            : "the GPU " + joined(group.does) + ", " + often + ", and computes nothing there");
    if (group.last_ns > 0)
      one.what += "; that grows from " + in_time(group.first_ns) + " to " + in_time(group.last_ns) +
                  " within a step";
    auto const has_one_hot =
        std::find(group.does.begin(), group.does.end(), one_hot) != group.does.end();
    one.to_do = (has_one_hot ? named(one_hot) : of)->to_do;
    one.condition = (has_one_hot ? named(one_hot) : of)->condition;
    one.within_ns = time_of_launches(facts, group);
    one.arithmetic = "all of their time";
    found.push_back(std::move(one));
  }
}

}  // namespace

void look_at_layouts(run_facts const& facts, std::vector<finding>& found) {
  look_at_moves(facts, "layout_conversion", found);
}

void look_at_casts(run_facts const& facts, std::vector<finding>& found) {
  look_at_moves(facts, "repeated_cast", found);
}

void look_at_other_moves(run_facts const& facts, std::vector<finding>& found) {
  look_at_moves(facts, "data_movement", found);
}

void look_at_atomics(run_facts const& facts, std::vector<finding>& found) {
  at_groups(facts, group_pattern::atomics, found, [&](work_group const& group) {
    auto one =
        finding_on(facts, without_remainder(group),
                   "atomic additions, " + how_often(facts, static_cast<double>(group.launches)) +
                       ": those to one address wait for each other");
    one.to_do =
        "Where many values go to few sums, add them up first: one masked sum for each group, "
        "bincount, a product with a one-hot matrix, or a sort and a segmented sum.";
    one.condition = "most of them go to few addresses";
    one.arithmetic = "all of their time: how many of them collide was not counted";
    one.changes_results = true;
    return one;
  });
}

void look_at_copies_to_host(run_facts const& facts, std::vector<finding>& found) {
  at_groups(facts, group_pattern::to_host, found, [&](work_group const& group) {
    auto one =
        finding_on(facts, without_remainder(group),
                   facts.are_stretches
                       ? in_data(steps_per_recorded(facts) * group.bytes) + " go to the host"
                       : in_data(per_step(facts, group.bytes)) + " go to the host in each step");
    one.repairs.front().kind = replay::repair_kind::drop_and_use;
    one.bucket = time_bucket::transfer;
    one.condition = "the GPU can compute what the host makes of it";
    one.further_buckets = {time_bucket::cpu_work, time_bucket::synchronization,
                           time_bucket::between_steps};
    one.to_do =
        "Compute it on the GPU (argmax, topk, sum, comparisons) and copy the small result; else "
        "copy to pinned memory with non_blocking=True and use it a step later.";
    one.arithmetic = "the copies and the CPU work behind them go";
    return one;
  });
}

void look_at_masks(run_facts const& facts, std::vector<finding>& found) {
  // One finding: the backward pass selects again what the forward pass selected, at another line.
  std::optional<work_group> all;
  auto const add = [&](work_group const& other) {
    all->total_ns += other.total_ns;
    for (std::size_t i = 0; i < all->all.size(); ++i)
      if (other.all[i]) all->all[i] = true;
  };
  std::set<std::string_view> lines;
  for (auto const& group : facts.groups) {
    if (group.pattern != group_pattern::mask) continue;
    lines.insert(group.line);
    if (!all) {
      all = group;
      continue;
    }
    all->launches += group.launches;
    all->instances += group.instances;
    add(group);
  }
  if (!all) return;
  for (auto const& group : facts.groups)
    if ((group.pattern == group_pattern::moves && !group.line.empty() &&
         lines.contains(group.line)) ||
        (group.pattern == group_pattern::atomics && !group.kernels.empty() &&
         group.kernels.front().find("indexing_backward") != std::string::npos))
      add(group);
  auto one = finding_on(facts, without_remainder(*std::move(all)),
                        "elements are selected by a mask or nonzero: the program waits for their "
                        "number, and they are copied");
  one.to_do =
      "Keep all elements and give those outside of the mask no weight: ignore_index, "
      "torch.where, a product with the mask.";
  one.condition = "weights can take the place of the selection";
  one.arithmetic =
      "the selection goes, with the copies of its line and the additions of their "
      "gradients";
  found.push_back(std::move(one));
}

void look_at_padding(run_facts const& facts, std::vector<finding>& found) {
  at_groups(facts, group_pattern::padded, found, [&](work_group const& group) {
    auto const share = group.bytes / group.padded_bytes;
    auto one = finding_on(facts, group,
                          "sequences are padded to the longest of their batch: they fill " +
                              in_percent(share) + " of the padded tensor");
    one.repairs = {
        {.kind = replay::repair_kind::scale, .sure = share, .at_best = share, .items = group.all}};
    one.to_do =
        "Batch sequences of similar lengths, or pack them: torch.cat with their lengths "
        "(nested tensors, flash attention of variable length).";
    one.condition = "all behind it in the step works on padded sequences";
    one.arithmetic = "all behind it in the step takes that share of its time";
    return one;
  });
}

void look_at_sorts(run_facts const& facts, std::vector<finding>& found) {
  for (auto const& group : facts.groups) {
    if (group.pattern != group_pattern::sort) continue;
    auto one = finding_on(facts, without_remainder(group),
                          facts.are_stretches ? "the GPU sorts" : "the GPU sorts in each step");
    one.to_do =
        "Use topk or kthvalue if only the best values are needed, argmax for one; sort by a key "
        "of fewer bits; sort once where the order stays.";
    one.condition = "only the best values are needed";
    one.arithmetic = "all of their time";
    found.push_back(std::move(one));
  }
}

}  // namespace gpuprof::host::advice
