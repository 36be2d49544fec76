// SPDX-License-Identifier: Apache-2.0
// The names of CUDA's calls by callback id, and of CUPTI's result codes, as in the toolkit's
// headers.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>

namespace gpuprof::replay {

/// Null for an id that the domain does not have.
char const* callback_name(CUpti_CallbackDomain domain, std::uint32_t id) noexcept;

/// One more than the largest callback id of a domain.
std::size_t callback_ids_of(CUpti_CallbackDomain domain) noexcept;

/// "CUPTI_ERROR_UNKNOWN"; null for a number that is no code.
char const* result_name(CUptiResult code) noexcept;

}  // namespace gpuprof::replay
