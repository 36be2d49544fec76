// SPDX-License-Identifier: Apache-2.0
// What the clients that count share: settings, parameters of the right size, calls that are
// checked.
#pragma once

#include <cupti.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

inline std::string variable(char const* name, char const* otherwise = "") {
  char const* const text = std::getenv(name);
  return text != nullptr ? text : otherwise;
}

inline bool misuse_is(char const* which) {
  return variable("REPLAY_CLIENT_MISUSE") == which;
}

/// Parameters with their size filled in.
template <class Params>
Params sized(std::size_t size) {
  Params params;
  std::memset(&params, 0, sizeof params);
  params.structSize = size;
  return params;
}
#define PARAMS(type) sized<type>(type##_STRUCT_SIZE)

/// Where the client writes what it sees.
inline std::FILE* output = nullptr;

inline bool works(CUptiResult code, char const* what) {
  if (code != CUPTI_SUCCESS) std::fprintf(output, "failed:%s=%d\n", what, code);
  return code == CUPTI_SUCCESS;
}
/// Of a member of `cupti`, the client's table of functions.
#define WORKS(function, params) works(cupti.function(&(params)), #function)
