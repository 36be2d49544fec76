// SPDX-License-Identifier: Apache-2.0
// CUPTI's functions of which there is one for all, under CUPTI's names: who else uses CUPTI in this
// process (torch.profiler is linked against these, Proton and XLA ask dlsym for them) comes through
// here and shares it with us. Where libgpuprof.so stands behind libcupti in the search order, or
// was opened by the driver alone, these are never called.
#include "cupti/exports/cupti_exports.hpp"

#include "base/no_cancellation.hpp"
#include "base/process.hpp"
#include "base/real_dlsym.hpp"
#include "cupti/guard.hpp"
#include "cupti/sharing/shared_cupti.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <type_traits>
#include <utility>

namespace gpuprof {
namespace {

// GPUPROF_SHARE_CUPTI, read when the library is loaded: later, on whichever thread, it would be a
// race with setenv(). Other libraries may be loaded before, and have threads.
constinit std::atomic<bool> is_sharing_on{true};

__attribute__((constructor)) void read_option() noexcept {
  char const* const text = std::getenv("GPUPROF_SHARE_CUPTI");
  for (auto const* const no : {"0", "false", "no", "off"})
    if (text != nullptr && std::strcmp(text, no) == 0) is_sharing_on = false;
}

bool shares() noexcept {
  return is_sharing_on && !is_forked_child() && !has_rights_of_others();
}

shared_cupti* shared_of_process() noexcept {
  try {
    auto const found = shared_cupti::of_process(0);
    return found ? *found : nullptr;
  } catch (...) {
    return nullptr;
  }
}

/// As if this library were not there: what the program would have found without it.
void* without_us(char const* name) noexcept {
  if (auto* const next = real_dlsym()(RTLD_NEXT, name)) return next;
  try {
    for (auto const& candidate : cupti_candidates(0))
      if (auto* const library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_NOLOAD))
        return real_dlsym()(library, name);
  } catch (...) {
  }
  return nullptr;
}

/// `act` for a client that shares; CUPTI's own function for one that does not. What the client's
/// own functions throw goes through, as it goes through CUPTI.
template <auto Member, class Act, class... Args>
CUptiResult through(Act act, Args... args) {
  no_cancellation const here;
  auto* const shared = shares() ? shared_of_process() : nullptr;
  if (shared != nullptr && shared->real().api.*Member != nullptr) {
    shared->program_comes();
    return act(*shared);
  }
  using function = std::remove_reference_t<decltype(std::declval<cupti_api>().*Member)>;
  auto const own = reinterpret_cast<function>(without_us(cupti_function_name<Member>));
  return own != nullptr ? own(args...) : CUPTI_ERROR_NOT_SUPPORTED;
}

/// Of the library that is shared; looked up once.
template <class Function>
Function in_shared(std::atomic<Function>& known, char const* name) noexcept {
  if (auto const there = known.load(std::memory_order_acquire)) return there;
  auto const* const shared = shares() ? shared_of_process() : nullptr;
  if (shared == nullptr) return reinterpret_cast<Function>(without_us(name));
  auto const found = reinterpret_cast<Function>(real_dlsym()(shared->real().library, name));
  known.store(found, std::memory_order_release);
  return found;
}

/// "libtorch_cpu.so", of an address in it.
std::string file_of(void const* address) noexcept {
  try {
    auto const path = path_of_object_holding(address);
    return path.substr(path.find_last_of('/') + 1);
  } catch (...) {
    return {};
  }
}

constexpr auto program = cupti_client::program;

}  // namespace
}  // namespace gpuprof

using gpuprof::program;
using gpuprof::shared_cupti;
using gpuprof::through;

#define GPUPROF_HIDDEN __attribute__((visibility("hidden")))

