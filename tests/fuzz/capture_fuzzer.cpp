// SPDX-License-Identifier: Apache-2.0
// libFuzzer's way into the capture reader.
#include "fuzz/capture_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  gpuprof::fuzz::read_capture({bytes, size});
  return 0;
}
