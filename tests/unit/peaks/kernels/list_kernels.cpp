// SPDX-License-Identifier: Apache-2.0
// Prints the list of computing kernels for work_figures.py: image, name, threads, work.
#include "guest/peaks/experiments/kernel_list.hpp"

#include <iostream>

int main() {
  std::cout.precision(17);
  for (auto const& kernel : gpuprof::guest::peaks::compute_kernels())
    std::cout << kernel.image << ' ' << kernel.name << ' ' << kernel.threads << ' ' << kernel.work
              << '\n';
}
