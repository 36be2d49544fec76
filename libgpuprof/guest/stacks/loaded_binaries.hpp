// SPDX-License-Identifier: Apache-2.0
// The executable and the libraries of this process, as they were when native stacks were read.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace gpuprof::guest {

/// How often the loader has added and removed libraries. Waits for no longer than dl_iterate_phdr,
/// whose lock the loader holds while it changes its list.
struct library_counts {
  unsigned long long added = 0, removed = 0;
  friend bool operator==(library_counts const&, library_counts const&) = default;
};
library_counts count_libraries() noexcept;

/// Keeps what was loaded for the life of the process, also after it was unloaded: the capture
/// names it later. Takes no lock and allocates nothing.
class loaded_binaries {
 public:
  struct binary {
    std::uintptr_t begin = 0, end = 0;  // in memory
    std::uintptr_t load_address = 0;    // what was added to the addresses of the file
    std::string_view path;
    std::array<std::uint8_t, 20> build_id{};
    std::uint8_t build_id_size = 0;
    bool is_left_out = false;     // of the profiler, CUPTI or the driver
    bool begins_threads = false;  // the C library
    std::uint64_t seen_at = 0;    // in the last look; the most recent one at an address counts
  };

  /// Puts the number of the binary of each address into `into`; 0: not known. Returns false, and
  /// does not wait, if another thread is doing this. Any thread.
  bool find(std::span<std::uintptr_t const> addresses, std::span<std::uint32_t> into,
            library_counts const& now) noexcept;

  /// Of a number that find() has given. Path, build id and addresses do not change.
  binary const& at(std::uint32_t number) const noexcept { return all_[number - 1]; }

 private:
  void look_again(library_counts const& now) noexcept;
  void add(binary const& seen) noexcept;
  std::uint32_t number_of(std::uintptr_t address) const noexcept;

  static constexpr std::size_t most = 2048;
  static constexpr std::size_t most_text = 256 << 10;

  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;  // protects everything below
  std::array<binary, most> all_;
  std::size_t size_ = 0;
  std::array<char, most_text> text_{};
  std::size_t text_used_ = 0;
  library_counts looked_at_;
  std::uint64_t looks_ = 0;
};

/// Those of this process.
loaded_binaries& binaries() noexcept;

}  // namespace gpuprof::guest
