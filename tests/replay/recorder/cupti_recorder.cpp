// SPDX-License-Identifier: Apache-2.0
#include "replay/recorder/cupti_recorder.hpp"

#include "base/process.hpp"
#include "base/time.hpp"
#include "guest/cupti/guard.hpp"
#include "guest/cupti/loader.hpp"
#include "guest/driver/cuda_driver.hpp"
#include "replay/format/record_fields.hpp"
#include "replay/recorder/session_log.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gpuprof::replay {
using namespace guest;
namespace {

constexpr std::size_t buffer_bytes = 1 << 20;

struct cupti_in_use {
  loaded_cupti library;
  cupti_guard guard{library.api};
  CUpti_SubscriberHandle subscriber = nullptr;
  CUptiResult (*context_id)(CUcontext, std::uint32_t*) = nullptr;
};
cupti_in_use* in_use = nullptr;  // made once, never destroyed: CUPTI may call late

struct named_kind {
  std::string_view name;
  CUpti_ActivityKind kind;
};
constexpr named_kind kinds[] = {
    {"kernel", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}, {"memcpy", CUPTI_ACTIVITY_KIND_MEMCPY},
    {"memcpy", CUPTI_ACTIVITY_KIND_MEMCPY2},           {"memset", CUPTI_ACTIVITY_KIND_MEMSET},
    {"runtime", CUPTI_ACTIVITY_KIND_RUNTIME},          {"driver", CUPTI_ACTIVITY_KIND_DRIVER},
    {"sync", CUPTI_ACTIVITY_KIND_SYNCHRONIZATION},     {"memory", CUPTI_ACTIVITY_KIND_MEMORY2},
    {"graph", CUPTI_ACTIVITY_KIND_GRAPH_TRACE},  // takes the place of the records of its nodes
};
constexpr std::string_view kinds_by_default = "kernel,memcpy,memset,runtime,driver,sync,memory";

bool is_of_interest(std::string_view call) {
  for (auto const* const start :
       {"cuLaunchKernel", "cuLaunchCooperativeKernel", "cuGraphLaunch", "cuProfilerStart",
        "cuProfilerStop", "cuMemcpy", "cuMemset", "cuDevicePrimaryCtxReset", "cuCtxDestroy"}) {
    if (call.substr(0, std::strlen(start)) == start) return true;
  }
  return false;
}

void on_call(CUpti_CallbackId id, CUpti_CallbackData const& data) {
  event e;
  e.kind = event_kind::call;
  e.code = id;
  e.site = static_cast<std::uint32_t>(data.callbackSite);
  e.correlation = data.correlationId;
  e.context = data.contextUid;
  if (data.callbackSite == CUPTI_API_EXIT && data.functionReturnValue != nullptr) {
    e.result = *static_cast<int const*>(data.functionReturnValue);
  }
  if (data.symbolName != nullptr) e.text = session_log::get().text(data.symbolName);
  session_log::get().add(e);
}

void on_resource(CUpti_CallbackId id, CUpti_ResourceData const& data) {
  event e;
  e.kind = event_kind::resource;
  e.code = id;
  bool const of_context = id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED ||
                          id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING;
  if (of_context && in_use->context_id != nullptr) in_use->context_id(data.context, &e.context);
  session_log::get().add(e);
}

void CUPTIAPI on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          void const* data) {
  if (is_forked_child()) return;
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
    on_call(id, *static_cast<CUpti_CallbackData const*>(data));
  } else if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    on_resource(id, *static_cast<CUpti_ResourceData const*>(data));
  }
}

void CUPTIAPI request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, buffer_bytes));
  *size = *buffer != nullptr ? buffer_bytes : 0;
  *max_records = 0;
}

/// Replaces texts by their index and clears pointers that mean nothing elsewhere.
void remove_pointers(std::span<std::byte> record, record_fields const& fields) {
  auto const holds = [&](field at) { return at != 0 && at + sizeof(void*) <= record.size(); };
  for (auto const at : fields.texts) {
    if (!holds(at)) continue;
    auto const* const text = get_field<char const*>(record.data(), at);
    std::uint64_t const index = text != nullptr ? session_log::get().text(text) : 0;
    set_field(record.data(), at, index);
  }
  for (auto const at : fields.other_pointers) {
    if (holds(at)) set_field(record.data(), at, std::uint64_t{0});
  }
}

