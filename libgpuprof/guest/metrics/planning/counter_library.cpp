// SPDX-License-Identifier: Apache-2.0
#include "guest/metrics/planning/counter_library.hpp"

#include "guest/cupti/chip_name.hpp"
#include "guest/metrics/planning/chips.hpp"

namespace gpuprof::guest {

result<counter_library> counter_library::open() {
  auto cupti = load_cupti(0);
  if (!cupti) return error{cupti.message()};
  open_nvperf_host(*cupti);
  return counter_library(std::move(*cupti));
}

std::string chip_of_gpu(int ordinal, unsigned driver_major, int compute_major, int compute_minor) {
  if (auto const cupti = load_cupti(driver_major)) {
    auto name = chip_name(cupti->api, static_cast<std::size_t>(ordinal));
    if (!name.empty()) return name;
  }
  return std::string(chip_of_compute_capability(compute_major, compute_minor));
}

}  // namespace gpuprof::guest
