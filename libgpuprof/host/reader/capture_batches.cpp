// SPDX-License-Identifier: Apache-2.0
// Reads records of several kinds as one stream of batches, in order of time.
#include <gpuprof/capture.hpp>

#include "host/reader/record_filler.hpp"
#include "host/reading/ordered_rows.hpp"

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpuprof::host {

/// The order of records of different kinds: by time, then by kind.
struct record_turn {
  timestamp_ns time;
  captured_kind kind{};
  friend auto operator<=>(record_turn const&, record_turn const&) = default;
};

/// Reads the records of one kind in order of time, a few hundred at a time.
class record_source {
 public:
  virtual ~record_source() = default;
  /// Returns the turn of the next record, or nothing at the end.
  virtual std::optional<record_turn> turn() = 0;
  /// Returns at least one record: those up to `limit` that fit into the batch. Null: no limit.
  virtual capture_batch take(record_turn const* limit) = 0;
};

template <class Row, class Record>
class record_source_of final : public record_source {
 public:
  /// The filler must outlive this object.
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
  static constexpr std::size_t max_records = 512;  // fits into the second-level cache

  ordered_rows<Row> rows_;
  record_filler& filler_;
  std::vector<Record> records_;
};

}  // namespace gpuprof::host

namespace gpuprof {
inline namespace capture_v1 {

struct capture_batches::state {
  state(host::capture_contents& contents, capture_query const& query) : filler(contents, query) {
    for (auto const& one : query.stretches()) stretches.push_back({{one.begin_ns}, {one.end_ns}});
    auto& file = contents.trace().file();
    auto const add = [&]<class Record>(std::type_identity<Record>, auto columns_for) {
      auto const asked = query.fields(captured_detail::kind_of<Record>::value);
      if (asked == 0) return;
      auto const columns = columns_for(asked);
      add_source<Record>(file, columns);
    };
    add(std::type_identity<captured_range>{}, host::range_columns);
    add(std::type_identity<captured_mark>{}, host::mark_columns);
    add(std::type_identity<captured_call>{}, host::call_columns);
    add(std::type_identity<captured_kernel>{}, host::kernel_columns);
    add(std::type_identity<captured_graph>{}, host::graph_columns);
    add(std::type_identity<captured_copy>{}, host::copy_columns);
    add(std::type_identity<captured_fill>{}, host::fill_columns);
    add(std::type_identity<captured_sync>{}, host::sync_columns);
    add(std::type_identity<captured_memory>{}, host::memory_columns);
    add(std::type_identity<captured_reading>{}, host::reading_columns);
    add(std::type_identity<captured_sample>{}, host::sample_columns);
    add(std::type_identity<captured_chip_state>{}, host::chip_state_columns);
  }

  template <class Record, class Row>
  void add_source(capture::reader& file, capture::column_set<Row> columns) {
    auto made = std::make_unique<host::record_source_of<Row, Record>>(
        host::ordered_rows<Row>(file, columns, stretches), filler);
    if (auto const turn = made->turn()) sources.push_back({*turn, std::move(made)});
  }

  /// `turn` stays valid until records are taken. Kernels and calls mostly alternate, so a batch has
  /// few records.
  struct waiting_source {
    host::record_turn turn;
    std::unique_ptr<host::record_source> records;
  };

  host::time_stretches stretches;
  host::record_filler filler;
  std::vector<waiting_source> sources;         // sources with records left
  std::unique_ptr<host::record_source> ended;  // the last source without records
};

capture_batches::capture_batches(std::unique_ptr<state> made) noexcept : state_(std::move(made)) {}
capture_batches::~capture_batches() = default;
capture_batches::capture_batches(capture_batches&&) noexcept = default;
capture_batches& capture_batches::operator=(capture_batches&&) noexcept = default;

bool capture_batches::next(capture_batch& batch) {
  auto& sources = state_->sources;
  if (sources.empty()) return false;
  std::size_t first = 0, second = sources.size();
  for (std::size_t i = 1; i < sources.size(); ++i) {
    if (sources[i].turn < sources[first].turn)
      second = std::exchange(first, i);
    else if (second == sources.size() || sources[i].turn < sources[second].turn)
      second = i;
  }
  auto& taken = sources[first];
  batch = taken.records->take(second == sources.size() ? nullptr : &sources[second].turn);
  if (auto const turn = taken.records->turn()) {
    taken.turn = *turn;
  } else {
    state_->ended = std::move(taken.records);  // the batch refers to its memory
    sources.erase(sources.begin() + static_cast<std::ptrdiff_t>(first));
  }
  return true;
}

capture_batches capture_file::read(capture_query const& query) {
  return capture_batches(std::make_unique<capture_batches::state>(*contents_, query));
}

}  // namespace capture_v1
}  // namespace gpuprof
