// SPDX-License-Identifier: Apache-2.0
// libFuzzer's way into the activity decoder. Corpus: tests/data/fuzz_activity.tar.gz.
#include "fuzz/activity_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  gpuprof::fuzz::decode_activity({bytes, size});
  return 0;
}
