// SPDX-License-Identifier: Apache-2.0
// The part of shared_cupti for buffers: which client lends them, and which client gets which of
// their records.
#include "base/no_cancellation.hpp"
#include "base/own_arithmetic.hpp"
#include "base/time.hpp"
#include "guest/cupti/record_layouts.hpp"
#include "guest/cupti/sharing/shared_cupti.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace gpuprof::guest {
namespace {

/// Replaces each time by the result of `replace`, the start first. Times are passed by value,
/// because records are packed. Kinds whose times are not handled here (OpenACC, OpenMP and
/// Confidential Computing) stay as they are.
template <class Replace>
void replace_times(CUpti_Activity& record, Replace replace) {
  auto const span_of = [&](auto& r) {
    r.start = replace(std::uint64_t{r.start});
    r.end = replace(std::uint64_t{r.end});
  };
  auto const moment_of = [&](auto& r) { r.timestamp = replace(std::uint64_t{r.timestamp}); };
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      auto& kernel = reinterpret_cast<layout::kernel&>(record);
      span_of(kernel);
      kernel.completed = replace(std::uint64_t{kernel.completed});
      kernel.queued = replace(std::uint64_t{kernel.queued});
      kernel.submitted = replace(std::uint64_t{kernel.submitted});
      return;
    }
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return span_of(reinterpret_cast<layout::graph&>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return span_of(reinterpret_cast<layout::copy&>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return span_of(reinterpret_cast<layout::peer_copy&>(record));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return span_of(reinterpret_cast<layout::set&>(record));
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API:
      return span_of(reinterpret_cast<layout::api_call&>(record));
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return span_of(reinterpret_cast<layout::synchronization&>(record));
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      return span_of(reinterpret_cast<layout::unified_memory&>(record));
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return span_of(reinterpret_cast<layout::overhead&>(record));
    case CUPTI_ACTIVITY_KIND_JIT:
      return span_of(reinterpret_cast<layout::jit&>(record));
    case CUPTI_ACTIVITY_KIND_MEMORY:
      return span_of(reinterpret_cast<layout::allocation&>(record));
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return moment_of(reinterpret_cast<layout::memory&>(record));
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
      return moment_of(reinterpret_cast<layout::memory_pool&>(record));
    case CUPTI_ACTIVITY_KIND_MARKER:
      return moment_of(reinterpret_cast<layout::marker&>(record));
    default:
      return;
  }
}

/// Returns the start time of a record; 0: none, or unknown.
inline std::uint64_t start_of(CUpti_Activity& record) noexcept {
  std::uint64_t start = 0;
  bool is_first = true;
  replace_times(record, [&](std::uint64_t time) {
    if (is_first) start = time;
    is_first = false;
    return time;
  });
  return start;
}

/// Returns where each record begins and where the last one ends. Empty if the records cannot be
/// read.
std::vector<std::size_t> edges_of(cupti_api const& api, std::span<std::uint8_t> buffer) {
  std::vector<std::size_t> edges;
  CUpti_Activity* record = nullptr;
  auto code = CUPTI_SUCCESS;
  while ((code = api.cuptiActivityGetNextRecord(buffer.data(), buffer.size(), &record)) ==
         CUPTI_SUCCESS)
    edges.push_back(
        static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(record) - buffer.data()));
  if (code != CUPTI_ERROR_MAX_LIMIT_REACHED) return {};
  edges.push_back(buffer.size());
  return edges;
}

CUpti_Activity& record_at(std::uint8_t* bytes) noexcept {
  return *reinterpret_cast<CUpti_Activity*>(bytes);
}

}  // namespace

CUptiResult shared_cupti::register_buffers(cupti_client who, buffer_functions functions) {
  if (functions.request == nullptr || functions.complete == nullptr)
    return real_.api.cuptiActivityRegisterCallbacks(functions.request, functions.complete);
  auto& mine = of(who);
  if (buffers_of(mine) != functions)
    mine.copies.deliver(true, true);  // another client of the program registers
  mine.request.store(functions.request, std::memory_order_release);
  mine.complete.store(functions.complete, std::memory_order_release);
  if (who == cupti_client::program) ask_for_buffer();
  return real_.api.cuptiActivityRegisterCallbacks(&request_buffer, &complete_buffer);
}

bool shared_cupti::lend(cupti_client lender, std::uint8_t** buffer, std::size_t* size,
                        std::size_t* most) {
  auto const functions = buffers_of(of(lender));
  if (functions.request == nullptr) return false;
  functions.request(buffer, size, most);
  if (*buffer == nullptr) return false;
  if (lender == cupti_client::gpuprof) return true;
  // We have told CUPTI that buffers are zeroed, but the client's are not.
  if (of(cupti_client::gpuprof).request.load() != nullptr)
    std::fill_n(*buffer, *size, std::uint8_t{0});
  if (lent_.add(*buffer)) return true;
  functions.complete(nullptr, 0, *buffer, *size, 0);
  *buffer = nullptr;
  return false;
}

