// SPDX-License-Identifier: Apache-2.0
// Fills the columns of a plan from one capture.
#pragma once

#include "capture/whole_columns.hpp"
#include "host/reader/table_plan.hpp"
#include "host/reading/exported_names.hpp"
#include "host/reading/trace_contents.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gpuprof::host {

class column_memory {
 public:
  /// Arrow recommends this alignment for each column.
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

class captured_columns {
 public:
  /// `plan` must outlive this object. `place` is the index among the opened captures; it is used as
  /// the rank if no launcher set one.
  static result<std::unique_ptr<captured_columns>> open(std::string const& path,
                                                        table_plan const& plan, std::size_t place);

  /// Returns nothing after the last rows. A batch has at most `max_rows` rows, except if a single
  /// block has more.
  std::optional<arrow_batch> next(std::size_t max_rows);

 private:
  captured_columns(capture::whole_columns blocks, capture::reader file, table_plan const& plan,
                   std::size_t place);

  arrow_batch read(std::span<std::size_t const> blocks, std::size_t rows);
  arrow_batch make();
  /// Fills a column that is not in the table; `ranges` are the range ids of the rows, if there are
  /// any.
  void fill(exported_column const& column, std::span<std::uint64_t const> ranges, std::size_t rows,
            std::byte* to);
  std::shared_ptr<arrow_texts const> name_places(exported_column const& column, std::uint32_t* ids,
                                                 std::size_t rows);
  std::string_view text_of(exported_column const& column, std::uint32_t id);

  table_plan const* plan_;
  capture::whole_columns blocks_;
  trace_contents trace_;
  std::optional<exported_names> names_;  // only if a text is needed, as it demangles all kernels
  std::int64_t rank_;
  std::vector<std::size_t> left_;  // blocks to read
  std::size_t next_ = 0;           // index into `left_`
  bool is_made_ = false;
};

}  // namespace gpuprof::host
