// SPDX-License-Identifier: Apache-2.0
// The functions of libcupti.so.13 that clients call: checks of the rules, then the library's state.
#include "replay/cupti/callback_names.hpp"
#include "replay/cupti/contract.hpp"
#include "replay/cupti/entry.hpp"
#include "replay/cupti/library.hpp"
#include "replay/format/machine.hpp"
#include "replay/format/record_fields.hpp"

#include <cupti.h>
#include <cupti_target.h>

#include <atomic>
#include <cstring>
#include <ctime>
#include <thread>

using namespace gpuprof::replay;

namespace {

std::atomic_flag flush_under_way = ATOMIC_FLAG_INIT;

}  // namespace

extern "C" {

CUptiResult cuptiGetVersion(uint32_t* version) {
  WORKS_ALWAYS();
  *version = faults::get().version;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, char const** text) {
  WORKS_ALWAYS();
  auto const* const name = result_name(result);
  *text = name != nullptr ? name : "<unknown>";
  return name != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
  WORKS_ALWAYS();
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  *timestamp =
      static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, char const** name) {
  WORKS_ALWAYS();
  auto const* const found = callback_name(domain, id);
  if (found == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = found;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                           void* context) {
  NEEDS_DRIVER();
  return library::get().subscribe(subscriber, callback, context, nullptr);
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                              void* context, CUpti_SubscriberParams* params) {
  NEEDS_DRIVER();
  if (params != nullptr && params->structSize != CUpti_SubscriberParams_STRUCT_SIZE) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  auto const code = library::get().subscribe(subscriber, callback, context,
                                             params != nullptr ? params->subscriberName : nullptr);
  if (code == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && params != nullptr &&
      params->oldSubscriberName != nullptr && params->oldSubscriberSize > 0) {
    auto const name = library::get().holder().substr(0, params->oldSubscriberSize - 1);
    std::memcpy(params->oldSubscriberName, name.c_str(), name.size() + 1);
  }
  return code;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
  NEEDS_DRIVER();
  return library::get().unsubscribe(subscriber);
}

CUptiResult cuptiEnableCallback(uint32_t on, CUpti_SubscriberHandle subscriber,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  NEEDS_DRIVER();
  if (!library::get().is_subscriber(subscriber)) return CUPTI_ERROR_INVALID_PARAMETER;
  return library::get().enable_callback(on != 0, domain, id);
}

CUptiResult cuptiEnableDomain(uint32_t on, CUpti_SubscriberHandle subscriber,
                              CUpti_CallbackDomain domain) {
  NEEDS_DRIVER();
  if (!library::get().is_subscriber(subscriber)) return CUPTI_ERROR_INVALID_PARAMETER;
  return library::get().enable_domain(on != 0, domain);
}

CUptiResult cuptiEnableAllDomains(uint32_t on, CUpti_SubscriberHandle subscriber) {
  NEEDS_DRIVER();
  if (!library::get().is_subscriber(subscriber)) return CUPTI_ERROR_INVALID_PARAMETER;
  for (auto const domain :
       {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_RESOURCE,
        CUPTI_CB_DOMAIN_SYNCHRONIZE, CUPTI_CB_DOMAIN_NVTX, CUPTI_CB_DOMAIN_STATE})
    library::get().enable_domain(on != 0, domain);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackState(uint32_t* on, CUpti_SubscriberHandle subscriber,
                                  CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  NEEDS_DRIVER();
  if (!library::get().is_subscriber(subscriber)) return CUPTI_ERROR_INVALID_PARAMETER;
  *on = library::get().callback_enabled(domain, id) ? 1 : 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  WORKS_ALWAYS();
  if (request == nullptr || complete == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  library::get().buffers.set_functions(request, complete);
  library::get().per_thread_fixed = true;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  NEEDS_DRIVER();
  not_inside_buffer_callback(__func__);
  return library::get().enable_kind(kind, true);
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  NEEDS_DRIVER();
  not_inside_buffer_callback(__func__);
  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && faults::get().version == 130000)
    broken("records of kernels were switched off, where the first CUPTI 13.0 may hang");
  return library::get().enable_kind(kind, false);
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId id, uint8_t on) {
  NEEDS_DRIVER();
  return library::get().enable_api_kind(CUPTI_ACTIVITY_KIND_DRIVER, id, on != 0);
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, uint8_t on) {
  NEEDS_DRIVER();
  return library::get().enable_api_kind(CUPTI_ACTIVITY_KIND_RUNTIME, id, on != 0);
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t* size,
                                      void* value) {
  NEEDS_DRIVER();
  if (size == nullptr || value == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  bool const is_byte = attribute == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER ||
                       attribute == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER ||
                       attribute == CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED;
  if (*size < (is_byte ? sizeof(uint8_t) : sizeof(size_t))) {
    return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
  }
  auto& cupti = library::get();
  bool const on = is_byte && *static_cast<uint8_t*>(value) != 0;
  if (attribute == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER) {
    cupti.buffers.set_zeroed_by_client(on);
  } else if (attribute == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER) {
    if (cupti.per_thread_fixed) {
      broken(
          "PER_THREAD_ACTIVITY_BUFFER was set after cuptiActivityRegisterCallbacks or an enable");
    }
    cupti.buffers.set_per_thread(on);
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  NEEDS_DRIVER();
  not_inside_buffer_callback(__func__);
  not_inside_other_callback(__func__);
  if (flush_under_way.test_and_set()) {
    broken(
        "two threads called cuptiActivityFlushAll at the same time; the real library can deadlock");
  }
  if (auto const pause = faults::get().slow_flush_ms; pause != 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(pause));
  }
  library::get().buffers.flush((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0);
  flush_under_way.clear();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  NEEDS_DRIVER();
  library::get().buffers.set_clock(clock);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushPeriod(uint32_t) {
  NEEDS_DRIVER();
  return CUPTI_SUCCESS;  // full and complete buffers come back by themselves, here as there
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  NEEDS_DRIVER();
  if (dropped == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *dropped = library::get().buffers.take_dropped();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t size, CUpti_Activity** record) {
  WORKS_ALWAYS();
  if (buffer == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  auto const version = faults::get().version;
  auto* next = buffer;
  if (*record != nullptr) {
    auto const* const fields = fields_of(kind_of_record(*record));
    if (fields == nullptr) return CUPTI_ERROR_INVALID_KIND;
    next = reinterpret_cast<uint8_t*>(*record) + record_size(*fields, version);
  }
  if (next + sizeof(std::uint32_t) > buffer + size) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  auto const kind = kind_of_record(next);
  if (kind == CUPTI_ACTIVITY_KIND_INVALID) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  auto const* const fields = fields_of(kind);
  if (fields == nullptr) return CUPTI_ERROR_INVALID_KIND;
  if (next + record_size(*fields, version) > buffer + size) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityConfigureUnifiedMemoryCounter(CUpti_ActivityUnifiedMemoryCounterConfig*,
                                                       uint32_t) {
  NEEDS_DRIVER();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableHWTrace(uint8_t) {
  NEEDS_DRIVER();
  return CUPTI_ERROR_NOT_SUPPORTED;  // needs Blackwell
}

CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t) {
  NEEDS_DRIVER();
  return CUPTI_SUCCESS;  // times that the recording has are there in any case
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  WORKS_ALWAYS();
  library::get().system_thread_ids = type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType* type) {
  WORKS_ALWAYS();
  *type = library::get().system_thread_ids ? CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
                                           : CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetDeviceId(CUcontext, uint32_t* device) {
  NEEDS_DRIVER();
  *device = 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetContextId(CUcontext context, uint32_t* number) {
  NEEDS_DRIVER();
  *number = context_number(context);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
  NEEDS_DRIVER();
  auto const& devices = this_machine().devices;
  if (params->deviceIndex >= devices.size()) return CUPTI_ERROR_INVALID_PARAMETER;
  params->pChipName = devices[params->deviceIndex].chip.c_str();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiFinalize() {
  WORKS_ALWAYS();
  not_inside_buffer_callback(__func__);
  if (faults::get().version < 24)
    broken("cuptiFinalize was called of a CUPTI below 12.6, which crashes programs with graphs");
  library::get().finalize();
  return CUPTI_SUCCESS;
}

}  // extern "C"
