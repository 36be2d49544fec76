// SPDX-License-Identifier: Apache-2.0
#include "chip_at_hand.hpp"

#include "child_probe.hpp"
#include "guest/driver/device_facts.hpp"
#include "guest/metrics/planning/counter_library.hpp"
#include "guest/metrics/planning/host_profiler.hpp"
#include "guest/metrics/planning/metric_catalog.hpp"
#include "guest/metrics/planning/metric_sets.hpp"

#include <algorithm>
#include <cstdlib>

namespace gpuprof::host::command {

using namespace guest;

namespace {

findings probe_chip() {
  unsetenv("CUDA_INJECTION64_PATH");  // no injected tool may start in the probe
  findings found;
  auto const driver = load_cuda_driver();
  if (!driver) {
    found["missing"] = driver.message();
    return found;
  }
  if (driver->cuInit == nullptr || driver->cuInit(0) != CUDA_SUCCESS) {
    found["missing"] = "cuInit failed, see gpuprof status";
    return found;
  }
  auto const facts = read_driver_facts(*driver);
  if (facts.devices.empty()) {
    found["missing"] = "none is visible";
    return found;
  }
  auto const& gpu = facts.devices.front();
  auto& chip = found["chip"] = chip_of_gpu(0, static_cast<unsigned>(facts.cuda_version / 1000),
                                           gpu.compute_major, gpu.compute_minor);
  if (chip.empty()) found["missing"] = gpu.name + " is of no chip that is known";
  return found;
}

}  // namespace

result<std::string> chip_at_hand() {
  auto outcome = probe_in_child(probe_chip);
  if (!outcome.failure.empty()) return error{"the probe " + outcome.failure};
  if (auto const missing = outcome.found.find("missing"); missing != outcome.found.end())
    return error{missing->second};
  return outcome.found["chip"];
}

namespace {

bool has(metric_catalog const& catalog, std::string const& name) {
  auto const* const base = catalog.base_of(name);
  if (base == nullptr) return false;
  auto const& suffixes = catalog.suffixes(base->type);
  return std::find(suffixes.begin(), suffixes.end(), name.substr(base->name.size())) !=
         suffixes.end();
}

}  // namespace

std::string unknown_metric(std::vector<std::string> const& words) {
  std::vector<std::string> names;
  for (auto const& word : words)
    if (!metric_set_named(word)) names.push_back(word);
  if (names.empty()) return {};
  auto const chip = chip_at_hand();  // first, because it forks before CUPTI is loaded
  if (!chip) return {};
  auto const library = counter_library::open();
  if (!library) return {};
  auto const ranges = host_profiler::open(library->api(), counter_engine::ranges, *chip);
  if (!ranges) return {};
  auto const sampling = host_profiler::open(library->api(), counter_engine::sampling, *chip);
  auto const catalog = metric_catalog::read(*ranges, sampling ? &*sampling : nullptr);
  if (!catalog) return {};
  for (auto const& name : names) {
    if (has(*catalog, name)) continue;
    auto const why = catalog->explain(name);
    return "--metrics " + name + ": " + why.reason +
           (why.nearest.empty() ? "" : ", did you mean " + why.nearest + "?");
  }
  return {};
}

}  // namespace gpuprof::host::command
