// The C interface of include/gpuprof/gpuprof.h, without the peaks.
#define GPUPROF_BUILDING
#include <gpuprof/gpuprof.h>

#include "entry/guarded.hpp"
#include "session/process_profiler.hpp"

#include <cstring>
#include <string>
#include <vector>

namespace {

using gpuprof::guarded;
// Programs built with an older header have a smaller struct; later fields are read only when
// struct_size covers them.
constexpr std::size_t options_size_of_first_version =
    offsetof(gpuprof_options, output) + sizeof(gpuprof_options::output);
using gpuprof::process_profiler;

/// A snapshot and the memory it points to.
struct owned_totals {
  gpuprof_totals view{};  // first member: the address handed out is the owner's
  gpuprof::live_snapshot snapshot;
  std::vector<std::pair<std::string, std::uint64_t>> counter_texts;
  std::vector<gpuprof_kernel_total> kernels;
  std::vector<gpuprof_copy_total> copies;
  std::vector<gpuprof_range_total> ranges;
  std::vector<gpuprof_counter> counters;
};

void point_view_at_contents(owned_totals& t) {
  for (auto const& k : t.snapshot.kernels) {
    t.kernels.push_back({k.name.c_str(), k.count, k.total_ns, k.minimum_ns, k.maximum_ns});
  }
  for (auto const& c : t.snapshot.copies) {
    t.copies.push_back({c.is_fill ? 0 : static_cast<int>(c.kind), c.is_fill ? 1 : 0, c.count,
                        c.bytes, c.total_ns});
  }
  for (auto const& r : t.snapshot.ranges) {
    t.ranges.push_back({r.name.c_str(), r.count, r.cpu_ns, r.gpu_ns, r.gpu_operations});
  }
  for (auto const& [name, value] : t.counter_texts) t.counters.push_back({name.c_str(), value});
  t.view = {t.kernels.data(),        t.kernels.size(),    t.copies.data(),   t.copies.size(),
            t.ranges.data(),         t.ranges.size(),     t.counters.data(), t.counters.size(),
            t.snapshot.kernel_count, t.snapshot.kernel_ns};
}

}  // namespace

extern "C" {

char const* gpuprof_version(void) {
  return GPUPROF_VERSION;
}

gpuprof_status gpuprof_start(gpuprof_options const* options) {
  if (options != nullptr && options->struct_size < options_size_of_first_version)
    return GPUPROF_INVALID_ARGUMENT;
  return guarded(GPUPROF_INACTIVE, [options] {
    auto const* const output = options != nullptr ? options->output : nullptr;
    return process_profiler::get().start(output != nullptr ? output : "") ? GPUPROF_OK
                                                                          : GPUPROF_INACTIVE;
  });
}

gpuprof_status gpuprof_stop(void) {
  return guarded(GPUPROF_INACTIVE, [] {
    auto* const profiler = process_profiler::existing();
    if (profiler == nullptr || !profiler->capturing()) return GPUPROF_INACTIVE;
    return profiler->stop() ? GPUPROF_OK : GPUPROF_TIMEOUT;
  });
}

gpuprof_status gpuprof_flush(void) {
  return guarded(GPUPROF_INACTIVE, [] {
    auto* const profiler = process_profiler::existing();
    if (profiler == nullptr || !profiler->active()) return GPUPROF_INACTIVE;
    return profiler->flush() ? GPUPROF_OK : GPUPROF_TIMEOUT;
  });
}

gpuprof_status gpuprof_step(void) {
  return guarded(GPUPROF_INACTIVE, [] {
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
  if (totals == nullptr) return GPUPROF_INVALID_ARGUMENT;
  *totals = nullptr;
  return guarded(GPUPROF_INACTIVE, [totals] {
    auto* const profiler = process_profiler::existing();
    if (profiler == nullptr || !profiler->has_captured()) return GPUPROF_INACTIVE;
    auto owned = std::make_unique<owned_totals>();
    owned->snapshot = profiler->totals();
    owned->counter_texts = profiler->counters();
    point_view_at_contents(*owned);
    *totals = &owned.release()->view;
    return GPUPROF_OK;
  });
}

void gpuprof_release_totals(gpuprof_totals const* totals) {
  if (totals == nullptr) return;
  static_assert(offsetof(owned_totals, view) == 0,
                "gpuprof_release_totals() finds the owner at the view's address");
  delete reinterpret_cast<owned_totals*>(const_cast<gpuprof_totals*>(totals));
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
