// SPDX-License-Identifier: Apache-2.0
// Distinguishes launches of one kernel with the same extents by the values of their arguments.
#pragma once

#include "guest/cupti/call_parameters.hpp"
#include "guest/driver/cuda_driver.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace gpuprof::guest {

/// Any thread, inside the launch callback, without lock. The driver (CUDA 12.4 and later) is asked
/// for the sizes of a kernel's arguments once for each function. If there are too many functions
/// for the table, it is asked again for some.
class launch_arguments {
 public:
  static constexpr std::size_t max_functions = 1 << 13;

  explicit launch_arguments(cuda_driver const& driver)
      : driver_(driver),
        known_(new std::array<std::atomic<std::uint64_t>, max_functions>{}),
        layouts_(new std::array<std::atomic<layout const*>, max_layouts>{}) {}
  ~launch_arguments();
  launch_arguments(launch_arguments const&) = delete;
  launch_arguments& operator=(launch_arguments const&) = delete;

  /// Returns the same value for launches with the same argument values. Values that look like
  /// pointers are skipped, because they differ between launches that do the same work. 0: unknown,
  /// as for graphs. Call it only for a launch that the driver has accepted, so that its function
  /// and arguments are valid.
  std::uint32_t fingerprint(launch_parameters const& launch) noexcept;
  /// The same before the call, when the function and its arguments may be invalid. Also returns 0
  /// if no launch of the function has been accepted yet.
  std::uint32_t fingerprint_before(launch_parameters const& launch) noexcept;
  /// Call it when code was unloaded: handles may now mean other functions.
  void forget() noexcept;

 private:
  /// Shared by all functions with equal argument sizes. Never freed, because another thread may be
  /// reading it.
  struct layout {
    std::vector<std::uint16_t> sizes;  // bytes
    bool is_known = true;              // the driver knows the sizes
  };
  static constexpr std::size_t max_layouts = 1 << 12;
  enum class launch_is : std::uint8_t { accepted, unchecked };
  std::uint32_t fingerprint(launch_parameters const& launch, launch_is state) noexcept;
  layout const* layout_of(void const* function, launch_is state) noexcept;
  std::size_t ask(void const* function) noexcept;
  std::size_t number_of(std::unique_ptr<layout> made) noexcept;
  void remember(std::uint64_t handle, std::uint64_t layout) noexcept;

  cuda_driver const driver_;
  /// The handle and the number of its layout in one word, so that they always match: the layout of
  /// another function could make us read beyond the program's arguments. 0: empty.
  std::unique_ptr<std::array<std::atomic<std::uint64_t>, max_functions>> known_;
  std::unique_ptr<std::array<std::atomic<layout const*>, max_layouts>> layouts_;
  std::atomic<std::uint32_t> generation_{1};
};

/// Hashes values in order. Exposed for tests.
class argument_hash {
 public:
  void add(void const* value, std::size_t bytes) noexcept;
  /// Returns neither 0 nor 1.
  std::uint32_t folded() const noexcept;

 private:
  void add_word(std::uint64_t word) noexcept;
  std::uint64_t hash_ = 0, place_ = 0;
};

}  // namespace gpuprof::guest
