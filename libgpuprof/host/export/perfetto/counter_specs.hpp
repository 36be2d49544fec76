// SPDX-License-Identifier: Apache-2.0
// How counters are introduced: by name, unit and group.
#pragma once

#include "host/export/perfetto/fields.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::perfetto {

struct counter_spec {
  std::uint32_t id = 0;  // unique in the file
  std::string name;
  std::int32_t group = 0;
};

/// Introduces them, with units by their names. Once in a file is enough.
void add_descriptor(message<gpu_counter_event>& to, std::span<counter_spec const> specs);

struct counter_value {
  std::uint32_t id = 0;
  double value = 0;
};
void add_values(message<gpu_counter_event>& to, std::span<counter_value const> values);
/// Likewise, 0 for each: where an interval begins that the next values are of.
void add_zeros(message<gpu_counter_event>& to, std::span<counter_value const> values);

}  // namespace gpuprof::perfetto
