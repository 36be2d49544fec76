// SPDX-License-Identifier: Apache-2.0
// Separates the floating-point environments of the program and of gpuprof.
#pragma once

#include <cfenv>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace gpuprof {

/// While it lives, the calling thread computes in the default environment: no traps, rounding to
/// nearest. Afterwards the program's traps, rounding and exception flags are restored. Without it,
/// a division in gpuprof could end a program that traps exceptions (feenableexcept, -ffpe-trap).
/// Used on threads of the program wherever a float or double is computed; converting one, or
/// inserting into an unordered_map, may already raise a flag. On x86-64 it covers float and double,
/// which are computed in SSE, and takes 10 ns; saving the x87 unit, too, would take 400 ns. For
/// long double see whole_environment.
class own_arithmetic {
 public:
#if defined(__x86_64__)
  own_arithmetic() noexcept {
    _mm_setcsr(default_state);
  }
  ~own_arithmetic() {
    _mm_setcsr(of_program_);
  }
#else
  own_arithmetic() noexcept {
    std::fegetenv(&of_program_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~own_arithmetic() {
    std::fesetenv(&of_program_);
  }
#endif
  own_arithmetic(own_arithmetic const&) = delete;
  own_arithmetic& operator=(own_arithmetic const&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr unsigned default_state = 0x1f80;  // all exceptions masked, round to nearest
  unsigned const of_program_ = _mm_getcsr();
#else
  std::fenv_t of_program_;
#endif
};

/// Does the same for all floating-point units of the processor.
class whole_environment {
 public:
  whole_environment() noexcept {
    std::fegetenv(&of_program_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~whole_environment() { std::fesetenv(&of_program_); }
  whole_environment(whole_environment const&) = delete;
  whole_environment& operator=(whole_environment const&) = delete;

 private:
  std::fenv_t of_program_;
};

}  // namespace gpuprof
