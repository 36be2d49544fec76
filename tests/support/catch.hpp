// SPDX-License-Identifier: Apache-2.0
// Catch2, version 2.13 or 3, under one include; and how near is near.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

namespace gpuprof::test {

/// As near as this share of the value: 0.01 is one per cent.
inline Approx within(double value, double share) {
  return Approx(value).epsilon(share);
}

}  // namespace gpuprof::test
