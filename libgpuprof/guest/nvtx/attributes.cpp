// SPDX-License-Identifier: Apache-2.0
// Reads nvtxEventAttributes_t, of whatever version and size the program was built with.
#include "guest/nvtx/attributes.hpp"

#include "base/own_arithmetic.hpp"
#include "guest/nvtx/handles.hpp"
#include "guest/nvtx/headers.hpp"
#include "guest/nvtx/payload_events.hpp"
#include "guest/nvtx/text.hpp"

#include <bit>
#include <cstddef>
#include <cstring>

namespace gpuprof {
namespace {

name_id read_message(name_cache& cache, nvtxEventAttributes_t const& from) noexcept {
  switch (from.messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return intern_text(cache, from.message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
      return intern_text(cache, from.message.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED:
      return name_of_handle(handle_kind::text, from.message.registered).value_or(name_id{});
    default:
      return {};
  }
}

/// A signalling NaN would trap. Volatile: the compiler may else convert outside of the block.
std::uint64_t bits_of_double(float value) noexcept {
  own_arithmetic const exact;
  double const volatile converted = value;
  return std::bit_cast<std::uint64_t>(double{converted});
}

void set_payload(event_text& text, payload_kind kind, std::uint64_t bits) noexcept {
  text.payload = kind;
  text.payload_bits = bits;
}

void read_payload(thread_log& log, event_text& text, nvtxEventAttributes_t const& from) noexcept {
  auto const& value = from.payload;
  switch (static_cast<std::uint32_t>(from.payloadType)) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
      return set_payload(text, payload_kind::unsigned64, value.ullValue);
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
      return set_payload(text, payload_kind::unsigned64, value.uiValue);
    case NVTX_PAYLOAD_TYPE_INT64:
      return set_payload(text, payload_kind::signed64, value.ullValue);
    case NVTX_PAYLOAD_TYPE_INT32:
      return set_payload(text, payload_kind::signed64,
                         static_cast<std::uint64_t>(std::int64_t{value.iValue}));
    case NVTX_PAYLOAD_TYPE_DOUBLE:
      return set_payload(text, payload_kind::float64, std::bit_cast<std::uint64_t>(value.dValue));
    case NVTX_PAYLOAD_TYPE_FLOAT:
      return set_payload(text, payload_kind::float64, bits_of_double(value.fValue));
    case static_cast<std::uint32_t>(NVTX_PAYLOAD_TYPE_EXT):
      return read_extended_payload(
          log, text,
          reinterpret_cast<nvtxPayloadData_t const*>(static_cast<std::uintptr_t>(value.ullValue)),
          static_cast<std::uint32_t>(from.reserved0));
    default:
      return;
  }
}

}  // namespace

event_text read_attributes(thread_log& log, name_id domain,
                           nvtxEventAttributes_v2 const* attributes) noexcept {
  event_text text{.domain = domain};
  if (attributes == nullptr) return text;
  // `size` says how much of the struct the program knows. The first fields have stood since version
  // 1; a program that left size unset cannot be read safely.
  auto const size = attributes->size;
  if (size < offsetof(nvtxEventAttributes_t, colorType)) return text;
  if (size >= sizeof(nvtxEventAttributes_t)) {
    text.name = read_message(log.names, *attributes);
    text.category = attributes->category;
    if (attributes->colorType == NVTX_COLOR_ARGB) text.colour = attributes->color;
    if (attributes->payloadType != NVTX_PAYLOAD_UNKNOWN) read_payload(log, text, *attributes);
    return text;
  }
  nvtxEventAttributes_t whole{};  // a shorter, older struct: what it lacks is zero
  std::memcpy(&whole, attributes, size);
  whole.size = sizeof whole;
  return read_attributes(log, domain, &whole);
}

}  // namespace gpuprof
