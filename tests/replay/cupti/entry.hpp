// SPDX-License-Identifier: Apache-2.0
// The first lines of each exported function: rules that hold everywhere, faults, and whether CUPTI
// works.
#pragma once

#include <cupti.h>

namespace gpuprof::replay {

/// The code with which this call must fail; CUPTI_SUCCESS: it is done. Ends a forked child.
CUptiResult enter(char const* function);
/// The same of a function that needs the driver.
CUptiResult enter_with_driver(char const* function);

void not_inside_buffer_callback(char const* function);
/// "Allowed callers: any thread, or driver and runtime callbacks", not those of other domains.
void not_inside_other_callback(char const* function);

}  // namespace gpuprof::replay

#define WORKS_ALWAYS() \
  if (auto const code = ::gpuprof::replay::enter(__func__); code != CUPTI_SUCCESS) return code
#define NEEDS_DRIVER()                                                                         \
  if (auto const code = ::gpuprof::replay::enter_with_driver(__func__); code != CUPTI_SUCCESS) \
  return code
/// Parameters of CUPTI's newer functions say their size and have a member for NVIDIA alone.
#define NEEDS_SIZE(type)                                                                         \
  if (params == nullptr || params->structSize != type##_STRUCT_SIZE || params->pPriv != nullptr) \
  return CUPTI_ERROR_INVALID_PARAMETER
