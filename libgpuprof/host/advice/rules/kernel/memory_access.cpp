// SPDX-License-Identifier: Apache-2.0
// Rules on bytes that kernels move without need: unused parts of sectors, spills, remote memory.
#include "host/advice/rules/kernel/kernel_view.hpp"
#include "host/advice/wording.hpp"

#include <algorithm>

namespace gpuprof::host::advice {
namespace {

constexpr double poor_sector_use = 0.75;
constexpr double many_sectors = 16;        // per load of a warp; 16-byte accesses need this many
constexpr double busy_memory = 0.4;        // of L1, L2 or DRAM
constexpr double noticeable_remote = 0.2;  // of the kernel's time
constexpr double bytes_of_sector = 32;

/// The share of fetched bytes that was asked for, and the evidence for it.
struct used_bytes {
  double share = 1;
  evidence because;
};

std::optional<used_bytes> poorly_used(derived_metrics const& seen) {
  if (seen.sector_use) {
    if (*seen.sector_use >= poor_sector_use) return std::nullopt;
    return used_bytes{
        *seen.sector_use,
        {"bytes used of each 32-byte sector", *seen.sector_use * bytes_of_sector, "B", "counted"}};
  }
  if (!seen.sectors_per_load || *seen.sectors_per_load <= many_sectors) return std::nullopt;
  return used_bytes{many_sectors / *seen.sectors_per_load,
                    {"sectors of a warp's load", *seen.sectors_per_load, "", "counted"}};
}

/// The highest load that unused bytes put on a memory level: its use times the share of accesses
/// that reach it.
double held_up(kernel_view const& view) {
  auto const l1_miss = view.seen.l1_miss.value_or(1), l2_miss = view.seen.l2_miss.value_or(1);
  return std::max({view.seen.l1_share.value_or(0), l1_miss * view.share_of(l2_roof),
                   l1_miss * l2_miss * view.share_of(dram_roof)});
}

std::string source_of_memory(kernel_view const& view) {
  if (view.seen.l1_share.value_or(0) > view.memory_share()) return "counted";
  return view.source_of_share(view.share_of(l2_roof) > view.share_of(dram_roof) ? l2_roof
                                                                                : dram_roof);
}

struct remote {
  char const* metric;
  char const* test;
  char const* where;
};
constexpr remote remotes[] = {
    {"lts__t_sectors_srcunit_tex_aperture_sysmem.sum", "h2d", "the host's memory"},
    {"lts__t_sectors_srcunit_tex_aperture_peer.sum", "p2p", "another GPU's memory"}};

void look_at_remote(kernel_view const& view, remote const& of, std::vector<finding>& found) {
  auto const sectors = view.kernel.metric(of.metric);
  auto const link = view.peak(of.test), dram = view.peak("dram_read");
  if (!sectors || !link || !dram) return;
  auto const bytes = *sectors * bytes_of_sector;
  auto const over_link = bytes / *link * 1e9;  // of one launch
  if (over_link < noticeable_remote * view.mean_ns()) return;
  auto const saved = std::min(over_link, view.mean_ns()) - bytes / *dram * 1e9;
  if (saved <= 0) return;
  auto one = finding_on(view, "remote_memory", kernel_claim::other_work,
                        "reads or writes " + std::string(of.where) + " over a link");
  one.because = {{"over the link, of a launch", bytes, "B", "counted"},
                 {"rate of the link", *link, "B/s", "measured peak"}};
  one.gain = founded(saved * static_cast<double>(view.kernel.launches));
  one.arithmetic =
      "launches x (bytes / link - bytes / DRAM) = " + std::to_string(view.kernel.launches) +
      " x (" + in_time(over_link) + " - " + in_time(bytes / *dram * 1e9) + "); low: half of it";
  one.to_do =
      "Copy what is used more than once to this GPU first (cudaMemcpyAsync, "
      "cudaMemPrefetchAsync), in large pieces beside other work.";
  found.push_back(std::move(one));
}

}  // namespace

void look_at_coalescing(kernel_view const& view, std::vector<finding>& found) {
  auto const used = poorly_used(view.seen);
  auto const memory = std::max(view.memory_share(), view.seen.l1_share.value_or(0));
  if (!used || memory < busy_memory) return;
  auto const unused = 1 - used->share;
  auto const reach = std::max(view.seen.l1_share.value_or(0), view.seen.l1_miss.value_or(1));
  auto one = finding_on(view, "uncoalesced", kernel_claim::other_work,
                        "uses " + in_percent(used->share) +
                            " of the bytes that its loads and stores of global memory move");
  one.because = {used->because,
                 {"of the busiest level of memory", memory, "", source_of_memory(view)}};
  if (view.seen.sector_use && view.seen.sectors_per_load)
    one.because.push_back({"sectors of a warp's load", *view.seen.sectors_per_load, "", "counted"});
  auto const low = unused * held_up(view) / 2;
  one.gain = {std::min(low, unused * reach) * view.time(), unused * reach * view.time()};
  one.arithmetic = "high: time x unused bytes x what of them leaves L1 = " + in_time(view.time()) +
                   " x " + as_figure(unused) + " x " + as_figure(reach) +
                   "; low: half of time x unused x use of the level they hold up";
  one.to_do =
      "Let neighboring threads of a warp touch neighboring addresses: swap the loops or "
      "the layout (structure of arrays), or transpose through shared memory.";
  found.push_back(std::move(one));
}

void look_at_local_memory(kernel_view const& view, std::vector<finding>& found) {
  auto const bytes = view.kernel.shape.local_bytes_per_thread;
  auto const memory = view.memory_share();
  if (bytes == 0 || memory < busy_memory) return;
  auto one = finding_on(view, "local_memory", kernel_claim::other_work,
                        "keeps " + std::to_string(bytes) +
                            " bytes of each thread in local memory: spilled registers or arrays");
  one.because = {{"local memory of a thread", static_cast<double>(bytes), "B", "traced"},
                 {"registers of a thread",
                  static_cast<double>(view.kernel.shape.registers_per_thread), "", "traced"},
                 {"of the L2 or DRAM roof", memory, "", source_of_memory(view)}};
  if (view.seen.other_sectors) {
    one.because.push_back(
        {"sectors of L1 that are no global access", *view.seen.other_sectors, "", "counted"});
    one.gain = possible(view.time() * *view.seen.other_sectors * memory);
    one.arithmetic = "high: time x sectors of L1 that are no global access x use of L2 or DRAM = " +
                     in_time(view.time()) + " x " + as_figure(*view.seen.other_sectors) + " x " +
                     as_figure(memory) + "; low: 0, for textures and atomics are among them";
    if (one.gain.high_ns <= 0) return;
  } else {
    one.level = severity::info;
    one.claim = kernel_claim::none;
    one.arithmetic = "no gain is claimed: its traffic was not counted (--set explain counts it)";
  }
  one.to_do =
      "Allow more registers (__launch_bounds__, -maxrregcount), index arrays of a thread by "
      "constants alone, or hold less at a time.";
  found.push_back(std::move(one));
}

void look_at_remote_memory(kernel_view const& view, std::vector<finding>& found) {
  for (auto const& of : remotes) look_at_remote(view, of, found);
}

}  // namespace gpuprof::host::advice
