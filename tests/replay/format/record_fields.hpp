// SPDX-License-Identifier: Apache-2.0
// Where in CUPTI's activity records the fields lie that a recorder or a replay must touch.
#pragma once

#include <cupti.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace gpuprof::replay {

/// Offset of a field; 0 (where the kind lies) means "there is none".
using field = std::uint16_t;

struct record_fields {
  CUpti_ActivityKind kind{};
  std::uint16_t size_12_0 = 0;        // in CUDA 12.0
  std::uint16_t size_13_0 = 0;        // in CUDA 13.0
  std::uint32_t grown_at = 130000;    // cuptiGetVersion() from which the second size holds
  bool on_gpu = false;                // written at the call, complete when the GPU is done
  field start = 0, end = 0;           // a single moment is an end
  std::array<field, 3> more_times{};  // 0 in the record: not known
  field correlation = 0;
  field context = 0, stream = 0, graph = 0;
  field process = 0, thread = 0;
  std::array<field, 2> texts{};           // char const*
  std::array<field, 2> other_pointers{};  // meaningless outside the process that wrote them
};

/// Null for a kind that no recording holds.
record_fields const* fields_of(std::uint32_t kind) noexcept;

/// Size of a record of this kind in the CUPTI that says `version`.
std::size_t record_size(record_fields const& fields, std::uint32_t version) noexcept;

template <class T>
T get_field(void const* record, field at) noexcept {
  T value{};
  if (at != 0) std::memcpy(&value, static_cast<char const*>(record) + at, sizeof value);
  return value;
}

template <class T>
void set_field(void* record, field at, T value) noexcept {
  if (at != 0) std::memcpy(static_cast<char*>(record) + at, &value, sizeof value);
}

inline std::uint32_t kind_of_record(void const* record) noexcept {
  std::uint32_t kind = 0;
  std::memcpy(&kind, record, sizeof kind);
  return kind;
}

}  // namespace gpuprof::replay
