// SPDX-License-Identifier: Apache-2.0
#include "replay/cupti/callback_names.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace gpuprof::replay {
namespace {

struct named {
  std::uint32_t number;
  char const* name;
};

constexpr named driver_calls[] = {
#include "cupti_driver_names.inc"
};
constexpr named runtime_calls[] = {
#include "cupti_runtime_names.inc"
};
constexpr named results[] = {
#include "cupti_result_names.inc"
};

template <std::size_t N>
char const* find(named const (&table)[N], std::uint32_t number) {
  auto const found = std::find_if(std::begin(table), std::end(table),
                                  [number](named const& n) { return n.number == number; });
  return found == std::end(table) ? nullptr : found->name;
}

}  // namespace

char const* callback_name(CUpti_CallbackDomain domain, std::uint32_t id) noexcept {
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) return find(driver_calls, id);
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) return find(runtime_calls, id);
  return nullptr;
}

std::size_t callback_ids_of(CUpti_CallbackDomain domain) noexcept {
  switch (domain) {
    case CUPTI_CB_DOMAIN_DRIVER_API:
      return CUPTI_DRIVER_TRACE_CBID_SIZE;
    case CUPTI_CB_DOMAIN_RUNTIME_API:
      return CUPTI_RUNTIME_TRACE_CBID_SIZE;
    case CUPTI_CB_DOMAIN_RESOURCE:
      return CUPTI_CBID_RESOURCE_SIZE;
    case CUPTI_CB_DOMAIN_SYNCHRONIZE:
      return CUPTI_CBID_SYNCHRONIZE_SIZE;
    case CUPTI_CB_DOMAIN_NVTX:
      return 64;
    case CUPTI_CB_DOMAIN_STATE:
      return CUPTI_CBID_STATE_SIZE;
    default:
      return 0;
  }
}

char const* result_name(CUptiResult code) noexcept {
  return find(results, static_cast<std::uint32_t>(code));
}

}  // namespace gpuprof::replay
