// SPDX-License-Identifier: Apache-2.0
// Handles the program's calls of CUPTI. Functions for which CUPTI has one state for all clients go
// to the program's seat in shared_cupti, all others to the shared libcupti. Calls come through
// libgpuprof_preload.so, if that is loaded before libcupti.
#include "base/no_cancellation.hpp"
#include "base/process.hpp"
#include "base/real_dlsym.hpp"
#include "guest/cupti/exports/cupti_names.hpp"
#include "guest/cupti/exports/preload_interface.hpp"
#include "guest/cupti/sharing/shared_cupti.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>

namespace gpuprof::guest {
namespace {

// GPUPROF_SHARE_CUPTI is read when the library is loaded, because reading it later could be a race
// with setenv(). Other libraries may be loaded earlier and have threads.
constinit std::atomic<bool> is_sharing_on{true};

__attribute__((constructor)) void read_option() noexcept {
  char const* const text = std::getenv("GPUPROF_SHARE_CUPTI");
  for (auto const* const no : {"0", "false", "no", "off"})
    if (text != nullptr && std::strcmp(text, no) == 0) is_sharing_on = false;
}

bool shares() noexcept {
  return is_sharing_on && !is_forked_child() && !has_rights_of_others();
}

/// Called only for a call of CUPTI, because this loads CUPTI and starts what forked children cannot
/// share. Tried once: if the program's libcupti is too old to be shared, it stays the only one.
shared_cupti* shared_of_process() noexcept {
  static constinit std::atomic<bool> has_failed{false};
  if (has_failed) return shared_cupti::existing();
  try {
    auto const found = shared_cupti::of_process(0);
    if (found) return *found;
  } catch (...) {
  }
  has_failed = true;
  return nullptr;
}

/// Runs `act` for a client that shares CUPTI. Exceptions from the client's own functions pass
/// through, as with CUPTI. An inert child, which has these functions from its parent, calls CUPTI's
/// own.
template <auto Member, class Act, class... Args>
CUptiResult through(Act act, Args... args) {
  no_cancellation const here;
  auto* const shared = shared_of_process();
  if (shared == nullptr) return CUPTI_ERROR_NOT_SUPPORTED;
  if (!shares()) return (shared->real().api.*Member)(args...);
  shared->program_comes();
  return act(*shared);
}

/// Returns the name of the file that holds an address, such as "libtorch_cpu.so".
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
}  // namespace gpuprof::guest

using gpuprof::guest::program;
using gpuprof::guest::shared_cupti;
using gpuprof::guest::through;

#define GPUPROF_HIDDEN __attribute__((visibility("hidden")))

extern "C" {

GPUPROF_HIDDEN CUptiResult shared_cuptiSubscribe(CUpti_SubscriberHandle* handle,
                                                 CUpti_CallbackFunc function, void* data) {
  return through<&gpuprof::guest::cupti_api::cuptiSubscribe>(
      [&](shared_cupti& s) { return s.subscribe(program, handle, function, data, nullptr); },
      handle, function, data);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiSubscribe_v2(CUpti_SubscriberHandle* handle,
                                                    CUpti_CallbackFunc function, void* data,
                                                    CUpti_SubscriberParams* named) {
  return through<&gpuprof::guest::cupti_api::cuptiSubscribe_v2>(
      [&](shared_cupti& s) { return s.subscribe(program, handle, function, data, named); }, handle,
      function, data, named);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiUnsubscribe(CUpti_SubscriberHandle handle) {
  return through<&gpuprof::guest::cupti_api::cuptiUnsubscribe>(
      [&](shared_cupti& s) { return s.unsubscribe(program, handle); }, handle);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiEnableCallback(std::uint32_t on,
                                                      CUpti_SubscriberHandle handle,
                                                      CUpti_CallbackDomain domain,
                                                      CUpti_CallbackId id) {
  return through<&gpuprof::guest::cupti_api::cuptiEnableCallback>(
      [&](shared_cupti& s) { return s.enable_callback(program, on, handle, domain, id); }, on,
      handle, domain, id);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiEnableDomain(std::uint32_t on, CUpti_SubscriberHandle handle,
                                                    CUpti_CallbackDomain domain) {
  return through<&gpuprof::guest::cupti_api::cuptiEnableDomain>(
      [&](shared_cupti& s) { return s.enable_domain(program, on, handle, domain); }, on, handle,
      domain);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiEnableAllDomains(std::uint32_t on,
                                                        CUpti_SubscriberHandle handle) {
  return through<&gpuprof::guest::cupti_api::cuptiEnableAllDomains>(
      [&](shared_cupti& s) { return s.enable_all_domains(program, on, handle); }, on, handle);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiGetCallbackState(std::uint32_t* on,
                                                        CUpti_SubscriberHandle handle,
                                                        CUpti_CallbackDomain domain,
                                                        CUpti_CallbackId id) {
  return through<&gpuprof::guest::cupti_api::cuptiGetCallbackState>(
      [&](shared_cupti& s) { return s.callback_state(program, on, handle, domain, id); }, on,
      handle, domain, id);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiActivityRegisterCallbacks(
    CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete) {
  return through<&gpuprof::guest::cupti_api::cuptiActivityRegisterCallbacks>(
      [&](shared_cupti& s) {
        return s.register_buffers(program, {request, complete});
      },
      request, complete);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiActivityEnable(CUpti_ActivityKind kind) {
  auto const* const caller = __builtin_return_address(0);
  return through<&gpuprof::guest::cupti_api::cuptiActivityEnable>(
      [&](shared_cupti& s) {
        return s.enable_kind(program, kind, gpuprof::guest::file_of(caller));
      },
      kind);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiActivityDisable(CUpti_ActivityKind kind) {
  return through<&gpuprof::guest::cupti_api::cuptiActivityDisable>(
      [&](shared_cupti& s) { return s.disable_kind(program, kind); }, kind);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiActivityEnableContext(CUcontext context,
                                                             CUpti_ActivityKind kind) {
  auto const* const caller = __builtin_return_address(0);
  return through<&gpuprof::guest::cupti_api::cuptiActivityEnableContext>(
      [&](shared_cupti& s) {
        return s.enable_kind_in(context, kind, gpuprof::guest::file_of(caller));
      },
      context, kind);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiActivityDisableContext(CUcontext context,
                                                              CUpti_ActivityKind kind) {
  return through<&gpuprof::guest::cupti_api::cuptiActivityDisableContext>(
      [&](shared_cupti& s) { return s.disable_kind_in(context, kind); }, context, kind);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiActivityFlushAll(std::uint32_t flag) {
  return through<&gpuprof::guest::cupti_api::cuptiActivityFlushAll>(
      [&](shared_cupti& s) { return s.flush(program, flag); }, flag);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiActivityEnableRuntimeApi(CUpti_CallbackId id,
                                                                std::uint8_t on) {
  auto const* const caller = __builtin_return_address(0);
  return through<&gpuprof::guest::cupti_api::cuptiActivityEnableRuntimeApi>(
      [&](shared_cupti& s) {
        return s.enable_call(CUPTI_ACTIVITY_KIND_RUNTIME, id, on, gpuprof::guest::file_of(caller));
      },
      id, on);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiActivityEnableDriverApi(CUpti_CallbackId id,
                                                               std::uint8_t on) {
  auto const* const caller = __builtin_return_address(0);
  return through<&gpuprof::guest::cupti_api::cuptiActivityEnableDriverApi>(
      [&](shared_cupti& s) {
        return s.enable_call(CUPTI_ACTIVITY_KIND_DRIVER, id, on, gpuprof::guest::file_of(caller));
      },
      id, on);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiActivityFlushPeriod(std::uint32_t ms) {
  return through<&gpuprof::guest::cupti_api::cuptiActivityFlushPeriod>(
      [&](shared_cupti& s) { return s.flush_every(ms); }, ms);
}

GPUPROF_HIDDEN CUptiResult
shared_cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  return through<&gpuprof::guest::cupti_api::cuptiActivityRegisterTimestampCallback>(
      [&](shared_cupti& s) { return s.register_clock(clock); }, clock);
}

GPUPROF_HIDDEN CUptiResult shared_cuptiFinalize(void) {
  return through<&gpuprof::guest::cupti_api::cuptiFinalize>(
      [](shared_cupti& s) { return s.finalize(program); });
}

}  // extern "C"

namespace gpuprof::guest {
namespace {

bool is_query(char const* name) noexcept {
#define GPUPROF_COMPARE(function) \
  if (std::strcmp(name, #function) == 0) return true;
  GPUPROF_CUPTI_QUERIES(GPUPROF_COMPARE)
  GPUPROF_NEWER_QUERIES(GPUPROF_COMPARE)
#undef GPUPROF_COMPARE
  return false;
}

/// Returns the function of the program's seat, or null if CUPTI lacks the function or has separate
/// state for each client anyway.
void* at_its_seat(char const* name, cupti_api const& real) noexcept {
#define GPUPROF_COMPARE(function)                                    \
  if (real.function != nullptr && std::strcmp(name, #function) == 0) \
    return reinterpret_cast<void*>(&shared_##function);
  GPUPROF_SHARED_FUNCTIONS(GPUPROF_COMPARE)
#undef GPUPROF_COMPARE
  return nullptr;
}

/// Looks in a libcupti that is loaded in a way that only its client sees it.
void* in_mapped_library(char const* name) noexcept {
  try {
    for (auto const& candidate : cupti_candidates(0))
      if (auto* const library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_NOLOAD))
        return real_dlsym()(library, name);
  } catch (...) {
  }
  return nullptr;
}

void* where_it_goes(char const* name, void* found, bool& stays) noexcept {
  auto const begins = !is_query(name);
  auto* const shared = !shares() ? nullptr
                       : begins  ? shared_of_process()
                                 : shared_cupti::existing();
  if (shared != nullptr) {
    stays = true;
    if (auto* const ours = at_its_seat(name, shared->real().api)) return ours;
    if (begins) shared->program_comes();
    // A client may have brought its own libcupti. It must use the shared one, because of two in a
    // process only one gets records, and their records differ.
    if (auto* const there = real_dlsym()(shared->real().library, name)) return there;
    stays = false;
  }
  return found != nullptr ? found : in_mapped_library(name);
}

void* where_call_goes(char const* name, void* found, bool& stays) noexcept {
  auto const saved_errno = errno;
  no_cancellation const here;
  auto* const target = where_it_goes(name, found, stays);
  dlerror();  // the program must see errors of its own calls only
  errno = saved_errno;
  return target;
}

void sees_all_clients() noexcept {
  shared_cupti::note_all_clients_are_seen();
}

constexpr preload_interface interface {
  preload_interface_version, &shares, &where_call_goes, &sees_all_clients
};

}  // namespace
}  // namespace gpuprof::guest

extern "C" __attribute__((visibility("default"))) gpuprof::guest::preload_interface const*
libgpuprof_for_preload(void) {
  return &gpuprof::guest::interface;
}
