// SPDX-License-Identifier: Apache-2.0
// The C interface of include/gpuprof/gpuprof.h, without the peaks.
#define GPUPROF_BUILDING
#include <gpuprof/gpuprof.h>

#include "guest/entry/answered.hpp"
#include "guest/session/process_profiler.hpp"

#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace gpuprof;
using namespace gpuprof::guest;

// Programs built with an older header have a smaller struct; later fields are read only when
// struct_size covers them.
constexpr std::size_t options_size_of_first_version =
    offsetof(gpuprof_options, output) + sizeof(gpuprof_options::output);

constexpr char const* wrong_struct_size =
    "struct_size fits no version of gpuprof_options: set it to sizeof(gpuprof_options)";

gpuprof_counter_family family_of(std::string_view name) noexcept {
  auto const family = name.substr(0, name.find('.'));
  if (family == "lost") return GPUPROF_COUNTER_LOST;
  if (family == "cost") return GPUPROF_COUNTER_COST;
  if (family == "note") return GPUPROF_COUNTER_NOTE;
  return family == "counters" ? GPUPROF_COUNTER_READINGS : GPUPROF_COUNTER_OTHER;
}

/// A snapshot and the memory it points to.
struct owned_totals : gpuprof_totals {
  gpuprof::guest::live_snapshot snapshot;
  std::vector<std::pair<std::string, std::uint64_t>> counter_texts;
  gpuprof::guest::listed<gpuprof_kernel_total> listed_kernels;
  gpuprof::guest::listed<gpuprof_copy_total> listed_copies;
  gpuprof::guest::listed<gpuprof_range_total> listed_ranges;
  gpuprof::guest::listed<gpuprof_counter> listed_counters;
};

void point_at_contents(owned_totals& t) {
  for (auto const& k : t.snapshot.kernels)
    t.listed_kernels.add({sizeof(gpuprof_kernel_total), k.name.c_str(), k.count, k.total_ns,
                          k.minimum_ns, k.maximum_ns});
  for (auto const& c : t.snapshot.copies) {
    auto const kind = c.is_fill ? GPUPROF_COPY_NONE : static_cast<gpuprof_copy_kind>(c.kind);
    t.listed_copies.add(
        {sizeof(gpuprof_copy_total), kind, c.is_fill ? 1 : 0, c.count, c.bytes, c.total_ns});
  }
  for (auto const& r : t.snapshot.ranges)
    t.listed_ranges.add({sizeof(gpuprof_range_total), r.name.c_str(), r.count, r.cpu_ns, r.gpu_ns,
                         r.gpu_operations});
  for (auto const& [name, value] : t.counter_texts)
    t.listed_counters.add({sizeof(gpuprof_counter), name.c_str(), family_of(name), value});
  static_cast<gpuprof_totals&>(t) = {.struct_size = sizeof(gpuprof_totals),
                                     .kernels = t.listed_kernels.data(),
                                     .kernel_name_count = t.listed_kernels.size(),
                                     .copies = t.listed_copies.data(),
                                     .copy_kind_count = t.listed_copies.size(),
                                     .ranges = t.listed_ranges.data(),
                                     .range_name_count = t.listed_ranges.size(),
                                     .counters = t.listed_counters.data(),
                                     .counter_count = t.listed_counters.size(),
                                     .launch_count = t.snapshot.kernel_count,
                                     .kernel_ns = t.snapshot.kernel_ns};
}

}  // namespace

extern "C" {

char const* gpuprof_version(void) {
  return GPUPROF_VERSION;
}

char const* gpuprof_last_message(void) {
  return last_message();
}

gpuprof_status gpuprof_start(gpuprof_options const* options) {
  return answered([options] {
    if (options != nullptr && options->struct_size < options_size_of_first_version)
      return refused(GPUPROF_INVALID_ARGUMENT, wrong_struct_size);
    auto const* const output = options != nullptr ? options->output : nullptr;
    return status_of(process_profiler::get().start(output != nullptr ? output : ""));
  });
}

gpuprof_status gpuprof_stop(void) {
  return answered([] {
    auto* const profiler = process_profiler::existing();
    if (profiler == nullptr) return refused(GPUPROF_INACTIVE, no_capture_runs);
    return status_of(profiler->stop());
  });
}

gpuprof_status gpuprof_flush(void) {
  return answered([] {
    auto* const profiler = process_profiler::existing();
    if (profiler == nullptr) return refused(GPUPROF_INACTIVE, nothing_captured);
    return status_of(profiler->flush());
  });
}

gpuprof_status gpuprof_step(void) {
  return answered([] {
    process_profiler::get().step();
    return GPUPROF_OK;
  });
}

int gpuprof_is_capturing(void) {
  return guarded(0, [] {
    auto* const profiler = process_profiler::existing();
    return profiler != nullptr && profiler->capturing() ? 1 : 0;
  });
}

gpuprof_status gpuprof_take_totals(gpuprof_totals const** totals) {
  if (totals != nullptr) *totals = nullptr;
  return answered([totals] {
    if (totals == nullptr) return refused(GPUPROF_INVALID_ARGUMENT, "totals is NULL");
    auto* const profiler = process_profiler::existing();
    if (profiler == nullptr || !profiler->has_captured())
      return refused(GPUPROF_INACTIVE, nothing_captured);
    auto owned = std::make_unique<owned_totals>();
    owned->snapshot = profiler->totals();
    owned->counter_texts = profiler->counters();
    point_at_contents(*owned);
    *totals = owned.release();
    return GPUPROF_OK;
  });
}

void gpuprof_release_totals(gpuprof_totals const* totals) {
  delete static_cast<owned_totals const*>(totals);
}

size_t gpuprof_capture_path(char* buffer, size_t size) {
  return guarded(size_t{0}, [=] {
    auto* const profiler = process_profiler::existing();
    auto const path = profiler != nullptr ? profiler->capture_path() : std::string{};
    if (buffer != nullptr && size > 0) {
      auto const length = std::min(path.size(), size - 1);
      std::memcpy(buffer, path.data(), length);
      buffer[length] = '\0';
    }
    return path.size();
  });
}

}  // extern "C"
