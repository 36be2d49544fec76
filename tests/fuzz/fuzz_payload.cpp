// SPDX-License-Identifier: Apache-2.0
// libFuzzer: schemas and payloads of any bytes. Corpus: tests/data/fuzz_payload.tar.gz.
#include "fuzz/payload_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(unsigned char const* data, std::size_t size) {
  gpuprof::test::describe_fuzzed(std::as_bytes(std::span(data, size)));
  return 0;
}
