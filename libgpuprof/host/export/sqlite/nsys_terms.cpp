// SPDX-License-Identifier: Apache-2.0
#include "host/export/sqlite/nsys_terms.hpp"

namespace gpuprof {

nsys_terms::nsys_terms(trace_contents& trace)
    : trace_(&trace),
      origin_(trace.origin()),
      process_(trace.process_id()),
      global_process_(host | std::int64_t{process_ & largest_process} << 24) {
  trace.file().for_each<context_record>([&](std::span<context_record const> contexts) {
    for (auto const& context : contexts) devices_[context.context] = context.device;
  });
}

std::optional<std::int64_t> nsys_terms::global_thread(thread_index thread) const {
  auto const known = raw(thread) == 0 ? 0 : trace_->os_thread(thread);
  return known == 0 ? std::nullopt : std::optional(global_thread(known));
}

device_id nsys_terms::device_of(context_id context) const {
  auto const known = devices_.find(context);
  return known != devices_.end() ? known->second : device_id{};
}

}  // namespace gpuprof
