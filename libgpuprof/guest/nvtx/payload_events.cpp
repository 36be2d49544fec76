// SPDX-License-Identifier: Apache-2.0
// Attaches NVTX's extended payloads to events.
#include "guest/nvtx/payload_events.hpp"

#include "base/never_destroyed.hpp"
#include "base/own_arithmetic.hpp"
#include "base/own_memory.hpp"
#include "guest/nvtx/handles.hpp"
#include "guest/nvtx/headers.hpp"
#include "guest/nvtx/payload.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <unistd.h>

namespace gpuprof::guest {
namespace {

constexpr std::size_t max_payloads = 8;

std::string registered_text(std::uint64_t handle) {
  auto const id = name_of_handle(
      handle_kind::text, reinterpret_cast<void const*>(static_cast<std::uintptr_t>(handle)));
  return id ? names().text(*id) : std::string{};
}

bool is_declared_work(nvtxPayloadData_t const& data) noexcept {
  return data.schemaId == declared_work_schema && data.size == 2 * sizeof(double) &&
         data.payload != nullptr;
}

/// Values that are not positive numbers count as not declared.
double declared(double value) noexcept {
  return std::isfinite(value) && value > 0 ? value : 0;
}

/// A size of SIZE_MAX asks the tool to determine the size. That is possible only for schemas of
/// fixed size.
std::size_t size_of(nvtxPayloadData_t const& data, name_id domain) noexcept {
  if (data.size != std::numeric_limits<std::size_t>::max()) return data.size;
  if (auto const* schema = registered_schemas().find(domain, data.schemaId)) {
    return static_cast<std::size_t>(schema->size);
  }
  return layout_of_predefined(data.schemaId).size;
}

void describe(thread_log& log, event_text& text, std::span<nvtxPayloadData_t const> from) {
  std::array<payload_blob, max_payloads> blobs;
  std::size_t count = 0;
  for (auto const& data : from) {
    if (data.payload == nullptr || is_declared_work(data)) continue;
    blobs[count++] = {data.schemaId,
                      {static_cast<std::byte const*>(data.payload), size_of(data, text.domain)}};
  }
  if (count == 0) return;
  auto const found = describe_payloads({blobs.data(), count}, registered_schemas(),
                                       {text.domain, read_own_memory, registered_text});
  if (text.name == name_id{}) text.name = log.names.intern(found.message);
  if (found.json.empty()) return;
  // Does not use the thread's cache, which is for range names: most payloads never repeat.
  auto const json = names().intern(found.json, name_place::payload);
  if (json == name_id{}) return;
  text.payload = payload_kind::text;
  text.payload_bits = raw(json);
}

}  // namespace

payload_schemas& registered_schemas() noexcept {
  static never_destroyed<payload_schemas> schemas;
  return *schemas;
}

void read_extended_payload(thread_log& log, event_text& text, nvtxPayloadData_v1 const* payloads,
                           std::size_t count) noexcept {
  if (payloads == nullptr) return;
  std::span const all{payloads, std::min(count, max_payloads)};
  own_arithmetic const exact;
  for (auto const& data : all) {
    if (!is_declared_work(data)) continue;
    double work[2];
    std::memcpy(work, data.payload, sizeof work);
    text.flops = declared(work[0]);
    text.bytes = declared(work[1]);
    if (all.size() == 1) return;
  }
  if (!log_is_recording.load(std::memory_order_relaxed) &&
      the_range_observer.load(std::memory_order_relaxed) == nullptr) {
    return;
  }
  try {
    describe(log, text, all);
  } catch (...) {  // out of memory: the event has no payload
  }
}

}  // namespace gpuprof::guest
