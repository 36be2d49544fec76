// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/launches/signatures/launch_arguments.hpp"

#include "base/own_calls.hpp"
#include "base/own_memory.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gpuprof::guest {
namespace {

constexpr std::size_t max_arguments = 512;
constexpr std::size_t max_bytes = 4096;  // of one launch; the limit of kernels up to CUDA 12.1
constexpr std::size_t max_words = 8;     // before the end marker of an argument buffer

/// True for addresses in the driver's and the program's heaps and stacks on Linux, and for memory
/// that was mapped in pieces (lower, and aligned). Sizes that look like these are skipped too; then
/// such launches are not distinguished.
bool looks_like_pointer(std::uint64_t word) noexcept {
  auto const top = word >> 40;
  auto const is_mapped = (top == 0) & (word >> 32 != 0) & (word % 256 == 0);
  return is_mapped | (top >> 4 == 7) | (top - 0x55 < 2);  // branchless: half would be mispredicted
}

// Handles are addresses in the driver's heap. The driver is asked each time about handles that do
// not fit.
constexpr unsigned handle_shift = 4, address_bits = 47, layout_bits = 20;

/// Returns 0 if the handle cannot be stored.
std::uint64_t word_of(void const* function) noexcept {
  auto const address = reinterpret_cast<std::uintptr_t>(function);
  auto const fits = address >> address_bits == 0 && address % (1u << handle_shift) == 0;
  return fits ? std::uint64_t{address >> handle_shift} << layout_bits : 0;
}

/// A function is searched for in this many places. If all are taken, it replaces the first.
constexpr std::size_t max_steps = 16;

std::size_t first_place(std::uint64_t word) noexcept {
  static_assert(launch_arguments::max_functions == std::size_t{1} << (64 - 51));
  return static_cast<std::size_t>((word * 0x9e3779b97f4a7c15u) >> 51);
}

}  // namespace

// The products are independent, so that they overlap: kernels get up to four kilobytes.
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
  for (auto const& known : *layouts_) delete known.load();
}

/// Equal layouts share a number. There are few different ones, so loading code repeatedly takes no
/// more memory. Returns max_layouts if there is no room for another.
std::size_t launch_arguments::number_of(std::unique_ptr<layout> made) noexcept {
  for (std::size_t number = 0; number < max_layouts; ++number) {
    auto const* known = (*layouts_)[number].load(std::memory_order_acquire);
    if (known == nullptr && (*layouts_)[number].compare_exchange_strong(known, made.get()))
      return static_cast<void>(made.release()), number;
    if (known->sizes == made->sizes && known->is_known == made->is_known) return number;
  }
  return max_layouts;
}

/// Returns the number of the function's layout, or max_layouts if memory runs out.
std::size_t launch_arguments::ask(void const* function) noexcept {
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
    // The driver returns CUDA_ERROR_INVALID_VALUE if there is no argument with this index.
    made->is_known = status == CUDA_SUCCESS || status == CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; status == CUDA_SUCCESS && i < max_arguments; ++i) {
      made->sizes.push_back(static_cast<std::uint16_t>(std::min<std::size_t>(size, 0xffff)));
      status = size_of(by_kernel, i + 1, size);
    }
    return number_of(std::move(made));
  } catch (...) {
    return max_layouts;
  }
}

/// Returns null if the layout is not known.
launch_arguments::layout const* launch_arguments::layout_of(void const* function,
                                                            launch_is state) noexcept {
  constexpr std::uint64_t layout_mask = (std::uint64_t{1} << layout_bits) - 1;
  auto const word = word_of(function);
  auto number = max_layouts;
  for (std::size_t i = 0; word != 0 && i < max_steps && number == max_layouts; ++i) {
    auto const seen = (*known_)[(first_place(word) + i) % max_functions].load();
    if (seen == 0) break;
    if ((seen & ~layout_mask) == word) number = static_cast<std::size_t>(seen & layout_mask);
  }
  if (number == max_layouts && state == launch_is::unchecked)
    return nullptr;  // the driver would dereference an invalid handle
  if (number == max_layouts) {
    auto const generation = generation_.load();
    number = ask(function);
    if (number == max_layouts) return nullptr;
    if (word != 0) remember(word, number);
    // Code was unloaded meanwhile: either forget() has seen the word, or this sees the generation.
    if (generation_.load() != generation) forget();
  }
  auto const* const known = (*layouts_)[number].load(std::memory_order_acquire);
  return known->is_known ? known : nullptr;
}

/// Takes the first free place, or else the place of another function.
void launch_arguments::remember(std::uint64_t handle, std::uint64_t layout) noexcept {
  auto const first = first_place(handle);
  for (std::size_t i = 0; i < max_steps; ++i) {
    std::uint64_t none = 0;
    if ((*known_)[(first + i) % max_functions].compare_exchange_strong(none, handle | layout))
      return;
  }
  (*known_)[first].store(handle | layout);
}

// Clears 64 KiB, which takes some microseconds in a call that unloads code. See layout_of() for the
// order.
void launch_arguments::forget() noexcept {
  generation_.fetch_add(1);
  for (auto& word : *known_)
    if (word.load() != 0) word.store(0, std::memory_order_relaxed);
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
    if (!is_there(static_cast<void const*>(launch.arguments), known->sizes.size() * sizeof(void*)))
      return 0;
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
  for (; is_there(static_cast<void const*>(word), sizeof *word) && *word != CU_LAUNCH_PARAM_END;
       word += 2) {
    auto const is_size = *word == CU_LAUNCH_PARAM_BUFFER_SIZE;
    if (!is_size && *word != CU_LAUNCH_PARAM_BUFFER_POINTER) return 0;
    if (word - launch.argument_buffer > static_cast<std::ptrdiff_t>(max_words)) return 0;
    if (!is_there(static_cast<void const*>(word), 2 * sizeof *word)) return 0;
    if (!is_size) {
      buffer = word[1];
      continue;
    }
    if (!is_there(word[1], sizeof bytes)) return 0;
    std::memcpy(&bytes, word[1], sizeof bytes);
  }
  bytes = std::min(bytes, max_bytes);
  if (buffer == nullptr || !is_there(static_cast<void const*>(word), sizeof *word) ||
      !is_there(buffer, bytes))
    return 0;
  hash.add(buffer, bytes);
  return hash.folded();
}

}  // namespace gpuprof::guest
