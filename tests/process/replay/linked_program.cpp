// SPDX-License-Identifier: Apache-2.0
// Needs a library that needs libgpuprof.so, which so stands behind the C library.
extern "C" int work();

int main() {
  return work();
}
