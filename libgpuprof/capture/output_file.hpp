// The file a writer appends to: its own alone, and never left with half a batch in it.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <sys/types.h>

namespace gpuprof::capture {

enum class create_mode { fail_if_exists, overwrite };

/// Movable owner of the descriptor. The lock that keeps a second writer out is an open-file lock:
/// it goes when the process dies, however it dies.
class output_file {
 public:
  static result<output_file> create(std::string const& path, create_mode mode);
  output_file(output_file&& other) noexcept;
  output_file& operator=(output_file&& other) noexcept;
  ~output_file();

  /// All of the bytes, or none of them and the errno of what failed.
  int append(std::span<unsigned char const> bytes) noexcept;

  std::uint64_t size() const noexcept { return size_; }
  void close() noexcept;

 private:
  explicit output_file(int descriptor) noexcept : descriptor_(descriptor) {}

  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// True when a living process has the file open as a writer.
bool has_living_writer(int descriptor) noexcept;

}  // namespace gpuprof::capture
