// SPDX-License-Identifier: Apache-2.0
// The part of cupti_tracer that enables callbacks: which calls of the program's threads are
// reported.
#include "guest/collect/cupti_tracer.hpp"

#include <algorithm>

namespace gpuprof::guest {
namespace {

constexpr auto launching_calls = {call_class::kernel, call_class::many_kernels, call_class::copy};
// Enabled between captures too: what is set up in a context must be removed before the context
// ends, and names become invalid when code is unloaded.
constexpr auto calls_at_rest = {call_class::profiler_start,     call_class::profiler_stop,
                                call_class::context_reset,      call_class::context_retain,
                                call_class::context_release,    call_class::code_unload,
                                call_class::graph_instantiation};
// Enabled between captures too: graphs outlive captures, and their addresses are used again.
constexpr auto resources_at_rest = {CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED,
                                    CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING};
constexpr auto calls_for_gate = {call_class::stream_capture_begin, call_class::stream_capture_end,
                                 call_class::stream_work,          call_class::stream_end,
                                 call_class::context_wait,         call_class::work_wait,
                                 call_class::graph_change,         call_class::graph_end};

constexpr auto calls_of_graphs = {call_class::graph_build, call_class::graph_condition,
                                  call_class::graph_change, call_class::stream_capture_end};

constexpr CUpti_CallbackId driver_cbids = 1024;  // more than any CUPTI version has

bool is_in(std::initializer_list<call_class> classes, call_class what) noexcept {
  return std::find(classes.begin(), classes.end(), what) != classes.end();
}

}  // namespace

/// Enables all calls for which which(cbid) is true. On failure, those enabled before stay on.
template <class Which>
result<void> cupti_tracer::enable_driver_calls(Which which) {
  for (CUpti_CallbackId cbid = 1; cbid < driver_cbids; ++cbid) {
    if (!which(cbid)) continue;
    auto ok = guard_.call<&cupti_api::cuptiEnableCallback>(1u, subscriber(),
                                                           CUPTI_CB_DOMAIN_DRIVER_API, cbid);
    if (!ok) return ok;
  }
  return {};
}

template <class Which>
void cupti_tracer::disable_driver_calls(Which which) noexcept {
  for (CUpti_CallbackId cbid = 1; cbid < driver_cbids; ++cbid)
    if (which(cbid))
      guard_.try_call<&cupti_api::cuptiEnableCallback>(0u, subscriber(), CUPTI_CB_DOMAIN_DRIVER_API,
                                                       cbid);
}

result<void> cupti_tracer::enable_driver_calls(call_classes classes) {
  return enable_driver_calls(
      [&](std::uint32_t cbid) { return is_in(classes, callbacks_.class_of(cbid)); });
}

void cupti_tracer::disable_driver_calls(call_classes classes) noexcept {
  disable_driver_calls(
      [&](std::uint32_t cbid) { return is_in(classes, callbacks_.class_of(cbid)); });
}

/// True for a blocking call whose callback is not already on for another reason while recording.
bool cupti_tracer::is_only_blocking(std::uint32_t driver_cbid) const noexcept {
  auto const what = callbacks_.class_of(driver_cbid);
  return callbacks_.calls_that_block().has(driver_cbid) && !is_in(launching_calls, what) &&
         !is_in(calls_at_rest, what) && !(callbacks_.has_gate() && is_in(calls_for_gate, what));
}

result<void> cupti_tracer::enable_callbacks_at_rest() {
  if (auto ok = enable_driver_calls(calls_at_rest); !ok) return ok;
  for (auto const id : {CUPTI_CBID_STATE_FATAL_ERROR, CUPTI_CBID_STATE_ERROR}) {
    guard_.try_call<&cupti_api::cuptiEnableCallback>(1u, subscriber(), CUPTI_CB_DOMAIN_STATE,
                                                     static_cast<CUpti_CallbackId>(id));
  }
  for (auto const id : resources_at_rest)
    guard_.try_call<&cupti_api::cuptiEnableCallback>(1u, subscriber(), CUPTI_CB_DOMAIN_RESOURCE,
                                                     static_cast<CUpti_CallbackId>(id));
  // Enabled between captures too, because a program loads its modules only once.
  if (callbacks_.has_code_observer()) {
    guard_.try_call<&cupti_api::cuptiEnableCallback>(
        1u, subscriber(), CUPTI_CB_DOMAIN_RESOURCE,
        static_cast<CUpti_CallbackId>(CUPTI_CBID_RESOURCE_MODULE_LOADED));
  }
  return {};
}

// The end of contexts is watched through the driver calls that end them, because records may be
// flushed in those callbacks but not in resource callbacks.
void cupti_tracer::switch_resource_callbacks(bool on) noexcept {
  auto const switch_one = [&](CUpti_CallbackIdResource id) {
    guard_.try_call<&cupti_api::cuptiEnableCallback>(
        on ? 1u : 0u, subscriber(), CUPTI_CB_DOMAIN_RESOURCE, static_cast<CUpti_CallbackId>(id));
  };
  switch_one(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
  switch_one(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
  if (!callbacks_.has_gate()) return;
  switch_one(CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  switch_one(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
}

/// Call it before launch callbacks are on. If a call cannot be enabled, only the level of its
/// graphs is affected.
void cupti_tracer::listen_to_graphs(trace_options const& options) {
  graphs_.begin(options.some_by_nodes, options.nodes_budget_millionths);
  running_.push([this] {
    graphs_.end();
    disable_driver_calls(calls_of_graphs);
  });
  (void)enable_driver_calls(calls_of_graphs);
}

result<void> cupti_tracer::enable_launch_callbacks() {
  // The undo is pushed first, because a failure half way leaves some callbacks on.
  running_.push([this] {
    switch_resource_callbacks(false);
    disable_driver_calls(launching_calls);
    if (callbacks_.has_gate()) disable_driver_calls(calls_for_gate);
  });
  if (auto ok = enable_driver_calls(launching_calls); !ok) return ok;
  if (callbacks_.has_gate()) {
    if (auto ok = enable_driver_calls(calls_for_gate); !ok) return ok;
  }
  switch_resource_callbacks(true);
  return {};
}

void cupti_tracer::enable_blocking_calls(std::vector<std::string>& warnings) {
  auto const ok =
      enable_driver_calls([this](std::uint32_t cbid) { return is_only_blocking(cbid); });
  if (!ok) {
    disable_blocking_calls();
    warnings.push_back("blocking CUDA calls will be missing: " + ok.message() +
                       ". All else is traced.");
    return;
  }
  running_.push([this] { disable_blocking_calls(); });
  callbacks_.calls_that_block().record(true);
  calls_recorded_.store(recorded_calls::blocking, std::memory_order_relaxed);
}

void cupti_tracer::disable_blocking_calls() noexcept {
  callbacks_.calls_that_block().record(false);
  disable_driver_calls([this](std::uint32_t cbid) { return is_only_blocking(cbid); });
}

}  // namespace gpuprof::guest
