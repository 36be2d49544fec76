// SPDX-License-Identifier: Apache-2.0
// gpuprof_take_metrics of include/gpuprof/gpuprof.h: libgpuprof-capture.so, which lies beside this
// library, reads the figures from the capture on the thread that asks.
#define GPUPROF_BUILDING
#include <gpuprof/gpuprof.h>

#include "base/log.hpp"
#include "base/process.hpp"
#include "guest/entry/answered.hpp"
#include "guest/session/process_profiler.hpp"
#include "model/flop_counters.hpp"
#include "model/precisions.hpp"
#include "model/recent_metrics.hpp"

#include <array>
#include <atomic>
#include <dlfcn.h>
#include <string>
#include <utility>

namespace {

using namespace gpuprof;
using namespace gpuprof::guest;

constexpr std::uint64_t recent_ns = 10'000'000'000;

gpuprof_status none_are_asked_for() noexcept {
  constexpr char const* why =
      "gpuprof_take_metrics() has nothing to give: no counters are read. GPUPROF_METRICS=auto "
      "reads them";
  static std::atomic<bool> said{false};
  if (first_time(said)) log_warning(why);
  return refused(GPUPROF_INACTIVE, why);
}

std::atomic<recent_metrics_reader const*> reader{nullptr};

/// Opens the library at the first call and never closes it. Returns null with a message if it
/// cannot be opened.
recent_metrics_reader const* reader_of_captures() {
  if (auto const* const known = reader.load(std::memory_order_acquire)) return known;
  auto path = path_of_object_holding(reinterpret_cast<void const*>(&gpuprof_take_metrics));
  path.resize(path.rfind('/') + 1);
  path += GPUPROF_CAPTURE_FILE;
  auto* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto* const found = library != nullptr ? dlsym(library, recent_metrics_symbol) : nullptr;
  if (found == nullptr) {
    auto const* const why = dlerror();
    keep_message("gpuprof_take_metrics() needs the library beside libgpuprof.so: " +
                 std::string(why != nullptr ? why : path.c_str()));
    return nullptr;
  }
  reader.store(static_cast<recent_metrics_reader const*>(found), std::memory_order_release);
  return reader.load();
}

}  // namespace

extern "C" {

gpuprof_status gpuprof_take_metrics(gpuprof_metrics const** metrics) {
  if (metrics != nullptr) *metrics = nullptr;
  return answered([metrics] {
    if (metrics == nullptr) return refused(GPUPROF_INVALID_ARGUMENT, "metrics is NULL");
    auto* const profiler = process_profiler::existing();
    if (profiler == nullptr || !profiler->has_captured())
      return refused(GPUPROF_INACTIVE, nothing_captured);
    if (!profiler->reads_counters()) return none_are_asked_for();
    auto const written_until = profiler->written_until();
    auto const path = profiler->capture_path();
    if (path.empty())
      return refused(GPUPROF_INACTIVE,
                     "gpuprof_take_metrics() reads the capture file, and there is none");
    auto const* const captures = reader_of_captures();
    if (captures == nullptr) return GPUPROF_INACTIVE;
    std::array<char, 512> why{};
    *metrics =
        captures->take(path.c_str(), {recent_ns, written_until.value}, why.data(), why.size());
    if (*metrics != nullptr) return GPUPROF_OK;
    keep_message(why.data());
    return GPUPROF_INACTIVE;
  });
}

void gpuprof_release_metrics(gpuprof_metrics const* metrics) {
  if (metrics != nullptr) reader.load(std::memory_order_acquire)->release(metrics);
}

char const* gpuprof_precision_name(gpuprof_precision of) {
  return of >= 0 && of < static_cast<int>(precision_count)
             ? key_of(static_cast<precision>(of)).data()
             : "";
}

char const* gpuprof_flops_source_name(gpuprof_flops_source source) {
  return source >= 0 && source <= GPUPROF_FLOPS_DECLARED
             ? name_of(static_cast<flop_source>(source)).data()
             : "";
}

char const* gpuprof_bound_name(gpuprof_bound bound) {
  switch (bound) {
    case GPUPROF_BOUND_LATENCY:
      return "latency";
    case GPUPROF_BOUND_DRAM:
      return "DRAM";
    case GPUPROF_BOUND_L2:
      return "L2";
    default:
      break;
  }
  auto const p = static_cast<int>(bound) - GPUPROF_BOUND_FP64;
  return p >= 0 && std::cmp_less(p, precision_count) ? name_of(static_cast<precision>(p)).data()
                                                     : "";
}

}  // extern "C"
