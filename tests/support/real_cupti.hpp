// SPDX-License-Identifier: Apache-2.0
// The libcupti of this machine, for tests of what it really says; it needs no GPU for that.
#pragma once

#include "guest/cupti/loader.hpp"
#include "support/catch.hpp"

#include <cstdio>

namespace gpuprof::test {
using namespace guest;

/// Null where there is none, or none with counters; says so once.
inline loaded_cupti const* real_cupti() {
  static auto const cupti = [] {
    auto loaded = load_cupti(0);
    if (!loaded) {
      std::printf("skipped: %s\n", loaded.message().c_str());
    } else if (loaded->api.first_missing_for_counters() != nullptr) {
      std::printf("skipped: %s is older than CUDA 12.6\n", loaded->path.c_str());
    } else {
      open_nvperf_host(*loaded);
    }
    return loaded;
  }();
  return cupti && cupti->api.first_missing_for_counters() == nullptr ? &*cupti : nullptr;
}

/// What the lists in the library and the numbers in these tests were checked against.
inline bool is_the_known_release(loaded_cupti const& cupti) {
  if (cupti.version / 100 == 1300) return true;
  std::printf("skipped: CUPTI is %s, not 13.0\n", cupti_version_text(cupti.version).c_str());
  return false;
}

}  // namespace gpuprof::test
