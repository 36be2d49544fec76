// SPDX-License-Identifier: Apache-2.0
#include "replay/cupti/library.hpp"

#include "replay/cupti/callback_names.hpp"
#include "replay/cupti/contract.hpp"
#include "replay/cupti/gpu_work.hpp"
#include "replay/cupti/graphs.hpp"
#include "replay/cupti/loaded_modules.hpp"
#include "replay/cupti/pm_sampler.hpp"
#include "replay/cupti/range_profiler.hpp"
#include "replay/format/record_fields.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace gpuprof::replay {
namespace {

constexpr tool_hooks our_hooks{
    .call =
        [](driver_call const& c) noexcept {
          library::get().on_call(c);
          library::get().launch_begins(c);
          library::get().let_code_go(c);
        },
    .resource = [](CUpti_CallbackIdResource id,
                   std::uint32_t context) noexcept { library::get().on_resource(id, context); },
    .record = [](activity const& a) noexcept { library::get().on_record(a); },
    .driver_gone = []() noexcept { library::get().on_driver_gone(); },
};

bool begins_capture(std::uint32_t call) noexcept {
  return call == CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture ||
         call == CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz ||
         call == CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2 ||
         call == CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz;
}

bool launches_graph(driver_call const& call) noexcept {
  return call.parameters != nullptr && (call.cbid == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch ||
                                        call.cbid == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz);
}

CUgraphExec graph_of(driver_call const& launch) noexcept {
  return static_cast<cuGraphLaunch_params const*>(launch.parameters)->hGraph;
}

bool ends_capture(std::uint32_t call) noexcept {
  return call == CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture ||
         call == CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz;
}

}  // namespace

CUcontext context_handle(std::uint32_t context) noexcept {
  return reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(context) * 0x1000);
}

std::uint32_t context_number(CUcontext context) noexcept {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(context) / 0x1000);
}

library& library::get() noexcept {
  static auto* const one = new library;
  return *one;
}

bool library::attach_to_driver() {
  if (driver_gone_) return false;
  if (attached_) return true;
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return false;
  auto const set_tool = reinterpret_cast<set_tool_function>(dlsym(driver, set_tool_name));
  if (set_tool == nullptr) return false;
  set_tool(&our_hooks);
  attached_ = true;
  return true;
}

