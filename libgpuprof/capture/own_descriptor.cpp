// SPDX-License-Identifier: Apache-2.0
#include "capture/own_descriptor.hpp"

#include <array>
#include <atomic>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace gpuprof::capture {
namespace {

bool is_file(int number, dev_t device, ino_t file) noexcept {
  struct stat status {};
  return fstat(number, &status) == 0 && status.st_dev == device && status.st_ino == file;
}

/// For forked children, which have only what stands in memory: no lock, since the thread that has
/// it may not be there. What finds no place is kept by children, as if it were not ours.
struct open_descriptor {
  std::atomic<int> number{-1};  // the last to be written: the rest holds while it is not -1
  dev_t device = 0;
  ino_t file = 0;
};
constexpr int being_filled = -2;
std::array<open_descriptor, 8> all_open;

void close_in_child() {
  for (auto& open : all_open) {
    auto const number = open.number.exchange(-1, std::memory_order_acquire);
    if (number >= 0 && is_file(number, open.device, open.file)) ::close(number);
  }
}

void keep_from_children(int number, dev_t device, ino_t file) noexcept {
  static auto const installed = pthread_atfork(nullptr, nullptr, close_in_child);
  static_cast<void>(installed);
  for (auto& open : all_open) {
    int none = -1;
    if (!open.number.compare_exchange_strong(none, being_filled)) continue;
    open.device = device;
    open.file = file;
    open.number.store(number, std::memory_order_release);
    return;
  }
}

void forget(int number) noexcept {
  for (auto& open : all_open) {
    auto expected = number;
    if (open.number.compare_exchange_strong(expected, -1)) return;
  }
}

}  // namespace

own_descriptor::own_descriptor(int number) noexcept : number_(number) {
  struct stat status {};
  if (number < 0 || fstat(number, &status) != 0) return;
  device_ = status.st_dev;
  file_ = status.st_ino;
  keep_from_children(number, device_, file_);
}

own_descriptor::own_descriptor(own_descriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)), device_(other.device_), file_(other.file_) {}

own_descriptor& own_descriptor::operator=(own_descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  std::swap(device_, other.device_);
  std::swap(file_, other.file_);
  return *this;
}

int own_descriptor::get() const noexcept {
  return number_ >= 0 && is_file(number_, device_, file_) ? number_ : -1;
}

void own_descriptor::close() noexcept {
  // Forgotten first: another thread may get the number as soon as it is closed.
  auto const ours = get();
  forget(std::exchange(number_, -1));
  if (ours >= 0) ::close(ours);
}

}  // namespace gpuprof::capture
