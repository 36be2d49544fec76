// SPDX-License-Identifier: Apache-2.0
#include "replay/format/record_fields.hpp"

#include <cstddef>

namespace gpuprof::replay {
namespace {

// offsetof of a packed CUPTI struct as a field.
#define AT(type, member) static_cast<field>(offsetof(type, member))

constexpr record_fields kernel(CUpti_ActivityKind kind) {
  using K = CUpti_ActivityKernel10;
  return {.kind = kind,
          .size_12_0 = sizeof(CUpti_ActivityKernel9),
          .size_13_0 = sizeof(K),
          .on_gpu = true,
          .start = AT(K, start),
          .end = AT(K, end),
          .more_times = {AT(K, completed), AT(K, queued), AT(K, submitted)},
          .correlation = AT(K, correlationId),
          .context = AT(K, contextId),
          .stream = AT(K, streamId),
          .graph = AT(K, graphId),
          .texts = {AT(K, name)},
          .other_pointers = {AT(K, reserved0), AT(K, pAccessPolicyWindow)}};
}

constexpr record_fields api(CUpti_ActivityKind kind) {
  using A = CUpti_ActivityAPI;
  return {.kind = kind,
          .size_12_0 = sizeof(A),
          .size_13_0 = sizeof(A),
          .start = AT(A, start),
          .end = AT(A, end),
          .correlation = AT(A, correlationId),
          .process = AT(A, processId),
          .thread = AT(A, threadId)};
}

using C = CUpti_ActivityMemcpy6;
using P = CUpti_ActivityMemcpyPtoP4;
using S = CUpti_ActivityMemset4;
using Y = CUpti_ActivitySynchronization2;
using M = CUpti_ActivityMemory4;
using G = CUpti_ActivityGraphTrace2;
using U = CUpti_ActivityUnifiedMemoryCounter3;

constexpr std::array known{
    kernel(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL),
    kernel(CUPTI_ACTIVITY_KIND_KERNEL),
    api(CUPTI_ACTIVITY_KIND_RUNTIME),
    api(CUPTI_ACTIVITY_KIND_DRIVER),
    record_fields{.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                  .size_12_0 = sizeof(CUpti_ActivityMemcpy5),
                  .size_13_0 = sizeof(C),
                  .grown_at = 26,
                  .on_gpu = true,
                  .start = AT(C, start),
                  .end = AT(C, end),
                  .correlation = AT(C, correlationId),
                  .context = AT(C, contextId),
                  .stream = AT(C, streamId),
                  .graph = AT(C, graphId),
                  .other_pointers = {AT(C, reserved0)}},
    record_fields{.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
                  .size_12_0 = sizeof(P),
                  .size_13_0 = sizeof(P),
                  .on_gpu = true,
                  .start = AT(P, start),
                  .end = AT(P, end),
                  .correlation = AT(P, correlationId),
                  .context = AT(P, contextId),
                  .stream = AT(P, streamId),
                  .graph = AT(P, graphId),
                  .other_pointers = {AT(P, reserved0)}},
    record_fields{.kind = CUPTI_ACTIVITY_KIND_MEMSET,
                  .size_12_0 = sizeof(S),
                  .size_13_0 = sizeof(S),
                  .on_gpu = true,
                  .start = AT(S, start),
                  .end = AT(S, end),
                  .correlation = AT(S, correlationId),
                  .context = AT(S, contextId),
                  .stream = AT(S, streamId),
                  .graph = AT(S, graphId),
                  .other_pointers = {AT(S, reserved0)}},
    record_fields{.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                  .size_12_0 = sizeof(CUpti_ActivitySynchronization),
                  .size_13_0 = sizeof(Y),
                  .start = AT(Y, start),
                  .end = AT(Y, end),
                  .correlation = AT(Y, correlationId),
                  .context = AT(Y, contextId)},
    record_fields{.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
                  .size_12_0 = sizeof(CUpti_ActivityMemory3),
                  .size_13_0 = sizeof(M),
                  .end = AT(M, timestamp),
                  .correlation = AT(M, correlationId),
                  .context = AT(M, contextId),
                  .process = AT(M, processId),
                  .texts = {AT(M, name), AT(M, source)}},
    record_fields{.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
                  .size_12_0 = sizeof(CUpti_ActivityGraphTrace),
                  .size_13_0 = sizeof(G),
                  .on_gpu = true,
                  .start = AT(G, start),
                  .end = AT(G, end),
                  .correlation = AT(G, correlationId),
                  .context = AT(G, contextId),
                  .stream = AT(G, streamId),
                  .graph = AT(G, graphId),
                  .other_pointers = {AT(G, reserved)}},
    record_fields{.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
                  .size_12_0 = sizeof(CUpti_ActivityUnifiedMemoryCounter2),
                  .size_13_0 = sizeof(U),
                  .start = AT(U, start),
                  .end = AT(U, end),
                  .process = AT(U, processId)},
};
#undef AT

}  // namespace

record_fields const* fields_of(std::uint32_t kind) noexcept {
  for (auto const& f : known) {
    if (static_cast<std::uint32_t>(f.kind) == kind) return &f;
  }
  return nullptr;
}

std::size_t record_size(record_fields const& fields, std::uint32_t version) noexcept {
  return version >= fields.grown_at ? fields.size_13_0 : fields.size_12_0;
}

}  // namespace gpuprof::replay
