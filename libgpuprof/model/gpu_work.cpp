// SPDX-License-Identifier: Apache-2.0
#include "model/gpu_work.hpp"

namespace gpuprof {

std::string_view direction_of(copy_kind kind) noexcept {
  switch (kind) {
    case copy_kind::host_to_device:
      return "Host-to-Device";
    case copy_kind::device_to_host:
      return "Device-to-Host";
    case copy_kind::host_to_array:
      return "Host-to-Array";
    case copy_kind::array_to_host:
      return "Array-to-Host";
    case copy_kind::array_to_array:
      return "Array-to-Array";
    case copy_kind::array_to_device:
      return "Array-to-Device";
    case copy_kind::device_to_array:
      return "Device-to-Array";
    case copy_kind::device_to_device:
      return "Device-to-Device";
    case copy_kind::host_to_host:
      return "Host-to-Host";
    case copy_kind::peer_to_peer:
      return "Peer-to-Peer";
    case copy_kind::unknown:
      break;
  }
  return "Unknown";
}

std::string operation_of(copy_kind kind) {
  return "[CUDA memcpy " + std::string(direction_of(kind)) + "]";
}

}  // namespace gpuprof
