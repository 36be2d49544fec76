// SPDX-License-Identifier: Apache-2.0
// All that the program's threads and the worker's thread share where counters are read around
// launches: the gate, what is known of launches and contexts, and flags.
#pragma once

#include "base/process.hpp"
#include "guest/counters/device_turn.hpp"
#include "guest/counters/gpu_pauses.hpp"
#include "guest/counters/launches/context_readings.hpp"
#include "guest/counters/launches/context_streams.hpp"
#include "guest/counters/launches/idle_moments.hpp"
#include "guest/counters/launches/signatures/launch_signatures.hpp"
#include "guest/counters/launches/signatures/signature_lookup.hpp"
#include "guest/counters/launches/work_gate.hpp"
#include "guest/counters/sampling_budget.hpp"
#include "guest/counters/used_devices.hpp"
#include "guest/driver/cuda_driver.hpp"
#include "guest/metrics/availability_store.hpp"
#include "model/launch_remark.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::guest {

struct reading_options {
  bool every_launch = false;       // one pass around each launch, instead of each signature once
  std::vector<std::string> words;  // sets and metrics by name; empty: the set roofline
  /// Kernels (mangled) that are never read, because they wait for other launches.
  std::function<bool(char const*)> skips;
  /// Pause and resume kernel records: while kernels are recorded, metrics that CUPTI counts by
  /// rewriting kernels read 0. If pausing returns false, it is not possible now, and resuming is
  /// not needed.
  std::function<bool()> pause_kernel_records;
  std::function<void()> resume_kernel_records;
  signature_lookup::code_lookup code_of;
  availability_store const* stored = nullptr;  // null: CUPTI is asked each time
  device_turns* turns = nullptr;               // null: take no turns with other processes
  std::function<std::string(device_id)> uuid;
  /// Returns the path of this process's capture. The ranks of a job exchange what they have read in
  /// files beside it. Empty: nothing is shared.
  std::function<std::string()> shared_beside;
  std::uint32_t ranks = 1;          // of the job
  used_devices* devices = nullptr;  // null: used devices are not needed
  main_thread_end* at_end = nullptr;
  gpu_pauses* pauses = nullptr;  // null: nobody asks when the GPU stood still
  /// Called on the program's thread that destroys a context, after this reader has released it.
  /// Releases what else is set up on its GPU.
  std::function<void()> release_gpus;
};

/// Counts launches (unless noted) that were read or not read, by reason.
struct reading_counts {
  std::atomic<std::uint64_t> read{0};
  std::atomic<std::uint64_t> failed{0};         // CUPTI refused, or the launch failed
  std::atomic<std::uint64_t> disturbed{0};      // other work ran in between, or it took over 2 ms
  std::atomic<std::uint64_t> unrecorded{0};     // read without a kernel record of their own
  std::atomic<std::uint64_t> not_rewritten{0};  // CUPTI counted no instruction: nothing was read
  std::atomic<std::uint64_t> busy{0};           // the GPU was not idle in time
  std::atomic<std::uint64_t> abandoned{0};      // never came back from CUPTI
  std::atomic<std::uint64_t> cooperative{0};    // cooperative, or the call cannot be read
  std::atomic<std::uint64_t> by_name{0};        // on the skip list
  std::atomic<std::uint64_t> graphs{0};         // may hold such kernels, or change in place
  std::atomic<std::uint64_t> unknown{0};        // more signatures than the table holds
  std::atomic<std::uint64_t> not_idle{0};       // how often no idle moment was found
};

/// Threads of the program reach it through launch_passage, the worker through launch_reader. Each
/// member may be used by all of them at once, unless it says otherwise.
struct reading_state {
  static constexpr std::size_t max_contexts = 64;

  /// `halted` lives as long as it. Once that is set CUPTI is not called any more.
  reading_state(cupti_api const& cupti, cuda_driver const& cuda, reading_options asked,
                sampling_budget& allowed, std::atomic<bool> const& is_halted)
      : api(cupti),
        driver(cuda),
        options(std::move(asked)),
        budget(allowed),
        halted(is_halted),
        signatures(driver, options.skips, options.code_of),
        idle(gate, captures, halted, [this] { return is_interrupted(); }) {}

  bool must_not_switch() const noexcept { return captures.any() || endings.load() != 0; }
  bool is_interrupted() const noexcept {
    return must_not_switch() || !on.load() || halted.load() || process_is_exiting() ||
           to_be_released.load() != 0;
  }
  template <class P>
  bool any_context(P holds) const noexcept {
    for (auto const& entry : contexts) {
      auto const* const context = entry.load();
      if (context == nullptr) break;  // end of the list
      if (holds(*context)) return true;
    }
    return false;
  }
  bool holds_counters() const noexcept {
    return any_context([](auto const& context) { return context.holds_counters(); });
  }

  /// With every_launch: the GPU time of all kernels together. Kernels without a record yet count
  /// with the mean time of the others.
  std::uint64_t time_of_kernels() const noexcept {
    auto const all = kernel_ns.load(std::memory_order_relaxed);
    auto const recorded = kernels.load(std::memory_order_relaxed);
    auto const heard_of = launches.load(std::memory_order_relaxed);
    if (recorded == 0 || heard_of <= recorded) return all;
    return static_cast<std::uint64_t>(static_cast<double>(all) / static_cast<double>(recorded) *
                                      static_cast<double>(heard_of));
  }

  cupti_api const& api;
  cuda_driver const driver;
  reading_options const options;
  sampling_budget& budget;
  reading_counts counts;
  std::atomic<bool> const& halted;
  signature_lookup signatures;
  launch_times times;
  work_gate gate;
  stream_captures captures;
  idle_moments idle;
  std::atomic<bool> on{false}, given_up{false};
  std::atomic<bool> lacks_contexts{false}, has_several_gpus{false};
  std::atomic<bool> graphs_change{false}, has_collectives{false}, cooperative_failed{false};
  std::atomic<std::uint32_t> capture{0};     // number of it
  std::atomic<std::uint32_t> generation{1};  // counts the times callbacks were switched on
  std::atomic<std::uint64_t> launches{0}, kernels{0}, kernel_ns{0};
  std::atomic<std::uint32_t> endings{0};         // calls now running that destroy a context
  std::atomic<std::uint32_t> to_be_released{0};  // 1: such a call waits for the worker
  // The worker may be inside CUPTI for a context. It says so before it looks whether one is about
  // to go, and a call that destroys one looks at this after saying so: one of them sees the other.
  std::atomic<bool> at_work{false};
  std::atomic<launch_signature::groups> rewriting{0}, all_groups{0};
  std::array<std::atomic<context_readings*>, max_contexts> contexts{};
  /// Describes the launch that is let in to be read. The worker writes it before, the thread of the
  /// launch reads it after.
  launch_remark remark;
};

}  // namespace gpuprof::guest
