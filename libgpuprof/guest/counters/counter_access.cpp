// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/counter_access.hpp"

#include <string>

namespace gpuprof::guest {
namespace {

constexpr char const* held_by_another =
    "another tool holds them (Nsight Compute, Nsight Systems with GPU metrics, DCGM: dcgmi profile "
    "--pause)";

constexpr char const* read_by_process = " reads the counters of this GPU";

struct obstacle {
  CUpti_Profiler_Support_Level CUpti_Profiler_DeviceSupported_Params::*level;
  char const* words;
};
constexpr obstacle obstacles[] = {
    {&CUpti_Profiler_DeviceSupported_Params::architecture, "GPUs before Volta are too old"},
    {&CUpti_Profiler_DeviceSupported_Params::vGpu,
     "this virtual GPU does not allow it (its host can: enable_profiling=1)"},
    {&CUpti_Profiler_DeviceSupported_Params::confidentialCompute,
     "confidential computing forbids it outside its development mode"},
    {&CUpti_Profiler_DeviceSupported_Params::cmp, "mining processors have none"},
    {&CUpti_Profiler_DeviceSupported_Params::wsl,
     "this WSL does not allow it (Windows 11 and driver 525 or later do)"},
    {&CUpti_Profiler_DeviceSupported_Params::sli, "GPUs in SLI have none"},
};

std::string what_goes_on(counter_engine engine) {
  return engine == counter_engine::sampling ? "" : ". Kernels are traced without them";
}

char const* missing_function(cupti_api const& api, counter_engine engine) noexcept {
  auto const* const missing = api.first_missing_for_ranges();
  if (missing != nullptr || engine == counter_engine::ranges) return missing;
  return api.first_missing_for_sampling();
}

}  // namespace

std::string is_off(counter_engine engine) {
  return engine == counter_engine::sampling ? "sampling in time is off: " : "counters are off: ";
}

error held_by_process(counter_engine engine, std::string const& holder) {
  return {is_off(engine) + (holder.empty() ? "gpuprof in another process" : holder) +
          read_by_process};
}

bool is_held_by_another(std::string_view refusal) noexcept {
  return refusal.find(held_by_another) != refusal.npos ||
         refusal.find(read_by_process) != refusal.npos;
}

error counters_refused(cupti_api const& api, counter_engine engine, CUptiResult code,
                       std::string const& message) {
  auto line = is_off(engine);
  switch (code) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      // Both engines need this.
      line = is_off(counter_engine::ranges) + "this user may not read them (" +
             describe(api, code) +
             "). Run as root or with CAP_SYS_ADMIN (containers: --cap-add=SYS_ADMIN), or load the "
             "driver with NVreg_RestrictProfilingToAdminUsers=0";
      break;
    case CUPTI_ERROR_HARDWARE_BUSY:
      line += held_by_another;
      break;
    default:
      line += message;
  }
  auto const concerns_both = line.starts_with(is_off(counter_engine::ranges));
  return {line + what_goes_on(concerns_both ? counter_engine::ranges : engine)};
}

result<void> open_counters(cupti_api const& api, counter_engine engine, int device) {
  if (auto const* const missing = missing_function(api, engine))
    return error{is_off(engine) + "this libcupti has no " + missing +
                 ", CUDA 12.6 or later is needed" + what_goes_on(engine)};
  cupti_guard const guard(api);
  CUptiResult code{};
  CUpti_Profiler_Initialize_Params initialize{
      .structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE, .pPriv = nullptr};
  if (auto const ok = guard.call_for_code<&cupti_api::cuptiProfilerInitialize>(code, &initialize);
      !ok)
    return counters_refused(api, engine, code, ok.message());

  CUpti_Profiler_DeviceSupported_Params supported{};
  supported.structSize = CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE;
  supported.cuDevice = device;
  supported.api = engine == counter_engine::sampling ? CUPTI_PROFILER_PM_SAMPLING
                                                     : CUPTI_PROFILER_RANGE_PROFILING;
  if (guard.try_call<&cupti_api::cuptiProfilerDeviceSupported>(&supported) &&
      supported.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) {
    for (auto const& o : obstacles) {
      auto const level = supported.*o.level;
      if (level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED ||
          level == CUPTI_PROFILER_CONFIGURATION_DISABLED)
        return error{is_off(counter_engine::ranges) + o.words +
                     what_goes_on(counter_engine::ranges)};
    }
  }
  return {};
}

namespace {

/// Calls `Function` twice: for the size of the image, then for the image.
template <auto Function, class Params>
result<std::vector<std::uint8_t>> availability(cupti_api const& api, counter_engine engine,
                                               Params params, bool& busy) {
  cupti_guard const guard(api);
  std::vector<std::uint8_t> image;
  for (int i = 0; i < 2; ++i) {
    CUptiResult code{};
    auto const ok = guard.call_for_code<Function>(code, &params);
    busy = code == CUPTI_ERROR_HARDWARE_BUSY;
    if (!ok) return counters_refused(api, engine, code, ok.message());
    image.resize(params.counterAvailabilityImageSize);
    params.pCounterAvailabilityImage = image.data();
  }
  return image;
}

}  // namespace

result<std::vector<std::uint8_t>> counter_availability(cupti_api const& api, CUcontext context) {
  bool busy = false;
  return availability<&cupti_api::cuptiProfilerGetCounterAvailability>(
      api, counter_engine::ranges,
      CUpti_Profiler_GetCounterAvailability_Params{
          .structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE,
          .pPriv = nullptr,
          .ctx = context,
          .counterAvailabilityImageSize = 0,
          .pCounterAvailabilityImage = nullptr},
      busy);
}

result<std::vector<std::uint8_t>> sampling_availability(cupti_api const& api, device_id device,
                                                        bool& busy) {
  return availability<&cupti_api::cuptiPmSamplingGetCounterAvailability>(
      api, counter_engine::sampling,
      CUpti_PmSampling_GetCounterAvailability_Params{
          .structSize = CUpti_PmSampling_GetCounterAvailability_Params_STRUCT_SIZE,
          .pPriv = nullptr,
          .deviceIndex = raw(device),
          .counterAvailabilityImageSize = 0,
          .pCounterAvailabilityImage = nullptr},
      busy);
}

}  // namespace gpuprof::guest
