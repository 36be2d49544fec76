// SPDX-License-Identifier: Apache-2.0
#include "host/advice/rules/idle_sum.hpp"

namespace gpuprof::advise {

std::string majority(std::map<std::string, double> const& times) {
  double all = 0;
  for (auto const& [name, ns] : times) all += ns;
  for (auto const& [name, ns] : times)
    if (2 * ns > all) return name;
  return {};
}

}  // namespace gpuprof::advise
