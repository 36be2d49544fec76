// SPDX-License-Identifier: Apache-2.0
#include "counters/launches/signatures/launch_arguments.hpp"

#include "base/own_calls.hpp"
#include "base/own_memory.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gpuprof {
namespace {

constexpr std::size_t max_arguments = 512;
constexpr std::size_t max_bytes = 4096;  // of one launch: what kernels could take up to CUDA 12.1
constexpr std::size_t max_words = 8;     // before the end of an argument buffer's description

/// Addresses of the driver's and the program's heaps and stacks on Linux, and of memory that was
/// mapped in pieces (lower, and aligned). Sizes that look the same are passed over, too: the
/// launches are not told apart then.
bool looks_like_pointer(std::uint64_t word) noexcept {
  auto const top = word >> 40;
  auto const is_mapped = (top == 0) & (word >> 32 != 0) & (word % 256 == 0);
  return is_mapped | (top >> 4 == 7) | (top - 0x55 < 2);  // without branches: half of them go wrong
}

}  // namespace

// Products that do not wait for each other: kernels are given up to four kilobytes.
void argument_hash::add_word(std::uint64_t word) noexcept {
  place_ += 0x9e3779b97f4a7c15u;
  auto const product = (word ^ place_) * 0x9fb21c651e98df25u;
  hash_ += product ^ product >> 32;
}

void argument_hash::add(void const* value, std::size_t bytes) noexcept {
  auto const* from = static_cast<unsigned char const*>(value);
  for (; bytes >= 8; bytes -= 8, from += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, 8);
    add_word(looks_like_pointer(word) ? 1 : word);
  }
  if (bytes >= 4) {
    std::uint32_t half = 0;
    std::memcpy(&half, from, 4);
    add_word(half);
    bytes -= 4, from += 4;
  }
  for (; bytes > 0; --bytes) add_word(*from++);
}

std::uint32_t argument_hash::folded() const noexcept {
  auto const mixed = (hash_ ^ hash_ >> 32) * 0xc4ceb9fe1a85ec53u;
  auto const h = static_cast<std::uint32_t>(mixed >> 32);
  return h > 1 ? h : h + 2;
}

launch_arguments::~launch_arguments() {
  for (auto const* known = layouts_.load(); known != nullptr;)
    delete std::exchange(known, known->next);
}

/// Few are different: what loads code again and again takes no more memory.
launch_arguments::layout const* launch_arguments::shared(std::unique_ptr<layout> made) noexcept {
  auto const* newest = layouts_.load(std::memory_order_acquire);
  do {
    for (auto const* known = newest; known != nullptr; known = known->next)
      if (known->sizes == made->sizes && known->is_known == made->is_known) return known;
    made->next = newest;
  } while (!layouts_.compare_exchange_weak(newest, made.get(), std::memory_order_acq_rel));
  return made.release();
}

/// Null: for want of memory.
launch_arguments::layout const* launch_arguments::ask(void const* function) noexcept {
  own_calls const marked;
  try {
    auto made = std::make_unique<layout>();
    auto* const handle = const_cast<void*>(function);
    // Runtimes launch kernels of libraries by the handle of the kernel itself.
    auto const size_of = [&](bool by_kernel, std::size_t index, std::size_t& size) {
      std::size_t offset = 0;
      auto const& driver = driver_;
      if (by_kernel && driver.cuKernelGetParamInfo != nullptr)
        return driver.cuKernelGetParamInfo(static_cast<CUkernel>(handle), index, &offset, &size);
      if (!by_kernel && driver.cuFuncGetParamInfo != nullptr)
        return driver.cuFuncGetParamInfo(static_cast<CUfunction>(handle), index, &offset, &size);
      return CUDA_ERROR_NOT_FOUND;
    };
    std::size_t size = 0;
    auto status = size_of(false, 0, size);
    auto const by_kernel = status != CUDA_SUCCESS;
    if (by_kernel) status = size_of(true, 0, size);
    // There is no argument of this number, as the driver says it.
    made->is_known = status == CUDA_SUCCESS || status == CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; status == CUDA_SUCCESS && i < max_arguments; ++i) {
      made->sizes.push_back(static_cast<std::uint16_t>(std::min<std::size_t>(size, 0xffff)));
      status = size_of(by_kernel, i + 1, size);
    }
    return shared(std::move(made));
  } catch (...) {
    return nullptr;
  }
}

