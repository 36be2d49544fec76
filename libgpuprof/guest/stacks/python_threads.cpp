// SPDX-License-Identifier: Apache-2.0
#include "guest/stacks/python_threads.hpp"

#include "base/own_memory.hpp"

#include <span>
#include <unistd.h>

namespace gpuprof::guest {
namespace {

constexpr std::size_t most_threads = 4096;  // only damaged lists are longer
constexpr std::size_t holder_of_gil = 8;    // in struct _gil_runtime_state of 3.11 to 3.15

template <class T>
T value_at(std::uint32_t process, std::byte const* from, std::size_t offset) noexcept {
  T value{};
  auto const bytes = std::as_writable_bytes(std::span(&value, 1));
  auto const address = reinterpret_cast<std::uintptr_t>(python_runtime::behind(from, offset));
  return from != nullptr && read_memory_of(process, address, bytes) ? value : T{};
}

using address = std::byte const*;

/// Calls use(os_thread, state) for the threads of an interpreter until it returns true.
template <class Use>
void any_state(python_runtime const& python, std::uint32_t process, address interpreter, Use use) {
  auto const& layout = python.layout();
  auto state = value_at<address>(process, interpreter, layout.interpreter_threads);
  for (std::size_t i = 0; state != nullptr && i < most_threads; ++i) {
    auto const os_thread = value_at<unsigned long>(process, state, layout.state_os_thread);
    if (os_thread != 0 && use(static_cast<std::uint32_t>(os_thread), state)) return;
    state = value_at<address>(process, state, layout.state_next);
  }
}

}  // namespace

void python_threads::look_again() noexcept {
  is_listed_ = false;
  interpreter_ = python_.main_interpreter();
  auto const& layout = python_.layout();
  gil_ = python_.gil_in_runtime();
  if (gil_ == nullptr) gil_ = value_at<address>(process_, interpreter_, layout.interpreter_gil);
}

bool python_threads::is_of(std::byte const* state, std::uint32_t os_thread) const noexcept {
  return value_at<unsigned long>(process_, state, python_.layout().state_os_thread) == os_thread;
}

std::byte const* python_threads::state_of(std::uint32_t os_thread) {
  if (interpreter_ == nullptr) return nullptr;
  auto known = states_.find(os_thread);
  if (known != states_.end() && is_of(known->second, os_thread)) return known->second;
  if (is_listed_) return nullptr;
  list_states();
  known = states_.find(os_thread);
  return known != states_.end() ? known->second : nullptr;
}

void python_threads::list_states() {
  is_listed_ = true;
  states_.clear();
  any_state(python_, process_, interpreter_, [&](std::uint32_t os_thread, address state) {
    states_.emplace(os_thread, state);
    return false;
  });
}

std::byte const* state_of_main_thread(python_runtime const& python) noexcept {
  address found = nullptr;
  auto const main_thread = static_cast<std::uint32_t>(getpid());
  any_state(python, 0, python.main_interpreter(), [&](std::uint32_t os_thread, address state) {
    if (os_thread == main_thread) found = state;
    return found != nullptr;
  });
  return found;
}

std::byte const* python_threads::gil_holder() const noexcept {
  return value_at<address>(process_, gil_, holder_of_gil);
}

}  // namespace gpuprof::guest
