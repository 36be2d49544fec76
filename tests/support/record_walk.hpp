// SPDX-License-Identifier: Apache-2.0
// Walks a buffer of activity records: with the real libcupti where it can be opened, else by the
// sizes of the newest structs.
#pragma once

#include <cupti.h>

#include <cstdint>

namespace gpuprof::test {

/// As cuptiActivityGetNextRecord.
CUptiResult next_record(std::uint8_t* buffer, std::size_t size, CUpti_Activity** record);

/// The same, always by the sizes.
CUptiResult next_record_by_size(std::uint8_t* buffer, std::size_t size, CUpti_Activity** record);

/// cuptiActivityGetNextRecord of the real library; nullptr when there is none here.
decltype(&cuptiActivityGetNextRecord) real_walker();

/// Bytes of the newest struct of a kind; 0 for kinds not known here.
std::size_t record_size(CUpti_ActivityKind kind);

}  // namespace gpuprof::test