CUptiResult library::subscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                               void* context, char const* name) {
  if (handle == nullptr || callback == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  std::lock_guard const hold(subscriber_lock_);
  if (callback_ != nullptr || !faults::get().held_by.empty()) {
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  holder_ = name != nullptr ? "CUPTI for " + std::string(name) : "CUPTI";
  callback_context_ = context;
  callback_ = callback;
  *handle = reinterpret_cast<CUpti_SubscriberHandle>(this);
  return CUPTI_SUCCESS;
}

CUptiResult library::unsubscribe(CUpti_SubscriberHandle handle) {
  if (!is_subscriber(handle)) return CUPTI_ERROR_INVALID_PARAMETER;
  for (auto& domain : callbacks_) {
    for (auto& id : domain) id = false;
  }
  std::lock_guard const hold(subscriber_lock_);
  callback_ = nullptr;
  holder_.clear();
  return CUPTI_SUCCESS;
}

bool library::is_subscriber(CUpti_SubscriberHandle handle) const noexcept {
  return callback_ != nullptr &&
         handle == reinterpret_cast<CUpti_SubscriberHandle>(const_cast<library*>(this));
}

std::string library::holder() const {
  if (auto const& other = faults::get().held_by; !other.empty()) return other;
  std::lock_guard const hold(subscriber_lock_);
  return holder_;
}

CUptiResult library::enable_callback(bool on, CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (domain <= CUPTI_CB_DOMAIN_INVALID || domain >= CUPTI_CB_DOMAIN_SIZE || id == 0 ||
      id >= callback_ids_of(domain)) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  callbacks_[domain][id] = on;
  return CUPTI_SUCCESS;
}

CUptiResult library::enable_domain(bool on, CUpti_CallbackDomain domain) {
  if (domain <= CUPTI_CB_DOMAIN_INVALID || domain >= CUPTI_CB_DOMAIN_SIZE) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  for (std::size_t id = 1; id < callback_ids_of(domain); ++id) callbacks_[domain][id] = on;
  return CUPTI_SUCCESS;
}

bool library::callback_enabled(CUpti_CallbackDomain domain, CUpti_CallbackId id) const noexcept {
  return domain < CUPTI_CB_DOMAIN_SIZE && id < max_ids && callbacks_[domain][id];
}

CUptiResult library::enable_kind(CUpti_ActivityKind kind, bool on) {
  if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT) {
    return CUPTI_ERROR_INVALID_KIND;
  }
  auto const other = kind == CUPTI_ACTIVITY_KIND_KERNEL ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
                     : kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ? CUPTI_ACTIVITY_KIND_KERNEL
                                                                     : CUPTI_ACTIVITY_KIND_INVALID;
  if (on && kinds_[other]) return CUPTI_ERROR_NOT_COMPATIBLE;
  if (kind == CUPTI_ACTIVITY_KIND_DRIVER || kind == CUPTI_ACTIVITY_KIND_RUNTIME) {
    for (auto& id : api_ids_[kind == CUPTI_ACTIVITY_KIND_RUNTIME]) id = on;
  }
  if (on) {
    kinds_[kind] = true;
    per_thread_fixed = true;
    buffers.start_worker();
  } else {
    stop_kind(kind);
  }
  return CUPTI_SUCCESS;
}

// CUPTI 13.0.1 has been seen to crash.
void library::stop_kind(CUpti_ActivityKind kind) {
  ++disables_;
  if (unloads_ > 0) broken("a kind was disabled while another thread unloads code");
  kinds_[kind] = false;
  graph_trace_off_ += kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  std::this_thread::sleep_for(std::chrono::microseconds(faults::get().unload_us / 10));
  --disables_;
}

CUptiResult library::enable_api_kind(CUpti_ActivityKind kind, CUpti_CallbackId id, bool on) {
  if (id == 0 || id >= max_ids) return CUPTI_ERROR_INVALID_PARAMETER;
  api_ids_[kind == CUPTI_ACTIVITY_KIND_RUNTIME][id] = on;
  if (on) {
    per_thread_fixed = true;
    buffers.start_worker();
  }
  return CUPTI_SUCCESS;
}

void library::stop_everything() {
  for (auto& kind : kinds_) kind = false;
  for (auto& api : api_ids_) {
    for (auto& id : api) id = false;
  }
  for (auto& domain : callbacks_) {
    for (auto& id : domain) id = false;
  }
  {
    std::lock_guard const hold(subscriber_lock_);
    callback_ = nullptr;
    holder_.clear();
  }
  buffers.shut_down();
  buffers.set_functions(nullptr, nullptr);
  buffers.set_zeroed_by_client(false);
  buffers.set_per_thread(true);
  per_thread_fixed = false;
}

void library::finalize() {
  range_profiler::get().finalized();
  pm_sampler::get().finalized();
  graphs::get().finalized();
  stop_everything();
  texts_.unload_all();
}

void library::raise(CUpti_CallbackDomain domain, CUpti_CallbackId id, void const* data,
                    bool& flag) noexcept {
  auto const callback = callback_.load();
  if (callback == nullptr || !callback_enabled(domain, id)) return;
  inside const mark(flag);
  call_client("callback", [&] { callback(callback_context_, domain, id, data); });
}

void library::on_call(driver_call const& call) noexcept {
  if (call.site == CUPTI_API_ENTER) instantiate_if_new(call);
  if (call.site == CUPTI_API_EXIT) check_graph(call);
  if (call.site == CUPTI_API_EXIT) {
    auto const is_recorded = kinds_[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL].load();
    if (call.parameters != nullptr && !is_recorded)
      range_profiler::get().launch_returns(call.context);
    gpu_work::get().call_ends(call.correlation);
  } else if (call.parameters != nullptr) {
    gpu_work::get().call_begins(call.correlation);
  }
  if (call.site == CUPTI_API_ENTER && call.symbol != nullptr && call.symbol_is_there)
    load_module_of(call.symbol, call.context);
  if (call.site == CUPTI_API_EXIT && ends_capture(call.cbid)) range_profiler::get().capture_ends();
  if (!callback_enabled(CUPTI_CB_DOMAIN_DRIVER_API, call.cbid)) return;
  auto result = call.result;
  CUpti_CallbackData data{};
  data.callbackSite = call.site;
  data.functionName = callback_name(CUPTI_CB_DOMAIN_DRIVER_API, call.cbid);
  data.functionParams = call.parameters;
  if (call.site == CUPTI_API_EXIT) data.functionReturnValue = &result;
  data.symbolName = call.symbol_is_there ? texts_.keep(call.symbol, call.context) : call.symbol;
  data.context = context_handle(call.context);
  data.contextUid = call.context;
  data.correlationData = call.correlation_data;
  data.correlationId = call.correlation;
  raise(CUPTI_CB_DOMAIN_DRIVER_API, call.cbid, &data, here().in_api_callback);
  if (call.site == CUPTI_API_ENTER && begins_capture(call.cbid))
    range_profiler::get().capture_begins();
}

/// As the program would have done it before. Unheard where no client listens.
void library::instantiate_if_new(driver_call const& launch) noexcept {
  if (!launches_graph(launch) || !graphs::get().is_new(graph_of(launch))) return;
  auto const is_on = [this] { return kinds_[CUPTI_ACTIVITY_KIND_GRAPH_TRACE].load(); };
  if (!callback_enabled(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED))
    return graphs::get().made(graph_of(launch), is_on());
  static std::atomic<std::uint32_t> calls{0x6000'0000};  // far above the ids of any recording
  // Sessions do not have these calls: without need of them nobody hears of them.
  auto const is_called = is_on();
  std::uint64_t kept = 0;
  driver_call made{.cbid = CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags,
                   .correlation = calls++,
                   .context = launch.context,
                   .correlation_data = &kept};
  if (is_called) on_call(made);
  auto const was_on = is_on();
  auto const switched_off = graph_trace_off_.load();
  CUpti_GraphData about{};
  about.graphExec = graph_of(launch);
  CUpti_ResourceData data{};
  data.context = context_handle(launch.context);
  data.resourceDescriptor = &about;
  graphs::get().made(about.graphExec, was_on && switched_off == graph_trace_off_.load());
  raise(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, &data,
        here().in_other_callback);
  made.site = CUPTI_API_EXIT;
  if (is_called) on_call(made);
}

// CUPTI looks at the graph once its client has heard of the launch.
void library::launch_begins(driver_call const& call) noexcept {
  if (call.site != CUPTI_API_ENTER) return;
  check_graph(call);
  auto const is_by_nodes = kinds_[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL].load() &&
                           !kinds_[CUPTI_ACTIVITY_KIND_GRAPH_TRACE].load();
  if (auto const us = faults::get().nodes_us; us != 0 && launches_graph(call) && is_by_nodes)
    std::this_thread::sleep_for(std::chrono::microseconds(us));
}

void library::check_graph(driver_call const& launch) const noexcept {
  if (!launches_graph(launch) || !kinds_[CUPTI_ACTIVITY_KIND_GRAPH_TRACE]) return;
  if (!graphs::get().is_whole(graph_of(launch)))
    broken("a graph was launched under GRAPH_TRACE that was not instantiated under it");
}

// Once clients have heard that it is about to go.
void library::let_code_go(driver_call const& call) noexcept {
  auto const unloads = call.cbid == CUPTI_DRIVER_TRACE_CBID_cuModuleUnload ||
                       call.cbid == CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload;
  if (!unloads || call.site != CUPTI_API_ENTER) return;
  ++unloads_;
  if (disables_ > 0) broken("code was unloaded while another thread disables a kind");
  std::this_thread::sleep_for(std::chrono::microseconds(faults::get().unload_us));
  texts_.unload(call.context);
  --unloads_;
}

void library::on_resource(CUpti_CallbackIdResource id, std::uint32_t context) noexcept {
  CUpti_GraphData graph{};
  CUpti_ResourceData data{};
  data.context = context_handle(context);
  data.resourceDescriptor = &graph;
  raise(CUPTI_CB_DOMAIN_RESOURCE, static_cast<CUpti_CallbackId>(id), &data,
        here().in_other_callback);
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
    range_profiler::get().context_destroyed(data.context);
  }
}

// The driver loads lazily: inside the first launch of a kernel.
void library::load_module_of(char const* kernel, std::uint32_t context) noexcept {
  if (faults::get().no_code) return;
  auto const loaded = loaded_modules::get().load_for(kernel);
  if (loaded.id == 0) return;
  // The image is there during the callback alone.
  CUpti_ModuleResourceData module{};
  module.moduleId = loaded.id;
  module.cubinSize = loaded.cubin.size();
  module.pCubin = reinterpret_cast<char const*>(loaded.cubin.data());
  CUpti_ResourceData data{};
  data.context = context_handle(context);
  data.resourceDescriptor = &module;
  raise(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED, &data,
        here().in_other_callback);
}

bool library::wants(void const* record, std::uint32_t kind) const noexcept {
  auto const is_on = [&](std::uint32_t k) { return k < max_kinds && kinds_[k].load(); };
  if (kind == CUPTI_ACTIVITY_KIND_DRIVER || kind == CUPTI_ACTIVITY_KIND_RUNTIME) {
    auto const id = static_cast<CUpti_ActivityAPI const*>(record)->cbid;
    return id < max_ids && api_ids_[kind == CUPTI_ACTIVITY_KIND_RUNTIME][id];
  }
  // A record of the whole graph takes the place of those of its nodes.
  auto const& fields = *fields_of(kind);
  if (kind != CUPTI_ACTIVITY_KIND_GRAPH_TRACE && is_on(CUPTI_ACTIVITY_KIND_GRAPH_TRACE) &&
      get_field<std::uint32_t>(record, fields.graph) != 0) {
    return false;
  }
  return is_on(kind);
}

void library::on_record(activity const& given) noexcept {
  // The counters count, whatever is traced.
  gpu_work::get().note_record(given);
  auto const is_recorded = kinds_[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL].load();
  if (range_profiler::get().note_record(given, is_recorded)) add_own_kernel(given);
  deliver(given);
}

// The real library runs a kernel of its own before the first one of a range, under the same
// correlation id.
void library::add_own_kernel(activity const& counted) noexcept {
  CUpti_ActivityKernel10 own{};
  std::memcpy(&own, counted.bytes, sizeof own);
  own.name = "WaitNs";
  own.gridX = own.gridY = own.gridZ = own.blockX = own.blockY = own.blockZ = 1;
  own.dynamicSharedMemory = own.staticSharedMemory = 0;
  own.end = own.start - 1'000;
  own.start = own.end - 80'000;
  deliver({.bytes = &own, .complete_at = own.end});
}

void library::deliver(activity const& given) noexcept {
  auto const kind = kind_of_record(given.bytes);
  auto const* const fields = fields_of(kind);
  if (fields == nullptr) return;
  bool const as_plain_kernel =
      kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && kinds_[CUPTI_ACTIVITY_KIND_KERNEL];
  auto const wanted_as =
      as_plain_kernel ? static_cast<std::uint32_t>(CUPTI_ACTIVITY_KIND_KERNEL) : kind;
  if (!wants(given.bytes, wanted_as)) return;
  // stop_everything() switches the kinds off before it forgets the functions: look again.
  if (!buffers.has_functions()) {
    if (!wants(given.bytes, wanted_as)) return;
    broken("a kind is enabled, but cuptiActivityRegisterCallbacks was not called");
  }
  auto& fault = faults::get();
  if (fault.drops_this_record()) return buffers.count_dropped();

  auto const full_size = record_size(*fields, 130000);
  std::vector<std::byte> copy(full_size);
  std::memcpy(copy.data(), given.bytes, full_size);
  if (as_plain_kernel) {
    std::uint32_t const plain = CUPTI_ACTIVITY_KIND_KERNEL;
    std::memcpy(copy.data(), &plain, sizeof plain);
  }
  for (auto const at : fields->texts) {
    if (at == 0) continue;
    auto const context =
        fields->context != 0 ? get_field<std::uint32_t>(copy.data(), fields->context) : 0;
    set_field(copy.data(), at, texts_.keep(get_field<char const*>(copy.data(), at), context));
  }
  set_field(copy.data(), fields->process, static_cast<std::uint32_t>(getpid()));
  set_field(copy.data(), fields->thread,
            system_thread_ids ? static_cast<std::uint32_t>(syscall(SYS_gettid))
                              : static_cast<std::uint32_t>(pthread_self()));
  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && fault.zeroes_this_kernel()) {
    set_field<std::uint64_t>(copy.data(), fields->start, 0);
    set_field<std::uint64_t>(copy.data(), fields->end, 0);
  }
  buffers.append(copy.data(), record_size(*fields, fault.version), fields->on_gpu,
                 given.complete_at + fault.late_ms * 1'000'000);
  if (++records_ == fault.fatal_after) give_up();
}

// As after a sticky CUDA error: CUPTI tells its subscriber, having stopped. Names stay readable:
// the client had no chance yet to hear that it must not read them.
void library::give_up() noexcept {
  auto const callback = callback_.load();
  auto* const context = callback_context_.load();
  bool const told = callback_enabled(CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR);
  range_profiler::get().gave_up();
  pm_sampler::get().gave_up();
  stop_everything();
  if (callback == nullptr || !told) return;
  CUpti_StateData data{};
  data.notification.result = CUPTI_ERROR_UNKNOWN;
  data.notification.message = "replayed fatal error";
  inside const mark(here().in_other_callback);
  call_client("callback", [&] {
    callback(context, CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR, &data);
  });
}

}  // namespace gpuprof::replay
