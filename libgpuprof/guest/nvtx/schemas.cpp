// SPDX-License-Identifier: Apache-2.0
// The layouts of extended payloads that a program has registered.
#include "guest/nvtx/schemas.hpp"

#include "base/fork_guard.hpp"
#include "guest/nvtx/headers.hpp"

#include <algorithm>
#include <limits>

namespace gpuprof::guest {
namespace {

constexpr std::uint64_t too_big = std::numeric_limits<std::uint32_t>::max();

std::uint64_t saturated_product(std::uint64_t a, std::uint64_t b) noexcept {
  return a != 0 && b > too_big / a ? too_big : a * b;
}

}  // namespace

type_layout layout_of_predefined(std::uint64_t type) noexcept {
  switch (type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_UCHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT8:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT8:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR8:
    case NVTX_PAYLOAD_ENTRY_TYPE_BYTE:
      return {1, 1};
    case NVTX_PAYLOAD_ENTRY_TYPE_SHORT:
    case NVTX_PAYLOAD_ENTRY_TYPE_USHORT:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR16:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_BF16:
      return {2, 2};
    case NVTX_PAYLOAD_ENTRY_TYPE_INT:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT:
    case NVTX_PAYLOAD_ENTRY_TYPE_WCHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR32:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_TF32:
    case NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY:
    case NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB:
    case NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32:
      return {4, 4};
    case NVTX_PAYLOAD_ENTRY_TYPE_LONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_ULONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_SIZE:
    case NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS:
    case NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID:
    case NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR:
    case NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING:  // a pointer; strings inside the payload are arrays
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32:
      return {8, 8};
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT128:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT128:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128:
      return {16, 16};
    default:
      return {};
  }
}

/// Fills in size and alignment, if they do not depend on the data.
void payload_schemas::complete(payload_schema& schema) const noexcept {
  if (schema.what == payload_schema::kind::enumeration) {
    if (schema.size == 0 || schema.size > 8) schema.size = 4;
    schema.align = schema.size;
    return;
  }
  std::uint64_t end = 0;
  for (auto const& entry : schema.entries) {
    std::uint64_t size = layout_of_predefined(entry.type).size;
    std::uint64_t align = layout_of_predefined(entry.type).align;
    if (auto const* nested = find(schema.domain, entry.type)) {
      size = nested->size;
      align = nested->align;
    }
    constexpr auto fixed_array =
        static_cast<std::uint64_t>(NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE);
    if ((entry.flags & fixed_array) != 0) size = saturated_product(size, entry.detail);
    if (schema.pack_align != 0) align = std::min(align, schema.pack_align);
    schema.align = std::max(schema.align, align);
    auto const natural = schema.what == payload_schema::kind::choice ? 0 : align_up(end, align);
    auto const offset = std::min(entry.offset != 0 ? entry.offset : natural, too_big);
    end = std::min(std::max(end, offset + size), too_big);
  }
  if (schema.size == 0) schema.size = std::min(align_up(end, schema.align), too_big);
}

std::uint64_t payload_schemas::add(payload_schema schema) noexcept {
  try {
    fork_guard const whole;
    std::lock_guard const lock(adding_);
    auto const index = size_.load(std::memory_order_relaxed);
    if (index == max_schemas) return 0;
    if (schema.id == 0) schema.id = NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START + index;
    if (schema.entries.size() > max_entries) schema.entries.resize(max_entries);
    complete(schema);
    auto const id = schema.id;
    schemas_[index].store(new payload_schema(std::move(schema)), std::memory_order_release);
    size_.store(index + 1, std::memory_order_release);
    return id;
  } catch (...) {  // out of memory
    return 0;
  }
}

payload_schema const* payload_schemas::find(name_id domain, std::uint64_t id) const noexcept {
  auto const size = size_.load(std::memory_order_acquire);
  if (id >= NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START) {
    auto const index = id - NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START;
    auto const* found = index < size ? schemas_[index].load(std::memory_order_acquire) : nullptr;
    return found != nullptr && found->id == id ? found : nullptr;
  }
  if (id < NVTX_PAYLOAD_SCHEMA_ID_STATIC_START) return nullptr;
  for (auto i = size; i > 0; --i) {  // there are few; the newest takes precedence
    auto const* found = schemas_[i - 1].load(std::memory_order_acquire);
    if (found->id == id && found->domain == domain) return found;
  }
  return nullptr;
}

}  // namespace gpuprof::guest
