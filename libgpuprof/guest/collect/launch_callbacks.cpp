// SPDX-License-Identifier: Apache-2.0
#include "guest/collect/launch_callbacks.hpp"

#include "base/own_calls.hpp"
#include "base/own_memory.hpp"
#include "base/process.hpp"
#include "guest/nvtx/log_writer.hpp"
#include "guest/nvtx/ticks.hpp"
#include "guest/stacks/native_stack.hpp"

#include <string_view>

namespace gpuprof::guest {
namespace {

/// State that both ends of a call share, in addition to the 64 bits that CUPTI keeps.
struct call_of_thread {
  bool went_into_graph = false;  // the call was recorded into a graph
  call_in_flight at_gate;
  graph_call graph;
};
// initial-exec: the access needs no function call.
constinit thread_local call_of_thread under_way __attribute__((tls_model("initial-exec")));

/// Returns the stream or graph of a call that has it as its first parameter.
template <class Handle>
Handle first_parameter(CUpti_CallbackData const& call) noexcept {
  auto const* const parameters = static_cast<Handle const*>(call.functionParams);
  return parameters != nullptr ? *parameters : nullptr;
}
CUstream first_parameter_stream(CUpti_CallbackData const& call) noexcept {
  return first_parameter<CUstream>(call);
}

bool takes_code_away(call_class what) noexcept {
  return what == call_class::code_unload || what == call_class::context_reset ||
         what == call_class::context_release;
}

}  // namespace

call_class classify_driver_call(char const* text) noexcept {
  std::string_view const name = text != nullptr ? text : "";
  auto const starts = [name](std::string_view prefix) { return name.starts_with(prefix); };
  for (auto const* const work : {"cuLaunchHostFunc", "cuStreamAddCallback", "cuStreamWait",
                                 "cuStreamWriteValue", "cuStreamBatchMemOp", "cuMemPrefetch",
                                 "cuWaitExternalSemaphores", "cuSignalExternalSemaphores",
                                 "cuStreamAttachMemAsync", "cuMemBatchDecompress", "cuMemDiscard"})
    if (starts(work)) return call_class::stream_work;
  if (starts("cuLaunchCooperativeKernelMultiDevice")) return call_class::many_kernels;
  if (starts("cuLaunch"))
    return call_class::kernel;  // Kernel, KernelEx, CooperativeKernel, Grid; also with _ptsz
  if (starts("cuGraphLaunch")) return call_class::many_kernels;
  if (starts("cuMemcpy") || starts("cuMemset")) return call_class::copy;
  if (name == "cuProfilerStart") return call_class::profiler_start;
  if (name == "cuProfilerStop") return call_class::profiler_stop;
  if (starts("cuStreamBeginCapture")) return call_class::stream_capture_begin;
  if (starts("cuStreamEndCapture")) return call_class::stream_capture_end;
  if (starts("cuStreamDestroy")) return call_class::stream_end;
  if (starts("cuCtxSynchronize")) return call_class::context_wait;
  if (starts("cuStreamSynchronize") || starts("cuEventSynchronize")) return call_class::work_wait;
  if (name == "cuModuleUnload" || name == "cuLibraryUnload") return call_class::code_unload;
  if (starts("cuGraphInstantiate")) return call_class::graph_instantiation;
  if (name == "cuGraphCreate" || name == "cuGraphClone") return call_class::graph_build;
  if (starts("cuGraphConditionalHandleCreate")) return call_class::graph_condition;
  if (name == "cuGraphExecDestroy") return call_class::graph_end;
  if (starts("cuGraphExec") &&
      (name.find("Update") != name.npos || name.find("SetParams") != name.npos))
    return call_class::graph_change;
  if (starts("cuDevicePrimaryCtxReset") || starts("cuCtxDestroy") || starts("cuGreenCtxDestroy"))
    return call_class::context_reset;
  if (starts("cuDevicePrimaryCtxRetain")) return call_class::context_retain;
  if (starts("cuDevicePrimaryCtxRelease")) return call_class::context_release;
  return call_class::none;
}

void launch_callbacks::learn_calls(cupti_api const& api) {
  id_of_node_ = api.cuptiGetGraphNodeId;
  for (std::uint32_t cbid = 1; cbid < classes_.size(); ++cbid) {
    char const* name = nullptr;
    if (api.cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, cbid, &name) != CUPTI_SUCCESS)
      continue;
    classes_[cbid] = classify_driver_call(name);
    blocking_calls_.learn(cbid, name);
    launch_calls_[cbid] = launch_call_named(name);
    stream_places_[cbid] = stream_place_named(name);
  }
}

