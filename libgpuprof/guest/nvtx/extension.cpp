// SPDX-License-Identifier: Apache-2.0
// Attaches this library to the NVTX payload extension inside a shared object.
#include "base/clock.hpp"
#include "base/process.hpp"
#include "guest/nvtx/handles.hpp"
#include "guest/nvtx/headers.hpp"
#include "guest/nvtx/injection.hpp"
#include "guest/nvtx/payload_events.hpp"
#include "guest/nvtx/schemas.hpp"
#include "guest/nvtx/text.hpp"

#include <algorithm>
#include <cstring>

namespace gpuprof::guest {
namespace {

std::string copy_text(char const* text) {
  return text == nullptr ? std::string{} : std::string(text, strnlen(text, max_nvtx_text));
}

bool has(std::uint64_t mask, int field) noexcept {
  return (mask & static_cast<std::uint64_t>(field)) != 0;
}

payload_schema copy_schema(name_id domain, nvtxPayloadSchemaAttr_t const& from) {
  payload_schema schema;
  schema.domain = domain;
  auto const mask = from.fieldMask;
  if (has(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID)) schema.id = from.schemaId;
  if (has(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME)) schema.name = copy_text(from.name);
  if (has(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE)) schema.size = from.payloadStaticSize;
  if (has(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT)) schema.pack_align = from.packAlign;
  if (from.type == NVTX_PAYLOAD_SCHEMA_TYPE_UNION ||
      from.type == NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR) {
    schema.what = payload_schema::kind::choice;
  }
  // The size of a dynamic layout depends on the data; 0 lets each payload say it.
  if (from.type == NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC) schema.size = 0;
  auto const count = std::min(from.numEntries, payload_schemas::max_entries);
  for (std::size_t i = 0; i < count; ++i) {
    auto const& entry = from.entries[i];
    schema.entries.push_back({.flags = entry.flags,
                              .type = entry.type,
                              .name = copy_text(entry.name),
                              .detail = entry.arrayOrUnionDetail,
                              .offset = entry.offset});
  }
  return schema;
}

std::uint64_t register_schema(nvtxDomainHandle_t domain,
                              nvtxPayloadSchemaAttr_t const* attributes) noexcept {
  if (is_forked_child() || attributes == nullptr || attributes->entries == nullptr ||
      !has(attributes->fieldMask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES) ||
      !has(attributes->fieldMask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES)) {
    return 0;
  }
  try {
    return registered_schemas().add(copy_schema(domain_of_handle(domain), *attributes));
  } catch (...) {
    return 0;
  }
}

payload_schema copy_enum(name_id domain, nvtxPayloadEnumAttr_t const& from) {
  payload_schema schema;
  schema.domain = domain;
  schema.what = payload_schema::kind::enumeration;
  auto const mask = from.fieldMask;
  if (has(mask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID)) schema.id = from.schemaId;
  if (has(mask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME)) schema.name = copy_text(from.name);
  if (has(mask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE)) schema.size = from.sizeOfEnum;
  auto const count = std::min(from.numEntries, payload_schemas::max_entries);
  for (std::size_t i = 0; i < count; ++i) {
    auto const& entry = from.entries[i];
    schema.values.push_back({copy_text(entry.name), entry.value, entry.isFlag != 0});
  }
  return schema;
}

std::uint64_t register_enum(nvtxDomainHandle_t domain,
                            nvtxPayloadEnumAttr_t const* attributes) noexcept {
  if (is_forked_child() || attributes == nullptr || attributes->entries == nullptr ||
      !has(attributes->fieldMask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES) ||
      !has(attributes->fieldMask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES)) {
    return 0;
  }
  try {
    return registered_schemas().add(copy_enum(domain_of_handle(domain), *attributes));
  } catch (...) {
    return 0;
  }
}

event_text text_of(thread_log& log, nvtxDomainHandle_t domain, nvtxPayloadData_t const* payloads,
                   std::size_t count) noexcept {
  event_text text{.domain = domain_of_handle(domain)};
  read_extended_payload(log, text, payloads, count);
  return text;
}

int push_payload(nvtxDomainHandle_t domain, nvtxPayloadData_t const* payloads,
                 std::size_t count) noexcept {
  auto* const log = this_thread_log();
  if (log == nullptr) return NVTX_NO_PUSH_POP_TRACKING;
  return push_range(*log, text_of(*log, domain, payloads, count));
}
/// A payload at the end of a range becomes a mark of its name, because the row of the range has
/// been written at its beginning. NCCL says the size of a new communicator there.
void mark_end(thread_log& log, nvtxDomainHandle_t domain, nvtxPayloadData_t const* payloads,
              std::size_t count) noexcept {
  auto const* const range = log.ranges.innermost_of(domain_of_handle(domain));
  if (range == nullptr) return;
  auto text = text_of(log, domain, payloads, count);
  if (text.payload == payload_kind::none) return;
  if (raw(text.name) == 0) text.name = range->name;
  mark(log, text);
}
int pop_payload(nvtxDomainHandle_t domain, nvtxPayloadData_t const* payloads,
                std::size_t count) noexcept {
  auto* const log = this_thread_log();
  if (log == nullptr) return NVTX_NO_PUSH_POP_TRACKING;
  if (count > 0) mark_end(*log, domain, payloads, count);
  return pop_range(*log, domain_of_handle(domain));
}
nvtxRangeId_t start_payload(nvtxDomainHandle_t domain, nvtxPayloadData_t const* payloads,
                            std::size_t count) noexcept {
  auto* const log = this_thread_log();
  return log == nullptr ? 0 : raw(start_range(*log, text_of(*log, domain, payloads, count)));
}
void end_payload(nvtxDomainHandle_t, nvtxRangeId_t id, nvtxPayloadData_t const*,
                 std::size_t) noexcept {
  auto* const log = this_thread_log();
  if (log != nullptr && id != 0) end_range(*log, static_cast<range_id>(id));
}
void mark_payload(nvtxDomainHandle_t domain, nvtxPayloadData_t const* payloads,
                  std::size_t count) noexcept {
  auto* const log = this_thread_log();
  if (log != nullptr) mark(*log, text_of(*log, domain, payloads, count));
}

// In a forked child nothing listens. Elsewhere ranges are kept even while nothing is recorded, so
// programs must not leave them out.
std::uint8_t domain_is_enabled(nvtxDomainHandle_t) noexcept {
  return is_forked_child() ? 0 : 1;
}
std::int64_t timestamp() noexcept {
  return static_cast<std::int64_t>(now().value);
}

struct extension_slots {
  nvtxExtModuleSegment_t const& segment;
  template <class Function>
  void set(std::size_t id, Function* function) const noexcept {
    if (id < segment.slotCount) segment.functionSlots[id] = reinterpret_cast<intptr_t>(function);
  }
};

}  // namespace

int inject_nvtx_extension(nvtxExtModuleInfo_t* module) noexcept {
  if (module == nullptr || module->structSize < sizeof *module) return 0;
  // Other extensions get a yes and no functions: their calls stay no-ops.
  if (module->moduleId != NVTX_EXT_PAYLOAD_MODULEID || module->segmentsCount == 0 ||
      module->segments == nullptr || module->segments[0].functionSlots == nullptr) {
    return 1;
  }
  extension_slots const slots{module->segments[0]};
  slots.set(NVTX3EXT_CBID_nvtxPayloadSchemaRegister, register_schema);
  slots.set(NVTX3EXT_CBID_nvtxPayloadEnumRegister, register_enum);
  slots.set(NVTX3EXT_CBID_nvtxMarkPayload, mark_payload);
  slots.set(NVTX3EXT_CBID_nvtxRangePushPayload, push_payload);
  slots.set(NVTX3EXT_CBID_nvtxRangePopPayload, pop_payload);
  slots.set(NVTX3EXT_CBID_nvtxRangeStartPayload, start_payload);
  slots.set(NVTX3EXT_CBID_nvtxRangeEndPayload, end_payload);
  slots.set(NVTX3EXT_CBID_nvtxDomainIsEnabled, domain_is_enabled);
  slots.set(NVTX3EXT_CBID_nvtxTimestampGet, timestamp);
  return 1;
}

}  // namespace gpuprof::guest
