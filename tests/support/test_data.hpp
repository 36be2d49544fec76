// SPDX-License-Identifier: Apache-2.0
// Finds the stored files of the tests. The folder stands in one small object, so that no other
// object holds a path of this machine, and a compiler cache can use them for another checkout.
#pragma once

#include <string>

namespace gpuprof::test {

/// The path of `name` below tests/data, "peaks/h200.json" for example.
std::string test_data(std::string const& name);

}  // namespace gpuprof::test
