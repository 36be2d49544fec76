// SPDX-License-Identifier: Apache-2.0
// Names for values of those enums of the C API that only this library defines.
#define GPUPROF_BUILDING
#include <gpuprof/peaks.h>

extern "C" {

char const* gpuprof_status_name(gpuprof_status status) {
  switch (status) {
    case GPUPROF_OK:
      return "ok";
    case GPUPROF_INACTIVE:
      return "inactive";
    case GPUPROF_INVALID_ARGUMENT:
      return "invalid argument";
    case GPUPROF_TIMEOUT:
      return "timeout";
  }
  return "";
}

char const* gpuprof_copy_kind_name(gpuprof_copy_kind kind) {
  switch (kind) {
    case GPUPROF_COPY_NONE:
      break;
    case GPUPROF_COPY_HOST_TO_DEVICE:
      return "host to device";
    case GPUPROF_COPY_DEVICE_TO_HOST:
      return "device to host";
    case GPUPROF_COPY_HOST_TO_ARRAY:
      return "host to array";
    case GPUPROF_COPY_ARRAY_TO_HOST:
      return "array to host";
    case GPUPROF_COPY_ARRAY_TO_ARRAY:
      return "array to array";
    case GPUPROF_COPY_ARRAY_TO_DEVICE:
      return "array to device";
    case GPUPROF_COPY_DEVICE_TO_ARRAY:
      return "device to array";
    case GPUPROF_COPY_DEVICE_TO_DEVICE:
      return "device to device";
    case GPUPROF_COPY_HOST_TO_HOST:
      return "host to host";
    case GPUPROF_COPY_PEER_TO_PEER:
      return "peer to peer";
  }
  return "";
}

char const* gpuprof_limiter_name(gpuprof_limiter limiter) {
  switch (limiter) {
    case GPUPROF_LIMITER_IDLE:
      return "idle";
    case GPUPROF_LIMITER_APPLICATION_CLOCKS:
      return "application clocks";
    case GPUPROF_LIMITER_POWER_CAP:
      return "power cap";
    case GPUPROF_LIMITER_HARDWARE_SLOWDOWN:
      return "hardware slowdown";
    case GPUPROF_LIMITER_SYNC_BOOST:
      return "sync boost";
    case GPUPROF_LIMITER_SOFTWARE_THERMAL:
      return "software thermal slowdown";
    case GPUPROF_LIMITER_HARDWARE_THERMAL:
      return "hardware thermal slowdown";
    case GPUPROF_LIMITER_POWER_BRAKE:
      return "power brake";
    case GPUPROF_LIMITER_DISPLAY_CLOCKS:
      return "display clocks";
  }
  return "";
}

}  // extern "C"
