// SPDX-License-Identifier: Apache-2.0
#include "support/record_walk.hpp"

#include <dlfcn.h>
#include <initializer_list>

namespace gpuprof::test {

std::size_t record_size(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
      return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return sizeof(CUpti_ActivityMemory4);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return sizeof(CUpti_ActivitySynchronization2);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return sizeof(CUpti_ActivityGraphTrace2);
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      return sizeof(CUpti_ActivityUnifiedMemoryCounter3);
    case CUPTI_ACTIVITY_KIND_NAME:
      return sizeof(CUpti_ActivityName);
    default:
      return 0;
  }
}

CUptiResult next_record_by_size(std::uint8_t* buffer, std::size_t size, CUpti_Activity** record) {
  auto* at = buffer;
  if (*record != nullptr) {
    at = reinterpret_cast<std::uint8_t*>(*record) + record_size((*record)->kind);
  }
  if (at == buffer + size) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  auto const left = static_cast<std::size_t>(buffer + size - at);
  if (left < sizeof(CUpti_ActivityKind)) return CUPTI_ERROR_INVALID_KIND;
  auto* const next = reinterpret_cast<CUpti_Activity*>(at);
  auto const bytes = record_size(next->kind);
  if (bytes == 0 || bytes > left) return CUPTI_ERROR_INVALID_KIND;
  *record = next;
  return CUPTI_SUCCESS;
}

decltype(&cuptiActivityGetNextRecord) real_walker() {
  static auto const walker = [] {
    void* library = nullptr;
    for (auto const* name : {"libcupti.so.13", "/usr/local/cuda/lib64/libcupti.so.13",
                             "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13"}) {
      if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    return reinterpret_cast<decltype(&cuptiActivityGetNextRecord)>(
        library != nullptr ? dlsym(library, "cuptiActivityGetNextRecord") : nullptr);
  }();
  return walker;
}

CUptiResult next_record(std::uint8_t* buffer, std::size_t size, CUpti_Activity** record) {
  auto const walker = real_walker();
  return walker != nullptr ? walker(buffer, size, record)
                           : next_record_by_size(buffer, size, record);
}

}  // namespace gpuprof::test