// Our buffers are lent first: CUPTI hands over half-empty buffers when either client flushes, and
// the client's may be few and large.
void CUPTIAPI shared_cupti::request_buffer(std::uint8_t** buffer, std::size_t* size,
                                           std::size_t* most) {
  auto& shared = the_one();
  *buffer = nullptr;
  *size = *most = 0;
  auto const theirs_alone = shared.records_of(cupti_client::program).has_any() &&
                            !shared.records_of(cupti_client::gpuprof).has_any();
  auto const first = theirs_alone ? cupti_client::program : cupti_client::gpuprof;
  if (!shared.lend(first, buffer, size, most)) shared.lend(other_than(first), buffer, size, most);
}

void CUPTIAPI shared_cupti::complete_buffer(CUcontext context, std::uint32_t stream,
                                            std::uint8_t* bytes, std::size_t size,
                                            std::size_t used) {
  auto& shared = the_one();
  if (bytes == nullptr) return;
  auto const lender = shared.lent_.remove(bytes) ? cupti_client::program : cupti_client::gpuprof;
  auto const functions = buffers_of(shared.of(lender));
  if (functions.complete == nullptr) return;
  no_cancellation const here;
  shared.copying_.fetch_add(1, std::memory_order_acq_rel);
  try {
    own_arithmetic const exact;
    used = shared.hand_out(context, {bytes, used}, lender);
    if (lender == cupti_client::program) shared.of(cupti_client::gpuprof).copies.deliver(true);
  } catch (...) {  // no memory: only the copies are lost; the buffer stays complete
  }
  shared.copying_.fetch_sub(1, std::memory_order_acq_rel);
  if (lender == cupti_client::program && is_inside_our_flush())
    return shared.of(lender).copies.put_off({functions, bytes, size, used, 0, 0, context});
  functions.complete(context, stream, bytes, size, used);
  if (!is_inside_our_flush())
    shared.of(cupti_client::program).copies.deliver(shared.deliver_at_once_.load());
}

// CUPTI asks for a buffer when the first record is written. A client that was never asked may
// assume that there are no records (torch.profiler does, and does not flush then). Records in our
// buffers are copied only when those come back, which may be after that.
void shared_cupti::ask_for_buffer() {
  auto& theirs = of(cupti_client::program);
  auto const functions = buffers_of(theirs);
  if (functions.request != nullptr && theirs.records.has_any()) theirs.copies.prepare(functions);
}

bool shared_cupti::looks_for_records(cupti_client who) const noexcept {
  return buffers_of(of(who)).complete != nullptr && records_of(who).is_recent(now().value);
}

/// We want all records of our kinds, whenever their work began; the filter by capture comes later.
/// Records of whole graphs, which only the program's client has asked for, replace records of our
/// kernels.
bool shared_cupti::wants(cupti_client who, CUpti_Activity& record) const noexcept {
  auto const kind = record.kind;
  auto const& enabled = records_of(who);
  if (!enabled_records::knows(kind)) return who == cupti_client::program;
  if (who == cupti_client::program)
    return enabled.covers(kind, start_of(record)) &&
           (!enabled_calls::is_of_calls(kind) ||
            single_calls_.allow(kind, reinterpret_cast<layout::api_call&>(record).cbid));
  return enabled.had(kind) || kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
}

/// Copies the records that the other client wants, and leaves in the buffer those that the lender
/// wants. Returns how much of the buffer is then used. Any exception is thrown before the buffer is
/// changed.
std::size_t shared_cupti::hand_out(CUcontext context, std::span<std::uint8_t> buffer,
                                   cupti_client lender) {
  auto const other = other_than(lender);
  auto const is_shared = looks_for_records(other);
  auto const map = lender == cupti_client::program || is_shared ? clock_.map() : clock_map{};
  if (!is_shared && map.is_identity()) return buffer.size();
  auto const edges = edges_of(real_.api, buffer);
  if (edges.empty()) return buffer.size();
  std::vector<std::uint8_t> copy(is_shared ? buffer.size() : 0);  // large enough for any record
  auto const on_clock_of = [&](cupti_client who, std::uint8_t* record) {
    if (who == cupti_client::program && !map.is_identity())
      replace_times(record_at(record), [&](std::uint64_t time) { return map.theirs(time); });
  };
  std::size_t kept = 0;
  {
    record_copies::writer copies(of(other).copies, buffers_of(of(other)), context);
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
      auto* const begin = buffer.data() + edges[i];
      auto const length = edges[i + 1] - edges[i];
      if (is_shared && wants(other, record_at(begin))) {
        std::memcpy(copy.data(), begin, length);
        on_clock_of(other, copy.data());
        (void)copies.add({copy.data(), length});
      }
      if (is_shared && !wants(lender, record_at(begin))) continue;
      on_clock_of(lender, begin);
      std::memmove(buffer.data() + kept, begin, length);
      kept += length;
    }
  }
  // Our buffers are lent again, and must then be zero beyond what CUPTI writes.
  std::fill(buffer.begin() + static_cast<std::ptrdiff_t>(kept), buffer.end(), std::uint8_t{0});
  return kept;
}

}  // namespace gpuprof::guest
