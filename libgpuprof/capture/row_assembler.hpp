// Puts the columns of a loaded block together as rows, a small tile at a time.
#pragma once

#include "capture/block_decoder.hpp"
#include "capture/column_set.hpp"
#include "capture/tables.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace gpuprof::capture {

/// Tiles, because a block of rows does not fit the caches that the caller wants for its own work.
template <class Row>
class row_assembler {
 public:
  /// Calls f(std::span<Row const>) until all rows of the block were seen. Texts in the rows live as
  /// long as the block stays loaded.
  template <class F>
  void assemble(std::span<readable_column> columns, std::size_t rows, column_set<Row> wanted,
                F&& f) {
    tile_.assign(std::min(rows, tile_rows), Row{});
    for (std::size_t first = 0; first < rows; first += tile_rows) {
      auto const tile = std::span{tile_}.first(std::min(tile_rows, rows - first));
      for (auto& column : columns) {
        if (column.place < column_count<Row> && wanted.contains(column.place)) {
          fill(column, tile, first == 0);
        }
      }
      f(std::span<Row const>{tile});
    }
  }

 private:
  static constexpr std::size_t tile_rows = 1024;

  template <class Value>
  static void from_bits(std::uint64_t bits, Value& value) noexcept {
    if constexpr (std::is_same_v<Value, double>) {
      value = std::bit_cast<double>(bits);
    } else if constexpr (std::is_same_v<Value, bool>) {
      value = bits != 0;
    } else {
      value = static_cast<Value>(bits);
    }
  }

  void fill(readable_column& column, std::span<Row> tile, bool is_first) {
    for_each_column<Row>([&](std::size_t place, auto access) {
      if (place != column.place) return;
      using value = std::remove_reference_t<decltype(access(tile[0]))>;
      if constexpr (std::is_same_v<value, std::string_view>) {
        cut_texts(column, tile, access);
      } else if (column.cursor.is_constant()) {
        if (!is_first) return;  // still there from the tile before
        for (auto& row : tile) from_bits(column.cursor.constant(), access(row));
      } else {
        auto const bits = std::span{numbers_}.first(tile.size());
        column.cursor.next(bits);
        for (std::size_t i = 0; i < tile.size(); ++i) from_bits(bits[i], access(tile[i]));
      }
    });
  }

  // Lengths that ask for more than there is give short texts, not a read beyond the block.
  void cut_texts(readable_column& column, std::span<Row> tile, auto access) {
    auto const lengths = std::span{numbers_}.first(tile.size());
    column.cursor.next(lengths);
    for (std::size_t i = 0; i < tile.size(); ++i) {
      auto const length = std::min<std::uint64_t>(lengths[i], column.texts.size());
      access(tile[i]) = column.texts.substr(0, length);
      column.texts.remove_prefix(length);
    }
  }

  std::vector<Row> tile_;
  std::array<std::uint64_t, tile_rows> numbers_;
};

}  // namespace gpuprof::capture
