// SPDX-License-Identifier: Apache-2.0
// What any profiler that uses CUPTI for kernel records pays: the records, copies and fills, buffers
// that are dropped unread, and nothing else. A library to inject (CUDA_INJECTION64_PATH). With
// RAW_CUPTI_GRAPHS=whole a CUDA graph has one record.
#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <initializer_list>
#include <string_view>

namespace {

constexpr std::size_t buffer_bytes = 8 << 20;

template <class Function>
Function* function(void* library, char const* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

void CUPTIAPI request(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, buffer_bytes));
  *size = buffer_bytes;
  *most = 0;
}

void CUPTIAPI complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) {
  std::free(buffer);
}

void* open_cupti() {
  for (auto const flags : {RTLD_NOW | RTLD_NOLOAD, RTLD_NOW})
    for (auto const* const name :
         {"libcupti.so.13", "libcupti.so.12", "/usr/local/cuda/lib64/libcupti.so.13",
          "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13"})
      if (auto* const library = dlopen(name, flags)) return library;
  return nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  auto* const library = open_cupti();
  if (library == nullptr) {
    std::fprintf(stderr, "raw CUPTI: there is no libcupti\n");
    return 0;
  }
  auto* const on = function<decltype(cuptiActivityEnable)>(library, "cuptiActivityEnable");
  function<decltype(cuptiActivityRegisterCallbacks)>(library, "cuptiActivityRegisterCallbacks")(
      request, complete);
  for (auto const kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                          CUPTI_ACTIVITY_KIND_MEMSET})
    if (on(kind) != CUPTI_SUCCESS) std::fprintf(stderr, "raw CUPTI: a kind is refused\n");
  auto const* const graphs = std::getenv("RAW_CUPTI_GRAPHS");
  if (graphs != nullptr && graphs == std::string_view("whole") &&
      on(CUPTI_ACTIVITY_KIND_GRAPH_TRACE) != CUPTI_SUCCESS)
    std::fprintf(stderr, "raw CUPTI: whole graphs are refused\n");
  return 1;
}
