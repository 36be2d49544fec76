// SPDX-License-Identifier: Apache-2.0
// The NVTX headers as a tool sees them: types only.
#pragma once

#ifndef NVTX_NO_IMPL
#define NVTX_NO_IMPL
#endif
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
