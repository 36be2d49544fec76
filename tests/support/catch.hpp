// SPDX-License-Identifier: Apache-2.0
// Catch2, version 2.13 or 3, under one include.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

namespace gpuprof::test {

inline Approx within(double value, double share) {
  return Approx(value).epsilon(share);
}

}  // namespace gpuprof::test
