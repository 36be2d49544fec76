// SPDX-License-Identifier: Apache-2.0
#include "host/export/interruption.hpp"

#include <csignal>
#include <cstddef>
#include <iterator>

namespace gpuprof::host {
namespace {

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};
volatile std::sig_atomic_t came = 0;

extern "C" void note_signal(int number) {
  came = number;
  std::signal(number, SIG_DFL);
}

}  // namespace

interruption::interruption() noexcept {
  came = 0;
  for (std::size_t i = 0; i < std::size(signals); ++i) {
    before_[i] = std::signal(signals[i], note_signal);
    if (before_[i] == SIG_IGN) std::signal(signals[i], SIG_IGN);  // ignored before, as by nohup
  }
  before_size_ = std::signal(SIGXFSZ, SIG_IGN);  // writing then fails as on a full disk
}

interruption::~interruption() {
  for (std::size_t i = 0; i < std::size(signals); ++i) std::signal(signals[i], before_[i]);
  std::signal(SIGXFSZ, before_size_);
}

int interruption::signal() noexcept {
  return came;
}

}  // namespace gpuprof::host
