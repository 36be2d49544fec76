// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/subject.hpp"

#include "guest/peaks/kernels/kernel_images.hpp"
#include "guest/peaks/store/gpu_key.hpp"

namespace gpuprof::peaks {

peaks_key subject::key() const {
  return make_key(driver, facts, more, kernels_hash());
}

result<subject> find_subject(int ordinal) {
  auto const driver = load_cuda_driver();
  if (!driver) return error{driver.message()};
  if (driver->cuInit == nullptr) return error{"the CUDA driver has no cuInit"};
  if (auto const code = driver->cuInit(0); code != CUDA_SUCCESS) {
    return error{"there is no GPU to measure: cuInit failed with error " +
                 std::to_string(static_cast<int>(code)) + ". See gpuprof status"};
  }
  subject found;
  found.driver = read_driver_facts(*driver);
  auto const count = static_cast<int>(found.driver.devices.size());
  if (count == 0) return error{"there is no GPU to measure: the driver sees none"};
  if (ordinal < 0 || ordinal >= count) {
    return error{"there is no GPU " + std::to_string(ordinal) + ": the driver sees " +
                 std::to_string(count) + ", numbered from 0"};
  }
  found.facts = found.driver.devices[static_cast<std::size_t>(ordinal)];
  if (auto library = nvml::open()) {
    found.library.emplace(std::move(*library));
    found.device = found.library->device(found.facts.uuid);
    if (found.device) found.more = found.device->facts();
  }
  return found;
}

}  // namespace gpuprof::peaks
