// SPDX-License-Identifier: Apache-2.0
// One block of memory for all columns of a table, zeroed. The system provides it page by page.
#pragma once

#include <cstddef>

namespace gpuprof::host {

class column_memory {
 public:
  /// Arrow recommends it for the beginning of each column.
  static constexpr std::size_t alignment = 64;

  /// @throws std::bad_alloc
  explicit column_memory(std::size_t bytes);
  ~column_memory();
  column_memory(column_memory const&) = delete;
  column_memory& operator=(column_memory const&) = delete;

  std::byte* begin() const noexcept { return begin_; }

 private:
  std::size_t bytes_;
  std::byte* begin_;
};

}  // namespace gpuprof::host
