// SPDX-License-Identifier: Apache-2.0
// The replay libcupti names calls and results as the real one does, where a real one is installed.
#include "replay/cupti/callback_names.hpp"

#include "support/catch.hpp"

#include <dlfcn.h>
#include <string>

using namespace gpuprof::replay;

TEST_CASE("well-known calls have their names") {
  CHECK(std::string(callback_name(CUPTI_CB_DOMAIN_DRIVER_API, 307)) == "cuLaunchKernel");
  CHECK(std::string(callback_name(CUPTI_CB_DOMAIN_DRIVER_API, 277)) == "cuMemcpyHtoDAsync_v2");
  CHECK(std::string(callback_name(CUPTI_CB_DOMAIN_RUNTIME_API, 211)) == "cudaLaunchKernel_v7000");
  CHECK(std::string(result_name(CUPTI_ERROR_UNKNOWN)) == "CUPTI_ERROR_UNKNOWN");
  CHECK(callback_name(CUPTI_CB_DOMAIN_DRIVER_API, 1'000'000) == nullptr);
  CHECK(callback_name(CUPTI_CB_DOMAIN_RESOURCE, 1) == nullptr);
}

TEST_CASE("every name equals the one in the real library") {
  void* const real = dlopen(GPUPROF_REAL_CUPTI, RTLD_NOW | RTLD_LOCAL);
  if (real == nullptr) {
    WARN("not compared: there is no " GPUPROF_REAL_CUPTI);
    return;
  }
  auto const name_of =
      reinterpret_cast<decltype(&cuptiGetCallbackName)>(dlsym(real, "cuptiGetCallbackName"));
  auto const version_of =
      reinterpret_cast<decltype(&cuptiGetVersion)>(dlsym(real, "cuptiGetVersion"));
  REQUIRE(name_of != nullptr);
  std::uint32_t version = 0;
  version_of(&version);
  if (version != CUPTI_API_VERSION) return;  // another toolkit's: it may know other calls
  for (auto const domain : {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API}) {
    for (std::uint32_t id = 1; id < callback_ids_of(domain); ++id) {
      char const* real_name = nullptr;
      if (name_of(domain, id, &real_name) != CUPTI_SUCCESS) continue;
      char const* const ours = callback_name(domain, id);
      REQUIRE(ours != nullptr);
      CHECK(std::string(ours) == real_name);
    }
  }
}
