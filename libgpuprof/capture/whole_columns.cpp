// SPDX-License-Identifier: Apache-2.0
#include "capture/whole_columns.hpp"

#include "capture/block_decoder.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <system_error>
#include <thread>

namespace gpuprof::capture {
namespace {

constexpr std::size_t max_threads = 4;

template <class Value>
void take(column_cursor from, std::size_t rows, std::byte* to) noexcept {
  auto* values = reinterpret_cast<Value*>(to);
  if (from.is_constant()) {  // the array already holds zeros
    if (from.constant() != 0) std::fill_n(values, rows, static_cast<Value>(from.constant()));
    return;
  }
  std::array<std::uint64_t, tile_rows> tile;
  while (rows > 0) {
    auto const count = std::min(rows, tile_rows);
    auto const numbers = std::span{tile}.first(count);
    from.next(numbers);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<Value>(numbers[i]);
    values += count;
    rows -= count;
  }
}

void take(column_cursor const& from, value_type type, std::size_t rows, std::byte* to) noexcept {
  switch (bytes_of(type)) {
    case 1:
      return take<std::uint8_t>(from, rows, to);
    case 2:
      return take<std::uint16_t>(from, rows, to);
    case 4:
      return take<std::uint32_t>(from, rows, to);
    default:
      return take<std::uint64_t>(from, rows, to);
  }
}

/// One block, and the index of its first row in the arrays.
struct block_job {
  block_place const* place = nullptr;
  std::size_t first_row = 0;
  bool is_whole = false;
};

bool read_block(block_decoder& decoder, input_file const& file, block_job const& job,
                std::span<column_array const> to) {
  if (!decoder.load(file, *job.place)) return false;
  for (auto& column : decoder.columns())
    for (auto const& array : to)
      if (array.place == column.place)
        take(column.cursor, array.type, job.place->header.rows,
             array.values + job.first_row * bytes_of(array.type));
  return true;
}

/// Decodes blocks until none is left. Stores an exception for the caller of read().
void read_blocks(input_file const& file, std::span<block_job> jobs, std::atomic<std::size_t>& next,
                 std::span<column_array const> to, std::exception_ptr& failure) noexcept {
  try {
    block_decoder decoder;
    for (auto i = next.fetch_add(1); i < jobs.size(); i = next.fetch_add(1))
      jobs[i].is_whole = read_block(decoder, file, jobs[i], to);
  } catch (...) {
    failure = std::current_exception();
  }
}

void read_at_once(input_file const& file, std::span<block_job> jobs,
                  std::span<column_array const> to) {
  auto const threads =
      std::min({max_threads, jobs.size(), std::size_t{std::thread::hardware_concurrency()}});
  std::atomic<std::size_t> next{0};
  std::array<std::exception_ptr, max_threads> failures;
  {
    std::array<std::jthread, max_threads> others;
    for (std::size_t i = 1; i < threads; ++i) {
      try {
        others[i] = std::jthread([&, i] { read_blocks(file, jobs, next, to, failures[i]); });
      } catch (std::system_error const&) {  // no more threads available: this thread does the work
        break;
      }
    }
    read_blocks(file, jobs, next, to, failures[0]);
  }
  for (auto const& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

/// Moves rows forward over the gaps of damaged blocks. Returns the number of rows left.
std::size_t close_gaps(std::span<block_job const> jobs, std::span<column_array const> to) noexcept {
  std::size_t rows = 0;
  for (auto const& job : jobs) {
    if (!job.is_whole) continue;
    auto const count = job.place->header.rows;
    if (rows != job.first_row)
      for (auto const& array : to) {
        auto const width = bytes_of(array.type);
        std::memmove(array.values + rows * width, array.values + job.first_row * width,
                     count * width);
      }
    rows += count;
  }
  return rows;
}

}  // namespace

std::size_t bytes_of(value_type type) noexcept {
  switch (type) {
    case value_type::u8:
    case value_type::boolean:
      return 1;
    case value_type::u16:
      return 2;
    case value_type::u32:
    case value_type::i32:
      return 4;
    default:
      return 8;
  }
}

result<whole_columns> whole_columns::open(std::string const& path) {
  auto file = input_file::open(path);
  if (!file) return error{file.message()};
  warning_list ignored;  // a reader of the same file reports them
  auto index = index_blocks(*file, path, ignored);
  if (!index) return error{index.message()};
  return whole_columns(std::move(*file), std::move(index->blocks));
}

std::vector<std::size_t> whole_columns::blocks_of(std::uint16_t table) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    if (blocks_[i].header.table == table) found.push_back(i);
  return found;
}

std::size_t whole_columns::read(std::span<std::size_t const> blocks,
                                std::span<column_array const> to) const {
  std::vector<block_job> jobs;
  std::size_t rows = 0;
  for (auto const block : blocks) {
    jobs.push_back({&blocks_[block], rows, false});
    rows += rows_in(block);
  }
  if (jobs.empty()) return 0;
  read_at_once(file_, jobs, to);
  return close_gaps(jobs, to);
}

}  // namespace gpuprof::capture
