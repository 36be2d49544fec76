#include "counters/counter_access.hpp"

#include <string>

namespace gpuprof {
namespace {

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

constexpr auto tracing_goes_on = ". Kernels are traced without them";

}  // namespace

error counters_refused(cupti_api const& api, CUptiResult code, std::string const& message) {
  std::string line = "counters are off: ";
  switch (code) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      line += "this user may not read them (" + describe(api, code) +
              "). Run as root or with CAP_SYS_ADMIN (containers: --cap-add=SYS_ADMIN), or load the "
              "driver with NVreg_RestrictProfilingToAdminUsers=0";
      break;
    case CUPTI_ERROR_HARDWARE_BUSY:
      line +=
          "another tool holds them (Nsight Compute, Nsight Systems with GPU metrics, DCGM: "
          "dcgmi profile --pause)";
      break;
    default:
      line += message;
  }
  return {line + tracing_goes_on};
}

result<void> open_counters(cupti_api const& api, int device) {
  if (auto const* const missing = api.first_missing_for_ranges())
    return error{std::string("counters are off: this libcupti has no ") + missing +
                 ", CUDA 12.6 or later is needed" + tracing_goes_on};
  cupti_guard const guard(api);
  CUptiResult code{};
  CUpti_Profiler_Initialize_Params initialize{
      .structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE, .pPriv = nullptr};
  if (auto const ok = guard.call_for_code<&cupti_api::cuptiProfilerInitialize>(code, &initialize);
      !ok)
    return counters_refused(api, code, ok.message());

  CUpti_Profiler_DeviceSupported_Params supported{};
  supported.structSize = CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE;
  supported.cuDevice = device;
  supported.api = CUPTI_PROFILER_RANGE_PROFILING;
  if (guard.try_call<&cupti_api::cuptiProfilerDeviceSupported>(&supported) &&
      supported.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) {
    for (auto const& o : obstacles) {
      auto const level = supported.*o.level;
      if (level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED ||
          level == CUPTI_PROFILER_CONFIGURATION_DISABLED)
        return error{std::string("counters are off: ") + o.words + tracing_goes_on};
    }
  }
  return {};
}

result<std::vector<std::uint8_t>> counter_availability(cupti_api const& api, CUcontext context) {
  cupti_guard const guard(api);
  CUptiResult code{};
  CUpti_Profiler_GetCounterAvailability_Params params{
      .structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .ctx = context,
      .counterAvailabilityImageSize = 0,
      .pCounterAvailabilityImage = nullptr};
  if (auto const ok =
          guard.call_for_code<&cupti_api::cuptiProfilerGetCounterAvailability>(code, &params);
      !ok)
    return counters_refused(api, code, ok.message());
  std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  if (auto const ok =
          guard.call_for_code<&cupti_api::cuptiProfilerGetCounterAvailability>(code, &params);
      !ok)
    return counters_refused(api, code, ok.message());
  return image;
}

}  // namespace gpuprof
