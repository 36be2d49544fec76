// SPDX-License-Identifier: Apache-2.0
#include "guest/collect/cupti_tracer.hpp"

#include "base/process.hpp"
#include "guest/cupti/sharing/shared_cupti.hpp"

#include <algorithm>

namespace gpuprof::guest {
namespace {

// CUPTI's buffer callbacks carry no user pointer. Set once, before they are registered.
std::atomic<cupti_tracer*> the_tracer{nullptr};

// CUPTI keeps finished records in device memory until its worker fetches them. The default (250
// buffers of 3.2 MB) may take 800 MB of the program's GPU; 16 of them hold 1.6 million kernels.
constexpr std::size_t max_device_buffers = 16;

std::string holder_in_words(std::string const& name) {
  if (name.find("<not provided>") == std::string::npos) return "\"" + name + "\"";
  return "a tool that gives no name, in this process (as torch.profiler does)";
}

}  // namespace

result<std::unique_ptr<cupti_tracer>> cupti_tracer::make(unsigned driver_major, bool shares,
                                                         memory_budget& budget,
                                                         std::size_t buffer_bytes,
                                                         launch_callbacks& callbacks) {
  auto const found = shared_cupti::of_process(driver_major);
  if (!found) return error{found.message()};
  auto& shared = **found;
  auto made = std::make_unique<cupti_tracer>(shares ? shared.ours() : shared.real(), budget,
                                             buffer_bytes, callbacks);
  if (shares) {
    made->shared_ = &shared;
    made->graphs_.watch(shared.graph_suspensions());
  }
  return made;
}

cupti_tracer::cupti_tracer(loaded_cupti const& cupti, memory_budget& budget,
                           std::size_t buffer_bytes, launch_callbacks& callbacks)
    : cupti_(cupti),
      defects_(known_defects_of(cupti.version)),
      guard_(cupti_.api),
      callbacks_(callbacks),
      pool_(budget, buffer_bytes, cupti.version >= cupti_version::refuses_null_buffers),
      filled_(pool_.capacity()),
      kernels_(cupti_.api, callbacks.switches(), !defects_.cannot_stop_kernel_records),
      graphs_(cupti_.api, callbacks.switches()) {
  callbacks_.place_graph_level(graphs_);
  the_tracer.store(this, std::memory_order_release);
}

result<void> cupti_tracer::attach() {
  if (attached()) return {};
  if (auto ok = subscribe(); !ok) return ok;
  callbacks_.learn_calls(cupti_.api);
  callbacks_.forget_calls();
  auto ok = enable_callbacks_at_rest();
  if (!ok) unsubscribe();
  return ok;
}

// The newer call also names the tool that holds CUPTI if the slot is taken.
result<void> cupti_tracer::subscribe() {
  CUpti_CallbackFunc const callback = &launch_callbacks::entry;
  CUpti_SubscriberHandle mine = nullptr;
  auto const with_names = cupti_.api.cuptiSubscribe_v2;
  if (with_names == nullptr) {
    auto ok =
        guard_.call<&cupti_api::cuptiSubscribe>(&mine, callback, static_cast<void*>(&callbacks_));
    if (ok) subscriber_.store(mine, std::memory_order_release);
    return ok;
  }
  char holder[128] = {};
  CUpti_SubscriberParams params{};
  params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  params.subscriberName = "gpuprof";
  params.oldSubscriberName = holder;
  params.oldSubscriberSize = sizeof holder;
  auto const code = with_names(&mine, callback, &callbacks_, &params);
  if (code == CUPTI_SUCCESS) {
    subscriber_.store(mine, std::memory_order_release);
    return {};
  }
  if (code == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && holder[0] != '\0') {
    return error{"cuptiSubscribe failed, CUPTI is held by " + holder_in_words(holder)};
  }
  return error{"cuptiSubscribe failed, " + describe(cupti_.api, code)};
}

void cupti_tracer::set_attributes() noexcept {
  // The default is 0: CUPTI would clear each buffer on the program's own threads. Our buffers are
  // already zeroed.
  std::uint8_t zeroed = 1;
  std::size_t size = sizeof zeroed;
  guard_.try_call<&cupti_api::cuptiActivitySetAttribute>(
      CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, static_cast<void*>(&zeroed));
  std::size_t limit = max_device_buffers;
  size = sizeof limit;
  guard_.try_call<&cupti_api::cuptiActivitySetAttribute>(
      CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, &size, static_cast<void*>(&limit));
}

void cupti_tracer::enable_kind(CUpti_ActivityKind kind, char const* what_is_lost,
                               std::vector<std::string>& warnings) {
  if (auto const ok = guard_.call<&cupti_api::cuptiActivityEnable>(kind)) {
    running_.push([this, kind] { guard_.try_call<&cupti_api::cuptiActivityDisable>(kind); });
  } else {
    warnings.push_back(std::string(what_is_lost) + " will be missing: " + ok.message() +
                       ". All else is traced.");
  }
}

void cupti_tracer::enable_calls(trace_options const& options, std::vector<std::string>& warnings) {
  calls_recorded_.store(recorded_calls::none, std::memory_order_relaxed);
  if (!options.cuda_api) {
    if (options.blocking_calls) enable_blocking_calls(warnings);
    return;
  }
  // Must be set before any API kind is enabled, so that records have the kernel's thread ids
  // instead of pthread_self().
  guard_.try_call<&cupti_api::cuptiSetThreadIdType>(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  enable_kind(CUPTI_ACTIVITY_KIND_RUNTIME, "CUDA runtime calls", warnings);
  enable_kind(CUPTI_ACTIVITY_KIND_DRIVER, "CUDA driver calls", warnings);
  calls_recorded_.store(recorded_calls::all, std::memory_order_relaxed);
}

result<void> cupti_tracer::switch_unified_memory_on(CUptiResult& code) {
  CUpti_ActivityUnifiedMemoryCounterConfig configs[2]{};
  CUpti_ActivityUnifiedMemoryCounterKind const kinds[2] = {
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD,
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH};
  for (int i = 0; i < 2; ++i) {
    configs[i].scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES;
    configs[i].kind = kinds[i];
    configs[i].deviceId = 0;
    configs[i].enable = 1;
  }
  auto ok = guard_.call_for_code<&cupti_api::cuptiActivityConfigureUnifiedMemoryCounter>(
      code, &configs[0], 2u);
  if (!ok) return ok;
  return guard_.call_for_code<&cupti_api::cuptiActivityEnable>(
      code, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
}

void cupti_tracer::enable_unified_memory(std::vector<std::string>& warnings) {
  CUptiResult code{};
  auto const ok = switch_unified_memory_on(code);
  waits_for_cuda_.store(code == CUPTI_ERROR_NOT_READY, std::memory_order_release);
  records_unified_memory_.store(bool(ok), std::memory_order_relaxed);
  if (ok) {
    running_.push([this] {
      guard_.try_call<&cupti_api::cuptiActivityDisable>(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
    });
  } else if (code != CUPTI_ERROR_NOT_READY) {
    warnings.push_back("unified-memory counters will be missing: " + ok.message() +
                       ". All else is traced.");
  }
}

result<void> cupti_tracer::start(trace_options const& options, std::vector<std::string>& warnings) {
  if (auto ok = attach(); !ok) return ok;
  pool_.keep_ready(4);
  callbacks_.switches().enter_at_last();
  auto started = start_kinds(options, warnings);
  callbacks_.switches().leave();
  return started;
}

result<void> cupti_tracer::start_kinds(trace_options const& options,
                                       std::vector<std::string>& warnings) {
  set_attributes();
  auto failed = [this](result<void> why) {
    running_.undo_all();
    return why;
  };
  if (auto ok = guard_.call<&cupti_api::cuptiActivityRegisterCallbacks>(&request_buffer,
                                                                        &complete_buffer);
      !ok) {
    return failed(ok);
  }
  if (options.whole_graphs) listen_to_graphs(options);
  if (auto ok = enable_launch_callbacks(); !ok) return failed(ok);
  if (auto ok = kernels_.want(true); !ok) return failed(ok);
  running_.push([this] { (void)kernels_.want(false); });
  enable_kind(CUPTI_ACTIVITY_KIND_MEMCPY, "memory copies", warnings);
  enable_kind(CUPTI_ACTIVITY_KIND_MEMCPY2, "peer copies", warnings);
  enable_kind(CUPTI_ACTIVITY_KIND_MEMSET, "memory sets", warnings);
  enable_calls(options, warnings);
  if (options.sync)
    enable_kind(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "synchronization records", warnings);
  if (options.cuda_memory)
    enable_kind(CUPTI_ACTIVITY_KIND_MEMORY2, "device memory allocations", warnings);
  records_unified_memory_.store(false, std::memory_order_relaxed);
  if (options.unified_memory) enable_unified_memory(warnings);
  if (options.whole_graphs) choose_graph_levels(warnings);
  return {};
}

/// Called last, so that graph launches which began before their callbacks were on have more time to
/// return. Undone first, while launch callbacks are still on.
void cupti_tracer::choose_graph_levels(std::vector<std::string>& warnings) {
  running_.push([this] { graphs_.end(); });
  if (auto const ok = graphs_.switch_on(); !ok)
    warnings.push_back("graph-level records will be missing: " + ok.message() +
                       ". All else is traced.");
}

bool cupti_tracer::stop() noexcept {
  if (!callbacks_.switches().enter_soon()) return false;
  stop_kinds();
  callbacks_.switches().leave();
  return true;
}

void cupti_tracer::stop_kinds() noexcept {
  waits_for_cuda_.store(false, std::memory_order_release);
  if (attached()) {
    running_.undo_all();
  } else {
    running_.forget_all();  // CUPTI has shut itself down: nothing to undo
    graphs_.forget();
  }
}

void cupti_tracer::unsubscribe() noexcept {
  guard_.try_call<&cupti_api::cuptiUnsubscribe>(subscriber());
  subscriber_.store(nullptr, std::memory_order_release);
  graphs_.forget();
}

bool cupti_tracer::leave() noexcept {
  // cuptiFinalize must not run during a flush on another thread: it would unload the library under
  // that thread.
  if (in_flush_.test_and_set(std::memory_order_acquire)) return false;
  auto const is_the_moment = callbacks_.switches().enter();
  if (is_the_moment) {
    stop_kinds();
    callbacks_.switches().leave();  // so that no thread waits in a callback during cuptiFinalize
    if (attached() && !defects_.cannot_be_left) {
      fetch_dropped();
      unsubscribe();
      guard_.try_call<&cupti_api::cuptiFinalize>();
    }
  }
  in_flush_.clear(std::memory_order_release);
  return is_the_moment;
}

void cupti_tracer::abandon() noexcept {
  kernels_.abandon();
  graphs_.abandon();
  subscriber_.store(nullptr, std::memory_order_release);
}

void cupti_tracer::listen_to_any_call() noexcept {
  if (!attached()) return;
  guard_.try_call<&cupti_api::cuptiEnableDomain>(1u, subscriber(), CUPTI_CB_DOMAIN_DRIVER_API);
}

bool cupti_tracer::other_client_records() const noexcept {
  return shared_ != nullptr && shared_->other_client_records();
}

void cupti_tracer::observe_other_client(other_client_observer& observer) noexcept {
  if (shared_ != nullptr) shared_->observe(observer);
}

std::string cupti_tracer::chip_name(std::size_t device) const {
  CUpti_Device_GetChipName_Params params{};
  params.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE;
  params.deviceIndex = device;
  if (!guard_.try_call<&cupti_api::cuptiDeviceGetChipName>(&params) || params.pChipName == nullptr)
    return {};
  return params.pChipName;
}

bool cupti_tracer::flush(bool forced) noexcept {
  // Two threads inside cuptiActivityFlushAll have been seen to block each other forever.
  if (in_flush_.test_and_set(std::memory_order_acquire)) return false;
  auto flushed = true;
  if (attached()) {
    auto const code = cupti_.api.cuptiActivityFlushAll(
        forced ? static_cast<std::uint32_t>(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) : 0u);
    flushed = code != CUPTI_ERROR_NOT_READY;  // another client of CUPTI is flushing
    fetch_dropped();
  }
  in_flush_.clear(std::memory_order_release);
  return flushed;
}

// CUPTI resets its count at each query.
void cupti_tracer::fetch_dropped() noexcept {
  std::size_t more = 0;
  if (attached() &&
      guard_.try_call<&cupti_api::cuptiActivityGetNumDroppedRecords>(nullptr, 0u, &more)) {
    dropped_.fetch_add(more, std::memory_order_relaxed);
  }
}

void cupti_tracer::request_buffer(std::uint8_t** buffer, std::size_t* size,
                                  std::size_t* max_records) {
  *buffer = nullptr;
  *size = 0;
  *max_records = 0;  // no limit: as many as fit
  auto* const tracer = the_tracer.load(std::memory_order_acquire);
  if (tracer == nullptr || is_forked_child()) return;
  auto const taken = tracer->pool_.take();
  *buffer = taken.bytes;
  *size = taken.size;
}

void cupti_tracer::complete_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t size,
                                   std::size_t used) {
  auto* const tracer = the_tracer.load(std::memory_order_acquire);
  if (tracer == nullptr || buffer == nullptr || is_forked_child()) return;
  if (!tracer->pool_.is_ours(buffer)) {  // another client's buffer: we must not free it
    tracer->foreign_buffers_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (!tracer->filled_.push({{buffer, size}, used}))
    tracer->buffers_lost_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace gpuprof::guest