extern "C" {

GPUPROF_HIDDEN CUptiResult shared_cuptiSubscribe(CUpti_SubscriberHandle* handle,
                                                 CUpti_CallbackFunc function, void* data) {
  return through<&gpuprof::cupti_api::cuptiSubscribe>(
      [&](shared_cupti& s) { return s.subscribe(program, handle, function, data, nullptr); },
      handle, function, data);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiSubscribe_v2(CUpti_SubscriberHandle* handle,
                                                    CUpti_CallbackFunc function, void* data,
                                                    CUpti_SubscriberParams* named) {
  return through<&gpuprof::cupti_api::cuptiSubscribe_v2>(
      [&](shared_cupti& s) { return s.subscribe(program, handle, function, data, named); }, handle,
      function, data, named);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiUnsubscribe(CUpti_SubscriberHandle handle) {
  return through<&gpuprof::cupti_api::cuptiUnsubscribe>(
      [&](shared_cupti& s) { return s.unsubscribe(program, handle); }, handle);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiEnableCallback(std::uint32_t on,
                                                      CUpti_SubscriberHandle handle,
                                                      CUpti_CallbackDomain domain,
                                                      CUpti_CallbackId id) {
  return through<&gpuprof::cupti_api::cuptiEnableCallback>(
      [&](shared_cupti& s) { return s.enable_callback(program, on, handle, domain, id); }, on,
      handle, domain, id);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiEnableDomain(std::uint32_t on, CUpti_SubscriberHandle handle,
                                                    CUpti_CallbackDomain domain) {
  return through<&gpuprof::cupti_api::cuptiEnableDomain>(
      [&](shared_cupti& s) { return s.enable_domain(program, on, handle, domain); }, on, handle,
      domain);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiEnableAllDomains(std::uint32_t on,
                                                        CUpti_SubscriberHandle handle) {
  return through<&gpuprof::cupti_api::cuptiEnableAllDomains>(
      [&](shared_cupti& s) { return s.enable_all_domains(program, on, handle); }, on, handle);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiGetCallbackState(std::uint32_t* on,
                                                        CUpti_SubscriberHandle handle,
                                                        CUpti_CallbackDomain domain,
                                                        CUpti_CallbackId id) {
  return through<&gpuprof::cupti_api::cuptiGetCallbackState>(
      [&](shared_cupti& s) { return s.callback_state(program, on, handle, domain, id); }, on,
      handle, domain, id);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiActivityRegisterCallbacks(
    CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete) {
  return through<&gpuprof::cupti_api::cuptiActivityRegisterCallbacks>(
      [&](shared_cupti& s) {
        return s.register_buffers(program, {request, complete});
      },
      request, complete);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiActivityEnable(CUpti_ActivityKind kind) {
  auto const* const caller = __builtin_return_address(0);
  return through<&gpuprof::cupti_api::cuptiActivityEnable>(
      [&](shared_cupti& s) { return s.enable_kind(program, kind, gpuprof::file_of(caller)); },
      kind);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiActivityDisable(CUpti_ActivityKind kind) {
  return through<&gpuprof::cupti_api::cuptiActivityDisable>(
      [&](shared_cupti& s) { return s.disable_kind(program, kind); }, kind);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiActivityEnableContext(CUcontext context,
                                                             CUpti_ActivityKind kind) {
  auto const* const caller = __builtin_return_address(0);
  return through<&gpuprof::cupti_api::cuptiActivityEnableContext>(
      [&](shared_cupti& s) { return s.enable_kind_in(context, kind, gpuprof::file_of(caller)); },
      context, kind);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiActivityDisableContext(CUcontext context,
                                                              CUpti_ActivityKind kind) {
  return through<&gpuprof::cupti_api::cuptiActivityDisableContext>(
      [&](shared_cupti& s) { return s.disable_kind_in(context, kind); }, context, kind);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiActivityFlushAll(std::uint32_t flag) {
  return through<&gpuprof::cupti_api::cuptiActivityFlushAll>(
      [&](shared_cupti& s) { return s.flush(program, flag); }, flag);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiActivityEnableRuntimeApi(CUpti_CallbackId id,
                                                                std::uint8_t on) {
  auto const* const caller = __builtin_return_address(0);
  return through<&gpuprof::cupti_api::cuptiActivityEnableRuntimeApi>(
      [&](shared_cupti& s) {
        return s.enable_call(CUPTI_ACTIVITY_KIND_RUNTIME, id, on, gpuprof::file_of(caller));
      },
      id, on);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiActivityEnableDriverApi(CUpti_CallbackId id,
                                                               std::uint8_t on) {
  auto const* const caller = __builtin_return_address(0);
  return through<&gpuprof::cupti_api::cuptiActivityEnableDriverApi>(
      [&](shared_cupti& s) {
        return s.enable_call(CUPTI_ACTIVITY_KIND_DRIVER, id, on, gpuprof::file_of(caller));
      },
      id, on);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiActivityFlushPeriod(std::uint32_t ms) {
  return through<&gpuprof::cupti_api::cuptiActivityFlushPeriod>(
      [&](shared_cupti& s) { return s.flush_every(ms); }, ms);
}

GPUPROF_HIDDEN CUptiResult
shared_cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  return through<&gpuprof::cupti_api::cuptiActivityRegisterTimestampCallback>(
      [&](shared_cupti& s) { return s.register_clock(clock); }, clock);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiFinalize(void) {
  return through<&gpuprof::cupti_api::cuptiFinalize>(
      [](shared_cupti& s) { return s.finalize(program); });
}

#define GPUPROF_FORWARD(name, parameters, arguments)                       \
  GPUPROF_HIDDEN CUptiResult shared_##name parameters {                    \
    static std::atomic<decltype(&::name)> known{nullptr};                  \
    auto const there = gpuprof::in_shared(known, #name);                   \
    return there != nullptr ? there arguments : CUPTI_ERROR_NOT_SUPPORTED; \
  }
GPUPROF_FORWARD(cuptiGetTimestamp, (std::uint64_t * time), (time))
GPUPROF_FORWARD(cuptiSetThreadIdType, (CUpti_ActivityThreadIdType type), (type))
GPUPROF_FORWARD(cuptiActivityGetNextRecord,
                (std::uint8_t * buffer, std::size_t used, CUpti_Activity** record),
                (buffer, used, record))
GPUPROF_FORWARD(cuptiActivityGetNumDroppedRecords,
                (CUcontext context, std::uint32_t stream, std::size_t* dropped),
                (context, stream, dropped))
GPUPROF_FORWARD(cuptiActivityGetAttribute,
                (CUpti_ActivityAttribute attribute, std::size_t* size, void* value),
                (attribute, size, value))
GPUPROF_FORWARD(cuptiActivitySetAttribute,
                (CUpti_ActivityAttribute attribute, std::size_t* size, void* value),
                (attribute, size, value))
GPUPROF_FORWARD(cuptiActivityPushExternalCorrelationId,
                (CUpti_ExternalCorrelationKind kind, std::uint64_t id), (kind, id))
GPUPROF_FORWARD(cuptiActivityPopExternalCorrelationId,
                (CUpti_ExternalCorrelationKind kind, std::uint64_t* last), (kind, last))
GPUPROF_FORWARD(cuptiActivityEnableLatencyTimestamps, (std::uint8_t on), (on))
#undef GPUPROF_FORWARD

// Two names for each: CUPTI's, which the loader may bind to another library, and one of ours.
#define GPUPROF_EXPORT_SHARED(name) \
  decltype(name) name __attribute__((visibility("default"), alias("shared_" #name)));
GPUPROF_SHARED_FUNCTIONS(GPUPROF_EXPORT_SHARED)
GPUPROF_FORWARDED_FUNCTIONS(GPUPROF_EXPORT_SHARED)
#undef GPUPROF_EXPORT_SHARED

}  // extern "C"

namespace gpuprof {

void* shared_function(char const* name) noexcept {
  if (!shares() || shared_of_process() == nullptr) return nullptr;
#define GPUPROF_COMPARE(function) \
  if (std::strcmp(name, #function) == 0) return reinterpret_cast<void*>(&shared_##function);
  GPUPROF_SHARED_FUNCTIONS(GPUPROF_COMPARE)
#undef GPUPROF_COMPARE
  return nullptr;
}

void* in_one_library(char const* name, void* function) noexcept {
  auto const* const shared = shares() ? shared_of_process() : nullptr;
  if (shared == nullptr) return function;
  if (auto* const there = real_dlsym()(shared->real().library, name)) return there;
  dlerror();  // whoever asks next is answered for his own question
  return function;
}

}  // namespace gpuprof
