// SPDX-License-Identifier: Apache-2.0
// What tells launches of one kernel apart besides their extents: the values of their arguments.
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

/// Any thread, inside the launch callback, without lock. How long a kernel's arguments are is asked
/// of the driver (CUDA 12.4 and later) once for each function, as long as there is room for what it
/// says: of more functions at a time some are asked for again.
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

  /// The same for launches of the same values; what looks like a pointer is passed over, since that
  /// differs between launches that do the same. 0: not known, as for graphs. For a launch that the
  /// driver has accepted: its function exists, and its arguments are there.
  std::uint32_t fingerprint(launch_parameters const& launch) noexcept;
  /// Before the call: the function may not exist, and its arguments may not be there. 0 also when
  /// no launch of the function has been accepted yet.
  std::uint32_t fingerprint_before(launch_parameters const& launch) noexcept;
  /// Code was unloaded: handles of functions may come to mean others.
  void forget() noexcept;

 private:
  /// One for all functions with the same; kept for good, since another thread may be reading it.
  struct layout {
    std::vector<std::uint16_t> sizes;  // bytes
    bool is_known = true;              // the driver could say
  };
  static constexpr std::size_t max_layouts = 1 << 12;
  enum class launch_is : std::uint8_t { accepted, unchecked };
  std::uint32_t fingerprint(launch_parameters const& launch, launch_is state) noexcept;
  layout const* layout_of(void const* function, launch_is state) noexcept;
  std::size_t ask(void const* function) noexcept;
  std::size_t number_of(std::unique_ptr<layout> made) noexcept;
  void remember(std::uint64_t handle, std::uint64_t layout) noexcept;

  cuda_driver const driver_;
  /// The handle and the number of its layout in one word, so that they always belong together: with
  /// the layout of another function more would be read than the program has given. 0: nothing.
  std::unique_ptr<std::array<std::atomic<std::uint64_t>, max_functions>> known_;
  std::unique_ptr<std::array<std::atomic<layout const*>, max_layouts>> layouts_;
  std::atomic<std::uint32_t> generation_{1};
};

/// Of values one after the other. Exposed for tests.
class argument_hash {
 public:
  void add(void const* value, std::size_t bytes) noexcept;
  /// Neither 0 nor 1.
  std::uint32_t folded() const noexcept;

 private:
  void add_word(std::uint64_t word) noexcept;
  std::uint64_t hash_ = 0, place_ = 0;
};

}  // namespace gpuprof::guest
