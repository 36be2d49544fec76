// SPDX-License-Identifier: Apache-2.0
// The one state of the replay libcupti: subscriber, enabled kinds and callbacks, buffers.
#pragma once

#include "replay/cupti/faults.hpp"
#include "replay/cupti/kept_texts.hpp"
#include "replay/cupti/record_buffers.hpp"
#include "replay/driver/tool_hooks.hpp"

#include <array>
#include <atomic>
#include <bitset>
#include <mutex>
#include <string>

namespace gpuprof::replay {

/// What clients get for the context with that unique id, and back.
CUcontext context_handle(std::uint32_t context) noexcept;
std::uint32_t context_number(CUcontext context) noexcept;

class library {
 public:
  static library& get() noexcept;

  /// Connects to the fake driver. False when the driver is another one, absent or torn down: then
  /// most calls fail with CUPTI_ERROR_UNKNOWN, as the real library's do.
  bool attach_to_driver();

  CUptiResult subscribe(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void* context,
                        char const* name);
  CUptiResult unsubscribe(CUpti_SubscriberHandle);
  bool is_subscriber(CUpti_SubscriberHandle handle) const noexcept;
  std::string holder() const;
  CUptiResult enable_callback(bool on, CUpti_CallbackDomain, CUpti_CallbackId);
  CUptiResult enable_domain(bool on, CUpti_CallbackDomain);
  bool callback_enabled(CUpti_CallbackDomain, CUpti_CallbackId) const noexcept;

  CUptiResult enable_kind(CUpti_ActivityKind, bool on);
  CUptiResult enable_api_kind(CUpti_ActivityKind, CUpti_CallbackId, bool on);
  void finalize();

  record_buffers buffers;
  std::atomic<bool> system_thread_ids{false};
  std::atomic<bool> per_thread_fixed{false};  // buffers have been set up: PER_THREAD is settled

  // From the fake driver, on the program's threads.
  void on_call(driver_call const&) noexcept;
  void let_code_go(driver_call const&) noexcept;
  void launch_begins(driver_call const&) noexcept;
  void on_resource(CUpti_CallbackIdResource, std::uint32_t context) noexcept;
  void on_record(activity const&) noexcept;
  void on_driver_gone() noexcept { driver_gone_ = true; }

 private:
  void stop_everything();
  void instantiate_if_new(driver_call const& launch) noexcept;
  void check_graph(driver_call const& launch) const noexcept;
  void load_module_of(char const* kernel, std::uint32_t context) noexcept;
  void stop_kind(CUpti_ActivityKind kind);
  void add_own_kernel(activity const& counted) noexcept;
  void deliver(activity const&) noexcept;
  static constexpr std::size_t max_ids = 1024;
  static constexpr std::size_t max_kinds = 64;

  void raise(CUpti_CallbackDomain, CUpti_CallbackId, void const* data, bool& flag) noexcept;
  bool wants(void const* record, std::uint32_t kind) const noexcept;
  void give_up() noexcept;

  std::atomic<bool> attached_{false}, driver_gone_{false};

  mutable std::mutex subscriber_lock_;  // protects holder_; never held during a callback
  std::string holder_;
  std::atomic<CUpti_CallbackFunc> callback_{nullptr};
  std::atomic<void*> callback_context_{nullptr};
  std::array<std::array<std::atomic<bool>, max_ids>, CUPTI_CB_DOMAIN_SIZE> callbacks_{};

  std::array<std::atomic<bool>, max_kinds> kinds_{};
  std::array<std::array<std::atomic<bool>, max_ids>, 2> api_ids_{};  // driver, runtime
  std::atomic<std::uint64_t> records_{0};

  kept_texts texts_;
  std::atomic<int> unloads_{0}, disables_{0};  // under way
  std::atomic<unsigned> graph_trace_off_{0};   // times that GRAPH_TRACE was disabled
};

}  // namespace gpuprof::replay
