// SPDX-License-Identifier: Apache-2.0
#include "guest/cupti/chip_name.hpp"

namespace gpuprof::guest {

std::string chip_name(cupti_api const& api, std::size_t device) {
  if (api.cuptiDeviceGetChipName == nullptr) return {};
  CUpti_Device_GetChipName_Params params{};
  params.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE;
  params.deviceIndex = device;
  if (api.cuptiDeviceGetChipName(&params) != CUPTI_SUCCESS || params.pChipName == nullptr)
    return {};
  return params.pChipName;
}

}  // namespace gpuprof::guest
