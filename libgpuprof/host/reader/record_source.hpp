// SPDX-License-Identifier: Apache-2.0
// The records of one kind in order of time, some hundred in memory at once.
#pragma once

#include "host/reader/record_filler.hpp"
#include "host/reading/ordered_rows.hpp"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace gpuprof::host {

/// When a record comes among those of all kinds: of those at one time the earlier kind first.
struct record_turn {
  timestamp_ns time;
  captured_kind kind{};
  friend auto operator<=>(record_turn const&, record_turn const&) = default;
};

class record_source {
 public:
  virtual ~record_source() = default;
  /// The turn of the next record; nothing at the end.
  virtual std::optional<record_turn> turn() = 0;
  /// The next records, all those before `limit` that fit; null: all that fit. At least one.
  virtual capture_batch take(record_turn const* limit) = 0;
};

template <class Row, class Record>
class record_source_of final : public record_source {
 public:
  /// The filler outlives it.
  record_source_of(ordered_rows<Row> rows, record_filler& filler)
      : rows_(std::move(rows)), filler_(filler) {}

  std::optional<record_turn> turn() override {
    auto const* const row = rows_.peek();
    if (row == nullptr) return std::nullopt;
    return record_turn{time_of(*row), kind};
  }

  capture_batch take(record_turn const* limit) override {
    std::size_t count = 0;
    for (auto const* row = rows_.peek(); row != nullptr && count < max_records;
         row = rows_.peek()) {
      if (limit != nullptr && record_turn{time_of(*row), kind} > *limit) break;
      if (count == records_.size()) records_.emplace_back();
      filler_.fill(*row, records_[count++]);
      rows_.skip();
    }
    return {kind, records_.data(), count};
  }

 private:
  static constexpr auto kind = captured_detail::kind_of<Record>::value;
  static constexpr std::size_t max_records = 512;  // stays in the second-level cache

  ordered_rows<Row> rows_;
  record_filler& filler_;
  std::vector<Record> records_;
};

}  // namespace gpuprof::host