void launch_callbacks::entry(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                             void const* data) noexcept {
  if (is_forked_child() || data == nullptr) return;
  auto& callbacks = *static_cast<launch_callbacks*>(self);
  switch (domain) {
    case CUPTI_CB_DOMAIN_DRIVER_API:
      callbacks.driver_call(id, *static_cast<CUpti_CallbackData const*>(data));
      break;
    case CUPTI_CB_DOMAIN_RESOURCE:
      callbacks.resource_event(id, *static_cast<CUpti_ResourceData const*>(data));
      break;
    case CUPTI_CB_DOMAIN_STATE: {
      auto const& state = *static_cast<CUpti_StateData const*>(data);
      if (id == CUPTI_CBID_STATE_FATAL_ERROR) {
        callbacks.observer_.cupti_failed(state.notification.result, state.notification.message);
      }
      break;
    }
    default:
      break;
  }
}

// MODULE_PROFILED is not used: CUPTI has rewritten that code, so it is not the program's kernel.
void launch_callbacks::resource_event(CUpti_CallbackId id,
                                      CUpti_ResourceData const& resource) noexcept {
  if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED) under_way.went_into_graph = true;
  note_graph(static_cast<CUpti_CallbackIdResource>(id), resource);
  if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED || id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED)
    note_graph_node(id, resource);
  auto* const gate = gate_.load(std::memory_order_acquire);
  if (gate != nullptr && id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
    gate->context_made(resource.context);
  if (gate != nullptr && id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
    gate->context_gone(resource.context);
  if (id != CUPTI_CBID_RESOURCE_MODULE_LOADED) return;
  auto* const observer = code_observer_.load(std::memory_order_acquire);
  auto const* const module =
      static_cast<CUpti_ModuleResourceData const*>(resource.resourceDescriptor);
  if (observer == nullptr || module == nullptr || module->cubinSize == 0) return;
  auto const* const image = reinterpret_cast<std::uint8_t const*>(module->pCubin);
  if (!can_read(image, 1) || !can_read(image + (module->cubinSize - 1), 1)) return;
  observer->code_loaded({image, module->cubinSize});
}

void launch_callbacks::note_graph(CUpti_CallbackIdResource id,
                                  CUpti_ResourceData const& resource) noexcept {
  auto* const level = graph_level_.load(std::memory_order_acquire);
  auto const* const about = static_cast<CUpti_GraphData const*>(resource.resourceDescriptor);
  if (about == nullptr || level == nullptr) return;
  if (id == CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED)
    level->made(under_way.graph, about->graphExec);
  else if (id == CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING)
    level->gone(about->graphExec);
}

/// An executable graph has copies of the nodes of the graph that it was made from, and records have
/// the numbers of these copies.
void launch_callbacks::note_graph_node(CUpti_CallbackId id,
                                       CUpti_ResourceData const& resource) noexcept {
  auto const* const about = static_cast<CUpti_GraphData const*>(resource.resourceDescriptor);
  if (about == nullptr || id_of_node_ == nullptr ||
      !log_is_recording.load(std::memory_order_relaxed) || !stacks_are_read())
    return;
  std::uint64_t node = 0, original = 0;
  if (id_of_node_(about->node, &node) != CUPTI_SUCCESS) return;
  auto const is_copy = id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED &&
                       about->originalNode != nullptr &&
                       id_of_node_(about->originalNode, &original) == CUPTI_SUCCESS;
  auto* const log = this_thread_log();
  if (log == nullptr) return;
  auto const stack = is_copy ? std::uint16_t{0} : stack_number(*log, call_kind::kernel, {});
  if (!is_copy && stack == 0) return;
  write_graph_node(*log, static_cast<graph_node_id>(node), static_cast<graph_node_id>(original),
                   stack);
}

void launch_callbacks::note_graph_call(call_class what, CUpti_CallbackId id,
                                       CUpti_CallbackData const& call) noexcept {
  // `id` is in range: the tables cover all ids that have a class.
  auto const is_launch =
      what == call_class::many_kernels && launch_calls_[id].call == launch_call::graph;
  auto* const level = graph_level_.load(std::memory_order_acquire);
  if (level == nullptr || (what == call_class::many_kernels && !is_launch)) return;
  choose_graph_level(*level, what, call);
}

/// Called outside of the gate, because CUPTI must not be switched between the begin and the end of
/// a reading.
void launch_callbacks::choose_graph_level(graph_level& level, call_class what,
                                          CUpti_CallbackData const& call) noexcept {
  auto const entering = call.callbackSite == CUPTI_API_ENTER;
  auto& own = under_way.graph;
  switch (what) {
    case call_class::many_kernels:
      entering ? level.launch_enters(own, first_parameter<CUgraphExec>(call))
               : level.launch_leaves(own);
      break;
    case call_class::graph_instantiation:
      entering ? level.instantiation_enters(own) : level.instantiation_leaves(own);
      break;
    case call_class::graph_build:
    case call_class::stream_capture_end:
      if (!entering) level.graph_was_built();
      break;
    case call_class::graph_condition:  // what runs inside is not known of a whole
      level.need_nodes();
      break;
    case call_class::graph_change:
      if (!entering) level.was_changed(first_parameter<CUgraphExec>(call));
      break;
    default:
      break;
  }
}

/// Returns the same answer at both ends of a call, because CUPTI keeps the correlation data.
bool launch_callbacks::is_taken_for_an_end(CUpti_CallbackData const& release) noexcept {
  if (release.callbackSite == CUPTI_API_ENTER) {
    auto const* const parameters =
        static_cast<cuDevicePrimaryCtxRelease_v2_params const*>(release.functionParams);
    *release.correlationData =
        primary_contexts_.release_begins(parameters != nullptr ? parameters->dev : 0);
  }
  return *release.correlationData != 0;
}

/// If the begin of the call was not seen, there is nothing to end. If the call is also recorded,
/// its begin time replaces the 1.
void launch_callbacks::code_goes(CUpti_CallbackData const& call) noexcept {
  kernels_.code_unloads();
  if (call.callbackSite == CUPTI_API_ENTER) {
    *call.correlationData = 1;
    switches_.change_begins();
  } else if (*call.correlationData != 0) {
    switches_.change_ended();
  }
}

void launch_callbacks::note_retain(CUpti_CallbackData const& call) noexcept {
  auto const* const parameters =
      static_cast<cuDevicePrimaryCtxRetain_params const*>(call.functionParams);
  auto const device = parameters != nullptr ? parameters->dev : 0;
  auto const* const status = static_cast<int const*>(call.functionReturnValue);
  if (call.callbackSite == CUPTI_API_ENTER) {
    own_calls const marked;
    primary_contexts_.retain_begins(device);
  } else if (status == nullptr || *status == 0) {
    primary_contexts_.retain_ended(device);
  }
}

void launch_callbacks::tell_gate(launch_gate& gate, CUpti_CallbackId id,
                                 CUpti_CallbackData const& call) noexcept {
  auto const entering = call.callbackSite == CUPTI_API_ENTER;
  auto const* const status = static_cast<int const*>(call.functionReturnValue);
  auto const failed = !entering && status != nullptr && *status != 0;
  switch (class_of(id)) {
    case call_class::kernel:
    case call_class::many_kernels:
      if (entering) gate.entered(under_way.at_gate, launch_calls_[id], call);
      break;
    case call_class::copy:
    case call_class::stream_work:
      entering ? gate.work_entered(under_way.at_gate, stream_places_[id], call)
               : gate.work_left(under_way.at_gate, call);
      break;
    case call_class::stream_capture_begin:
      if (entering) gate.stream_capture_begins(first_parameter_stream(call));
      if (failed) gate.stream_capture_ends(first_parameter_stream(call));
      break;
    case call_class::stream_capture_end:
      if (!entering) gate.stream_capture_ends(first_parameter_stream(call));
      break;
    case call_class::stream_end:
      if (entering) gate.stream_ends(first_parameter_stream(call));
      break;
    case call_class::context_wait:
      if (!entering) gate.context_waited_for(call);
      [[fallthrough]];
    case call_class::work_wait:
      if (!entering) gate.work_waited_for();
      break;
    case call_class::graph_change:
      if (entering) gate.graph_changes();
      break;
    case call_class::graph_end:
      if (entering) gate.graph_ends(first_parameter<CUgraphExec>(call));
      break;
    case call_class::code_unload:
      gate.code_unloads();
      break;
    case call_class::context_reset:
    case call_class::context_release:
      entering ? gate.context_ending() : gate.context_ended();
      break;
    default:
      break;
  }
}

void launch_callbacks::driver_call(CUpti_CallbackId id, CUpti_CallbackData const& call) noexcept {
  auto const what = class_of(id);
  auto* const gate = gate_.load(std::memory_order_acquire);
  if (what == call_class::context_retain) note_retain(call);
  if (what == call_class::context_release && gate != nullptr) gate->code_unloads();
  if (what == call_class::context_release && !is_taken_for_an_end(call)) return;
  if (takes_code_away(what)) code_goes(call);
  if (call.callbackSite == CUPTI_API_ENTER) {
    switch (what) {
      case call_class::kernel:
      case call_class::many_kernels:
      case call_class::copy:
        *call.correlationData = 0;  // CUPTI keeps it for the matching EXIT
        if (!log_is_recording.load(std::memory_order_relaxed)) break;
        under_way.went_into_graph = false;
        *call.correlationData = read_ticks();
        break;
      case call_class::profiler_stop:
        observer_.profiler_stop();
        break;
      case call_class::context_reset:
      case call_class::context_release:
        observer_.context_ending();
        break;
      default:
        if (blocking_calls_.has(id)) blocking_calls_.entered(call);
        break;
    }
    note_graph_call(what, id, call);
    if (gate != nullptr) tell_gate(*gate, id, call);
    return;
  }
  auto const is_of_kernels = what == call_class::kernel || what == call_class::many_kernels;
  // First, so that our own work below is not counted in the call.
  if (!is_of_kernels && blocking_calls_.has(id)) blocking_calls_.left(id, call);
  if (is_of_kernels || what == call_class::copy) {
    launch_ended(what, call, gate);
  } else {
    if (gate != nullptr) tell_gate(*gate, id, call);
    if (what == call_class::profiler_start) observer_.profiler_start();
  }
  note_graph_call(what, id, call);
  if (leave_.load(std::memory_order_acquire)) observer_.leave_cupti();
}

std::uint8_t launch_callbacks::flags_of(call_class what, CUpti_CallbackData const& call) noexcept {
  std::uint8_t flags = 0;
  auto const* const status = static_cast<int const*>(call.functionReturnValue);
  if (status != nullptr && *status != 0) flags |= launch_failed;
  if (under_way.went_into_graph) flags |= launch_captured;
  if (what == call_class::many_kernels) flags |= launch_of_graph;
  if (what == call_class::copy) flags |= launch_is_copy;
  if (what == call_class::kernel && flags == 0 && ask_observer_.load(std::memory_order_relaxed) &&
      !observer_.is_selected(call.symbolName)) {
    flags |= launch_not_selected;
  }
  return flags;
}

// The launch is written at the end of the call, because only then is it known whether it failed or
// was recorded into a graph.
void launch_callbacks::launch_ended(call_class what, CUpti_CallbackData const& call,
                                    launch_gate* gate) noexcept {
  auto const entered = *call.correlationData;
  auto const is_noted = entered != 0 && log_is_recording.load(std::memory_order_relaxed);
  auto* const log = is_noted ? this_thread_log() : nullptr;
  auto flags = log != nullptr ? flags_of(what, call) : std::uint8_t{0};
  auto const stack =
      log != nullptr && (flags & (launch_failed | launch_captured)) == 0
          ? stack_number(*log, what == call_class::copy ? call_kind::copy : call_kind::kernel,
                         static_cast<correlation_id>(call.correlationId))
          : std::uint16_t{0};
  launch_remark remark;
  if (gate != nullptr && what == call_class::copy) gate->work_left(under_way.at_gate, call);
  if (gate != nullptr && what != call_class::copy)
    remark = gate->left(under_way.at_gate, call,
                        log != nullptr && flags == 0 && catch_up(*log) && has_room(*log, 2));
  if (log == nullptr) return;
  auto const correlation = static_cast<correlation_id>(call.correlationId);
  if (flags == 0 && remark.is == launch_remark::kind::unrecorded) {
    write_unrecorded_launch(*log, entered, correlation, remark, stack);
    return;
  }
  // Captured launches too: the records of the graph point to the same name.
  auto const has_name = what == call_class::kernel && (flags & launch_failed) == 0;
  auto const kernel = has_name ? kernels_.of_launched(call.symbolName) : name_id{};
  auto* const level = graph_level_.load(std::memory_order_acquire);
  if (has_name && level != nullptr && (flags & launch_captured) != 0)
    level->captured(call.symbolName);
  std::uint32_t arguments = remark.arguments;
  if (flags == launch_of_graph) arguments = kernels_.generation();
  if (flags == 0 && remark.is == launch_remark::kind::pattern) flags = launch_is_pattern;
  write_launch(*log, entered, correlation, flags, arguments, kernel, stack);
}

}  // namespace gpuprof::guest