/// Null: not known.
launch_arguments::layout const* launch_arguments::layout_of(void const* function,
                                                            launch_is state) noexcept {
  auto const generation = generation_.load(std::memory_order_acquire);
  auto const place = (reinterpret_cast<std::uintptr_t>(function) * 0x9e3779b97f4a7c15u) >> 51;
  static_assert(max_functions == std::size_t{1} << (64 - 51));
  constexpr std::size_t max_steps = 64;
  for (std::size_t i = 0; i < max_steps; ++i) {
    auto& slot = (*known_)[(place + i) % max_functions];
    auto const* seen = slot.handle.load(std::memory_order_relaxed);
    if (seen != nullptr && seen != function) continue;
    if (seen == nullptr && state == launch_is::unchecked) return nullptr;
    if (seen == nullptr && !slot.handle.compare_exchange_strong(seen, function) && seen != function)
      continue;
    auto const is_asked = slot.generation.load(std::memory_order_acquire) == generation;
    auto const* known = slot.arguments.load(std::memory_order_acquire);
    if (!is_asked || known == nullptr) {
      if (state == launch_is::unchecked) return nullptr;  // the driver reads any handle it is given
      known = ask(function);
      if (known == nullptr) return nullptr;
      slot.arguments.store(known, std::memory_order_release);
      slot.generation.store(generation, std::memory_order_release);
    }
    return known->is_known ? known : nullptr;
  }
  return nullptr;
}

std::uint32_t launch_arguments::fingerprint(launch_parameters const& launch) noexcept {
  return fingerprint(launch, launch_is::accepted);
}

std::uint32_t launch_arguments::fingerprint_before(launch_parameters const& launch) noexcept {
  return fingerprint(launch, launch_is::unchecked);
}

std::uint32_t launch_arguments::fingerprint(launch_parameters const& launch,
                                            launch_is state) noexcept {
  argument_hash hash;
  auto const is_there = [state](void const* address, std::size_t bytes) {
    return state == launch_is::accepted || can_read(address, bytes);
  };
  auto const can_ask =
      driver_.cuFuncGetParamInfo != nullptr || driver_.cuKernelGetParamInfo != nullptr;
  if (launch.arguments != nullptr) {
    auto const* const known = can_ask ? layout_of(launch.work, state) : nullptr;
    if (known == nullptr) return 0;
    if (!is_there(launch.arguments, known->sizes.size() * sizeof(void*))) return 0;
    std::size_t left = max_bytes;
    for (std::size_t i = 0; i < known->sizes.size() && left > 0; ++i) {
      auto const bytes = std::min<std::size_t>(known->sizes[i], left);
      left -= bytes;
      auto const* const value = launch.arguments[i];
      if (value == nullptr) continue;
      if (!is_there(value, bytes)) return 0;
      hash.add(value, bytes);
    }
    return hash.folded();
  }
  if (launch.argument_buffer == nullptr) return 0;
  void const* buffer = nullptr;
  std::size_t bytes = 0;
  auto const* word = launch.argument_buffer;
  for (; is_there(word, sizeof *word) && *word != CU_LAUNCH_PARAM_END; word += 2) {
    auto const is_size = *word == CU_LAUNCH_PARAM_BUFFER_SIZE;
    if (!is_size && *word != CU_LAUNCH_PARAM_BUFFER_POINTER) return 0;
    if (word - launch.argument_buffer > static_cast<std::ptrdiff_t>(max_words)) return 0;
    if (!is_there(word, 2 * sizeof *word)) return 0;
    if (!is_size) {
      buffer = word[1];
      continue;
    }
    if (!is_there(word[1], sizeof bytes)) return 0;
    std::memcpy(&bytes, word[1], sizeof bytes);
  }
  bytes = std::min(bytes, max_bytes);
  if (buffer == nullptr || !is_there(word, sizeof *word) || !is_there(buffer, bytes)) return 0;
  hash.add(buffer, bytes);
  return hash.folded();
}

}  // namespace gpuprof
