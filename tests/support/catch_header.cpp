// SPDX-License-Identifier: Apache-2.0
// Never linked: stands for the program that tests/CMakeLists.txt compiles Catch2's header for.
int main() {}
