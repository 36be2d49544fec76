// SPDX-License-Identifier: Apache-2.0
// libFuzzer's way into the reader of cubins. Corpus: tests/data/fuzz_cubin.tar.gz.
#include "fuzz/cubin_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  gpuprof::fuzz::read_module({bytes, size});
  return 0;
}
