// SPDX-License-Identifier: Apache-2.0
// The ENUM_ tables, which explain the numbers in nsys' tables.
#include "host/export/sqlite/sqlite_output.hpp"

#include <string_view>
#include <vector>

namespace gpuprof::host {
namespace {

struct enumerator {
  int id;
  std::string_view name, label;
};

struct enumeration {
  std::string_view table;
  std::vector<enumerator> values;
};

// Names and numbers are those of nsys, because scripts select by them.
std::vector<enumeration> copies_and_memory() {
  return {
      {"ENUM_CUDA_MEMCPY_OPER",
       {{0, "CUDA_MEMCPY_KIND_UNKNOWN", "Unknown"},
        {1, "CUDA_MEMCPY_KIND_HTOD", "Host-to-Device"},
        {2, "CUDA_MEMCPY_KIND_DTOH", "Device-to-Host"},
        {3, "CUDA_MEMCPY_KIND_HTOA", "Host-to-Array"},
        {4, "CUDA_MEMCPY_KIND_ATOH", "Array-to-Host"},
        {5, "CUDA_MEMCPY_KIND_ATOA", "Array-to-Array"},
        {6, "CUDA_MEMCPY_KIND_ATOD", "Array-to-Device"},
        {7, "CUDA_MEMCPY_KIND_DTOA", "Device-to-Array"},
        {8, "CUDA_MEMCPY_KIND_DTOD", "Device-to-Device"},
        {9, "CUDA_MEMCPY_KIND_HTOH", "Host-to-Host"},
        {10, "CUDA_MEMCPY_KIND_PTOP", "Peer-to-Peer"},
        {11, "CUDA_MEMCPY_KIND_UVM_HTOD", "Unified Host-to-Device"},
        {12, "CUDA_MEMCPY_KIND_UVM_DTOH", "Unified Device-to-Host"},
        {13, "CUDA_MEMCPY_KIND_UVM_DTOD", "Unified Device-to-Device"}}},
      {"ENUM_CUDA_MEM_KIND",
       {{0, "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE", "Pageable"},
        {1, "CUDA_MEMOPR_MEMORY_KIND_PINNED", "Pinned"},
        {2, "CUDA_MEMOPR_MEMORY_KIND_DEVICE", "Device"},
        {3, "CUDA_MEMOPR_MEMORY_KIND_ARRAY", "Array"},
        {4, "CUDA_MEMOPR_MEMORY_KIND_MANAGED", "Managed"},
        {5, "CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC", "Device Static"},
        {6, "CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC", "Managed Static"},
        {7, "CUDA_MEMOPR_MEMORY_KIND_UNKNOWN", "Unknown"}}},
      {"ENUM_CUDA_DEV_MEM_EVENT_OPER",
       {{0, "CUDA_DEV_MEM_EVENT_OPR_ALLOCATION", "Allocation"},
        {1, "CUDA_DEV_MEM_EVENT_OPR_DEALLOCATION", "Deallocation"},
        {2, "GPUPROF_UNKNOWN", "Unknown"}}},
      {"ENUM_CUDA_UNIF_MEM_MIGRATION",
       {{0, "CUDA_UNIFIED_MEMORY_MIGRATION_CAUSE_UNKNOWN", "Unknown"},
        {1, "CUDA_UNIFIED_MEMORY_MIGRATION_CAUSE_USER", "User prefetch"},
        {2, "CUDA_UNIFIED_MEMORY_MIGRATION_CAUSE_COHERENCE", "Page fault"},
        {3, "CUDA_UNIFIED_MEMORY_MIGRATION_CAUSE_PREFETCH", "Speculative prefetch"},
        {4, "CUDA_UNIFIED_MEMORY_MIGRATION_CAUSE_EVICTION", "Eviction"},
        {5, "CUDA_UNIFIED_MEMORY_MIGRATION_CAUSE_ACCESS_COUNTERS", "Access counters"}}},
      {"ENUM_CUDA_UNIF_MEM_ACCESS_TYPE",
       {{0, "CUDA_UNIFIED_MEMORY_ACCESS_TYPE_UNKNOWN", "Unknown"},
        {1, "CUDA_UNIFIED_MEMORY_ACCESS_TYPE_READ", "Read"},
        {2, "CUDA_UNIFIED_MEMORY_ACCESS_TYPE_WRITE", "Write"},
        {3, "CUDA_UNIFIED_MEMORY_ACCESS_TYPE_ATOMIC", "Atomic"},
        {4, "CUDA_UNIFIED_MEMORY_ACCESS_TYPE_PREFETCH", "Prefetch"}}},
  };
}

std::vector<enumeration> launches_and_waits() {
  return {
      {"ENUM_CUDA_KERNEL_LAUNCH_TYPE",
       {{0, "CUDA_KERNEL_LAUNCH_TYPE_UNKNOWN", "Unknown"},
        {1, "CUDA_KERNEL_LAUNCH_TYPE_REGULAR", "Regular"},
        {2, "CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE", "Coop Single Device"},
        {3, "CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_MULTI_DEVICE", "Coop Multi Device"}}},
      {"ENUM_CUDA_FUNC_CACHE_CONFIG",
       {{0, "CU_FUNC_CACHE_PREFER_NONE", "None"},
        {1, "CU_FUNC_CACHE_PREFER_SHARED", "Shared"},
        {2, "CU_FUNC_CACHE_PREFER_L1", "L1"},
        {3, "CU_FUNC_CACHE_PREFER_EQUAL", "Equal"}}},
      {"ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG",
       {{0, "CUDA_SHARED_MEM_LIMIT_DEFAULT", "Default"},
        {1, "CUDA_SHARED_MEM_LIMIT_OPTIN", "Opt in"}}},
      {"ENUM_CUPTI_SYNC_TYPE",
       {{0, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN", "Unknown"},
        {1, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE", "Event sync"},
        {2, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT", "Stream wait sync"},
        {3, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE", "Stream sync"},
        {4, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE", "Context sync"}}},
      {"ENUM_NSYS_EVENT_CLASS",
       {{0, "TRACE_PROCESS_EVENT_CUDA_RUNTIME", "CUDA runtime"},
        {1, "TRACE_PROCESS_EVENT_CUDA_DRIVER", "CUDA driver"}}},
      {"ENUM_NSYS_EVENT_TYPE",
       {{33, "NvtxCategory", "NvtxCategory"},
        {34, "NvtxMark", "NvtxMark"},
        {39, "NvtxThread", "NvtxThread"},
        {59, "NvtxPushPopRange", "NvtxPushPopRange"},
        {60, "NvtxStartEndRange", "NvtxStartEndRange"},
        {75, "NvtxDomainCreate", "NvtxDomainCreate"}}},
  };
}

}  // namespace

void write_enumerations(sqlite_output& to) {
  for (auto const& some : {copies_and_memory(), launches_and_waits()}) {
    for (auto const& one : some) {
      sqlite_table const table{one.table, "id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT"};
      to.file.run("CREATE TABLE " + std::string(table.name) + " (" + std::string(table.columns) +
                  ")");
      insertion rows(to.file, table);
      for (auto const& value : one.values) rows.row(value.id, value.name, value.label);
    }
  }
}

}  // namespace gpuprof::host
