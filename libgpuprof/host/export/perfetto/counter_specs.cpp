// SPDX-License-Identifier: Apache-2.0
#include "host/export/perfetto/counter_specs.hpp"

#include <string_view>

namespace gpuprof::perfetto {
namespace {

/// Of CUPTI's metric names: "dram__bytes_read.sum.per_second".
void add_units(message<gpu_counter_spec>& to, std::string_view name) {
  auto const has = [&](std::string_view part) { return name.find(part) != name.npos; };
  auto const per_second = has(".per_second");
  if (has(".pct"))
    to.add_enum(gpu_counter_spec::numerator_units, unit_percent);
  else if (has("bytes"))
    to.add_enum(gpu_counter_spec::numerator_units, unit_byte);
  else if (has("time_duration"))
    to.add_enum(gpu_counter_spec::numerator_units, unit_nanosecond);
  else if (has("inst_"))
    to.add_enum(gpu_counter_spec::numerator_units, unit_instruction);
  else if (has("__cycles") && per_second)
    return to.add_enum(gpu_counter_spec::numerator_units, unit_hertz);
  if (per_second) to.add_enum(gpu_counter_spec::denominator_units, unit_second);
}

void add_value(message<gpu_counter_event>& to, std::uint32_t id, double value) {
  message<gpu_counter> one(to, gpu_counter_event::counters);
  one.add_uint32(gpu_counter::counter_id, id);
  one.add_double(gpu_counter::double_value, value);
}

}  // namespace

void add_descriptor(message<gpu_counter_event>& to, std::span<counter_spec const> specs) {
  message<gpu_counter_descriptor> all(to, gpu_counter_event::counter_descriptor);
  for (auto const& spec : specs) {
    message<gpu_counter_spec> one(all, gpu_counter_descriptor::specs);
    one.add_uint32(gpu_counter_spec::counter_id, spec.id);
    one.add_string(gpu_counter_spec::name, spec.name);
    add_units(one, spec.name);
    one.add_enum(gpu_counter_spec::groups, spec.group);
  }
}

void add_values(message<gpu_counter_event>& to, std::span<counter_value const> values) {
  for (auto const& value : values) add_value(to, value.id, value.value);
}

void add_zeros(message<gpu_counter_event>& to, std::span<counter_value const> values) {
  for (auto const& value : values) add_value(to, value.id, 0);
}

}  // namespace gpuprof::perfetto
