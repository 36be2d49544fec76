// SPDX-License-Identifier: Apache-2.0
#include "host/reader/column_memory.hpp"

#include <algorithm>
#include <new>
#include <sys/mman.h>

namespace gpuprof::host {
namespace {

constexpr std::size_t huge_page = 2 << 20;

}  // namespace

// With pages of 4 KiB the faults would take as long as the decoding.
column_memory::column_memory(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 1)) {
  auto* const got =
      mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED) throw std::bad_alloc{};
  begin_ = static_cast<std::byte*>(got);
  if (bytes_ >= 2 * huge_page) (void)madvise(begin_, bytes_, MADV_HUGEPAGE);
}

column_memory::~column_memory() {
  munmap(begin_, bytes_);
}

}  // namespace gpuprof::host
