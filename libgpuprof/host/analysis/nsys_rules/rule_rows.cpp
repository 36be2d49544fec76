// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/nsys_rules/rule_rows.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace gpuprof::host::nsys_rules {
namespace {

/// Ignores case, as SQL's LIKE does.
std::string small_letters(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

bool begins(std::string_view name, std::string_view prefix) {
  return small_letters(name).starts_with(prefix);
}

bool is_asynchronous(std::string_view name) {
  return small_letters(name).find("async") != std::string::npos;
}

}  // namespace

bool is_asynchronous_copy_call(std::string_view name, api_domain domain) noexcept {
  return begins(name, domain == api_domain::runtime ? "cudamemcpy" : "cumemcpy") &&
         is_asynchronous(name);
}

bool is_blocking_copy_call(std::string_view name, api_domain domain) noexcept {
  return begins(name, domain == api_domain::runtime ? "cudamemcpy" : "cumemcpy") &&
         !is_asynchronous(name);
}

bool is_blocking_fill_call(std::string_view name, api_domain domain) noexcept {
  return begins(name, domain == api_domain::runtime ? "cudamemset" : "cumemset") &&
         !is_asynchronous(name);
}

bool is_wait_call(std::string_view name, api_domain domain) noexcept {
  if (domain == api_domain::driver)
    return begins(name, "cuctxsynchronize") || begins(name, "custreamsynchronize");
  return begins(name, "cudadevicesynchronize") || begins(name, "cudastreamsynchronize");
}

}  // namespace gpuprof::host::nsys_rules