/// CUPTI alone knows how long its records are: the length is the way to the next one.
record_stream read_buffer(std::uint8_t* buffer, std::size_t used) {
  record_stream records;
  std::unordered_map<std::uint32_t, std::size_t> length_of_kind;
  auto const next = in_use->library.api.cuptiActivityGetNextRecord;
  CUpti_Activity* record = nullptr;
  auto code = next(buffer, used, &record);
  while (code == CUPTI_SUCCESS) {
    auto* const here = reinterpret_cast<std::uint8_t*>(record);
    auto const kind = kind_of_record(here);
    auto const* const fields = fields_of(kind);
    code = next(buffer, used, &record);
    auto& length = length_of_kind[kind];
    if (code == CUPTI_SUCCESS) {
      length = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(record) - here);
    } else if (length == 0 && fields != nullptr) {
      length = record_size(*fields, in_use->library.version);
    }
    if (fields == nullptr || length == 0) continue;
    auto const left = static_cast<std::size_t>(buffer + used - here);
    std::span const bytes(reinterpret_cast<std::byte*>(here), std::min(length, left));
    remove_pointers(bytes, *fields);
    records.add(bytes);
  }
  return records;
}

void CUPTIAPI complete_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t size,
                              std::size_t used) {
  if (buffer == nullptr) return;
  auto const records = read_buffer(buffer, used);
  session_log::get().add_records(
      {.time = now().value, .size = size, .used = used, .records = records.count()}, records);
  std::free(buffer);
}

result<void> enable_callbacks() {
  auto const& api = in_use->library.api;
  for (std::uint32_t id = 1; id < 1024; ++id) {
    char const* name = nullptr;
    if (api.cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) != CUPTI_SUCCESS) continue;
    if (name == nullptr || !is_of_interest(name)) continue;
    auto on = in_use->guard.call<&cupti_api::cuptiEnableCallback>(1u, in_use->subscriber,
                                                                  CUPTI_CB_DOMAIN_DRIVER_API, id);
    if (!on) return on;
  }
  for (auto const id :
       {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
        CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED}) {
    auto on = in_use->guard.call<&cupti_api::cuptiEnableCallback>(
        1u, in_use->subscriber, CUPTI_CB_DOMAIN_RESOURCE, static_cast<CUpti_CallbackId>(id));
    if (!on) return on;
  }
  return {};
}

result<void> enable_kinds() {
  auto wanted = environment("GPUPROF_RECORD_KINDS");
  if (wanted.empty()) wanted = kinds_by_default;
  session_log::get().fact("kinds", wanted);
  for (auto const& k : kinds) {
    if (("," + wanted + ",").find("," + std::string(k.name) + ",") == std::string::npos) continue;
    auto on = in_use->guard.call<&cupti_api::cuptiActivityEnable>(k.kind);
    if (!on) return error{std::string(k.name) + ": " + on.message()};
  }
  return {};
}

}  // namespace

result<void> start_cupti() {
  auto loaded = load_cupti(static_cast<unsigned>(driver_cuda_version()) / 1000);
  if (!loaded) return error{loaded.message()};
  in_use = new cupti_in_use{std::move(*loaded)};
  if (void* const library = dlopen(in_use->library.path.c_str(), RTLD_NOW | RTLD_NOLOAD)) {
    in_use->context_id =
        reinterpret_cast<decltype(in_use->context_id)>(dlsym(library, "cuptiGetContextId"));
  }
  session_log::get().fact("cupti_version", std::to_string(in_use->library.version));
  auto const& guard = in_use->guard;
  if (auto ok = guard.call<&cupti_api::cuptiSubscribe>(
          &in_use->subscriber, reinterpret_cast<CUpti_CallbackFunc>(&on_callback), nullptr);
      !ok) {
    return ok;
  }
  if (auto ok =
          guard.call<&cupti_api::cuptiActivityRegisterCallbacks>(&request_buffer, &complete_buffer);
      !ok) {
    return ok;
  }
  guard.try_call<&cupti_api::cuptiSetThreadIdType>(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  if (auto ok = enable_callbacks(); !ok) return ok;
  return enable_kinds();
}

void finish_cupti() {
  if (in_use == nullptr || in_use->subscriber == nullptr) return;
  in_use->guard.try_call<&cupti_api::cuptiActivityFlushAll>(
      static_cast<std::uint32_t>(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  std::size_t dropped = 0;
  in_use->guard.try_call<&cupti_api::cuptiActivityGetNumDroppedRecords>(nullptr, 0u, &dropped);
  if (dropped != 0) session_log::get().fact("dropped_records", std::to_string(dropped));
}

}  // namespace gpuprof::replay
