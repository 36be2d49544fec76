// SPDX-License-Identifier: Apache-2.0
#include "guest/cupti/api.hpp"

#include "base/real_dlsym.hpp"

#include <dlfcn.h>
#include <string>

namespace gpuprof::guest {

char const* cupti_api::first_missing_for_tracing() const noexcept {
#define GPUPROF_CHECK(name) \
  if (name == nullptr) return #name;
  GPUPROF_CUPTI_TRACING(GPUPROF_CHECK)
#undef GPUPROF_CHECK
  return nullptr;
}

char const* cupti_api::first_missing_for_counters() const noexcept {
#define GPUPROF_CHECK(name) \
  if (name == nullptr) return #name;
  GPUPROF_CUPTI_COUNTERS(GPUPROF_CHECK)
#undef GPUPROF_CHECK
  return nullptr;
}

char const* cupti_api::first_missing_for_ranges() const noexcept {
#define GPUPROF_CHECK(name) \
  if (name == nullptr) return #name;
  GPUPROF_CUPTI_RANGES(GPUPROF_CHECK)
#undef GPUPROF_CHECK
  return nullptr;
}

char const* cupti_api::first_missing_for_sampling() const noexcept {
#define GPUPROF_CHECK(name) \
  if (name == nullptr) return #name;
  GPUPROF_CUPTI_SAMPLING(GPUPROF_CHECK)
#undef GPUPROF_CHECK
  return nullptr;
}

cupti_api resolve_cupti(void* library) noexcept {
  cupti_api api;
  auto const find = real_dlsym();
#define GPUPROF_RESOLVE(name) api.name = reinterpret_cast<decltype(api.name)>(find(library, #name));
  GPUPROF_CUPTI_FUNCTIONS(GPUPROF_RESOLVE)
#undef GPUPROF_RESOLVE
  dlerror();  // older versions lack some; the program must not see that error
  return api;
}

std::string cupti_version_text(unsigned version) {
  if (version >= 100000) {  // the form is xxyyzz since CUDA 13.0
    auto text = std::to_string(version / 10000);
    text.append(1, '.').append(std::to_string(version / 100 % 100));
    if (version % 100 != 0) text.append(1, '.').append(std::to_string(version % 100));
    return text;
  }
  struct known {
    unsigned version;
    char const* cuda;
  };
  static constexpr known table[] = {{18, "11.8"}, {19, "12.0"},  {20, "12.2"}, {21, "12.3"},
                                    {22, "12.4"}, {23, "12.5"},  {24, "12.6"}, {26, "12.8"},
                                    {27, "12.9"}, {28, "12.9.1"}};
  for (auto const& k : table) {
    if (k.version == version) return k.cuda;
  }
  return std::string("API ").append(std::to_string(version));
}

}  // namespace gpuprof::guest
