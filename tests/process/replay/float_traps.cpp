// SPDX-License-Identifier: Apache-2.0
// A part of a program that is ended by floating-point exceptions, as gfortran's -ffpe-trap does it;
// a library to preload.
#include <cfenv>

namespace {

__attribute__((constructor)) void trap() {
  feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
}

}  // namespace
