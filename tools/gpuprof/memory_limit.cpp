// SPDX-License-Identifier: Apache-2.0
#include "memory_limit.hpp"

#include <cstdio>
#include <unistd.h>

namespace gpuprof::host::command {
namespace {

/// Returns the current size of the process that RLIMIT_DATA counts; it is large with a sanitizer.
double data_bytes() noexcept {
  unsigned long long pages = 0;
  if (auto* const file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%*s %*s %*s %*s %*s %llu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

memory_limit::memory_limit(double gib) noexcept {
  getrlimit(RLIMIT_DATA, &before_);
  auto const bytes = data_bytes() + gib * (1 << 30);
  if (bytes >= static_cast<double>(before_.rlim_cur)) return;  // the existing limit is lower
  rlimit const limit{static_cast<rlim_t>(bytes), before_.rlim_max};
  setrlimit(RLIMIT_DATA, &limit);
}

memory_limit::~memory_limit() {
  setrlimit(RLIMIT_DATA, &before_);
}

std::string needs_more_memory(std::string const& file, double gib) {
  char amount[32];
  std::snprintf(amount, sizeof amount, "%g GiB", gib);
  return file + " takes more than " + amount +
         " of memory to read; nothing more is written. Allow more with --memory-limit";
}

}  // namespace gpuprof::host::command
