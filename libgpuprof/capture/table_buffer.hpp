// Collects the rows of one table as columns until they fill a block.
#pragma once

#include "capture/block_encoder.hpp"
#include "capture/tables.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <string>

namespace gpuprof::capture {

inline constexpr std::size_t block_rows = 32768;           // a full block
inline constexpr std::size_t block_text_bytes = 4u << 20;  // a block of texts is full earlier
static_assert(block_rows <= max_block_rows && block_text_bytes < max_block_raw_bytes);

/// Rows wait in a small tile that stays in the first-level cache and are turned into columns a tile
/// at a time: walking megabytes of rows once per column would cost more than all the encoding.
template <class Row>
class table_buffer {
 public:
  /// False when there is no memory for it. The buffer must not be full.
  bool add(Row const& row) noexcept {
    if (!storage_ && !allocate()) return false;
    if constexpr (has_text<Row>) {
      return add_texts(row);
    } else {
      storage_->tile[in_tile_++] = row;
      if (in_tile_ == tile_rows) to_columns();
      return true;
    }
  }

  std::size_t rows() const noexcept { return in_columns_ + in_tile_; }
  bool is_full() const noexcept {
    return rows() == block_rows || (has_text<Row> && text_bytes_ >= block_text_bytes);
  }

  using views = std::array<column_values, column_count<Row>>;
  /// The columns collected so far; valid until the next add() or clear().
  views columns() noexcept {
    to_columns();
    views all;
    for (std::size_t c = 0; c < all.size(); ++c) {
      all[c] = {.place = static_cast<std::uint16_t>(c),
                .values = {storage_->columns[c].data(), in_columns_},
                .texts = has_text<Row> ? std::string_view{storage_->texts[c]} : std::string_view{}};
    }
    return all;
  }

  void clear() noexcept {
    if constexpr (has_text<Row>) {
      if (storage_) {
        for (auto& text : storage_->texts) text.clear();
      }
    }
    in_columns_ = in_tile_ = text_bytes_ = 0;
  }

 private:
  static constexpr std::size_t tile_rows = has_text<Row> ? 1 : 128;
  static_assert(block_rows % tile_rows == 0);
  static_assert(column_count<Row> * (8 * block_rows + 32) + block_text_bytes + max_text_bytes + 2 <
                max_block_raw_bytes);

  struct storage {
    std::array<Row, tile_rows> tile;
    // The padding keeps the columns from falling into the same cache sets.
    std::array<std::array<std::uint64_t, block_rows + 24>, column_count<Row>> columns;
    std::array<std::string, has_text<Row> ? column_count<Row> : 0> texts;
  };

  // Not value-initialised: pages that no row reaches are never touched.
  bool allocate() noexcept {
    storage_.reset(new (std::nothrow) storage);
    return storage_ != nullptr;
  }

  template <class Value>
  static std::uint64_t to_bits(Value value) noexcept {
    if constexpr (std::is_same_v<Value, double>) {
      return std::bit_cast<std::uint64_t>(value);
    } else if constexpr (std::is_enum_v<Value>) {
      return static_cast<std::uint64_t>(raw(value));
    } else {
      return static_cast<std::uint64_t>(value);  // negative numbers keep their sign
    }
  }

  void to_columns() noexcept {
    if constexpr (!has_text<Row>) {
      if (in_tile_ == 0) return;
      for_each_column<Row>([&](std::size_t place, auto access) {
        auto* const to = storage_->columns[place].data() + in_columns_;
        for (std::size_t i = 0; i < in_tile_; ++i) to[i] = to_bits(access(storage_->tile[i]));
      });
      in_columns_ += in_tile_;
      in_tile_ = 0;
    }
  }

  // Texts are copied at once: the caller's may be gone before the block is full.
  bool add_texts(Row const& row) noexcept {
    try {
      for (auto& text : storage_->texts) text.reserve(text.size() + max_text_bytes_of(row));
    } catch (std::bad_alloc const&) {
      return false;
    }
    for_each_column<Row>([&](std::size_t place, auto access) {
      auto const value = access(row);
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::string_view>) {
        auto const kept = value.substr(0, max_text_bytes);
        storage_->texts[place].append(kept);
        storage_->columns[place][in_columns_] = kept.size();
        text_bytes_ += kept.size();
      } else {
        storage_->columns[place][in_columns_] = to_bits(value);
      }
    });
    ++in_columns_;
    return true;
  }

  static std::size_t max_text_bytes_of(Row const& row) noexcept {
    std::size_t longest = 0;
    for_each_column<Row>([&](std::size_t, auto access) {
      auto const value = access(row);
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::string_view>) {
        longest = std::max(longest, std::min(value.size(), max_text_bytes));
      }
    });
    return longest;
  }

  std::unique_ptr<storage> storage_;
  std::size_t in_columns_ = 0;
  std::size_t in_tile_ = 0;
  std::size_t text_bytes_ = 0;
};

}  // namespace gpuprof::capture
