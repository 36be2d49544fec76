// SPDX-License-Identifier: Apache-2.0
// Reads the tables of a capture once, in file order, for any number of consumers.
#pragma once

#include "capture/reader.hpp"
#include "host/reading/time_order.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace gpuprof::host {

/// Called with the number of rows that were read since the last call.
using read_progress = std::function<void(std::uint64_t)>;

/// Each table is decoded once, with all columns that its consumers want. Tables come in the order
/// in which they were first added, and consumers of a table in the order in which they were added.
/// The pass also notes the times of blocks, so that rows can be read in order of time after it
/// without another look (ordered_rows), and the GPUs whose work is in them.
///
///   capture_walk walk(trace.file());
///   walk.add<kernel_record>(capture::only(&kernel_record::duration), [&](auto kernels) { ... });
///   walk.run();
class capture_walk {
 public:
  /// The reader must outlive this object.
  explicit capture_walk(capture::reader& file) : file_(file) {}

  /// `take(std::span<Row const>)` gets all rows of the table, a few hundred at a time.
  template <class Row, class Take>
  void add(capture::column_set<Row> const& wanted, Take take) {
    auto& table = table_of<Row>();
    table.wanted.insert(wanted);
    table.takers.emplace_back(std::move(take));
  }

  /// `take(Row const&)` gets each row.
  template <class Row, class Take>
  void add_each(capture::column_set<Row> const& wanted, Take take) {
    add<Row>(wanted, [take = std::move(take)](std::span<Row const> rows) mutable {
      for (auto const& row : rows) take(row);
    });
  }

  /// `act()` is called when the takers have all rows of a block. It may read other tables of the
  /// file. A block with damage counts, too.
  template <class Row, class Act>
  void after_each_block(Act act) {
    table_of<Row>().block_ends.emplace_back(std::move(act));
  }

  /// Number of rows in all added tables.
  std::uint64_t rows() const {
    std::uint64_t sum = 0;
    for (auto const& table : tables_) sum += table->rows(file_);
    return sum;
  }

  void run(read_progress const& progress = {}) {
    for (auto const& table : tables_) table->read(file_, progress);
  }

 private:
  struct any_table {
    virtual ~any_table() = default;
    virtual std::uint64_t rows(capture::reader const& file) const = 0;
    virtual void read(capture::reader& file, read_progress const& progress) = 0;
    std::uint16_t number = 0;
  };
  template <class Row>
  struct one_table final : any_table {
    capture::column_set<Row> wanted = capture::column_set<Row>::none();
    std::vector<std::function<void(std::span<Row const>)>> takers;
    std::vector<std::function<void()>> block_ends;

    std::uint64_t rows(capture::reader const& file) const override { return file.row_count<Row>(); }
    void read(capture::reader& file, read_progress const& progress) override {
      auto const has_several_gpus = file.row_count<device_record>() > 1;
      if constexpr (is_gpu_work<Row>)
        if (has_several_gpus) wanted.insert(&Row::device);
      for (auto const block : file.blocks_of<Row>()) {
        std::optional<capture::block_times> times;
        capture::block_devices devices;
        file.for_each_in<Row>(
            block,
            [&](std::span<Row const> some) {
              for (auto const& take : takers) take(some);
              if constexpr (has_time<Row>) widen(times, some);
              if constexpr (is_gpu_work<Row>)
                if (has_several_gpus) note_devices(devices, some);
              if (progress) progress(some.size());
            },
            wanted);
        if (has_times() && times) file.note_times(block, *times);
        if (!devices.empty()) file.note_devices(block, std::move(devices));
        for (auto const& act : block_ends) act();
      }
    }
    bool has_times() const noexcept {
      if constexpr (has_time<Row>)
        return wanted.has(capture::only(time_member<Row>()));
      else
        return false;
    }
  };

  template <class Row>
  one_table<Row>& table_of() {
    constexpr auto number = capture::table<Row>::number;
    auto const known = std::find_if(tables_.begin(), tables_.end(),
                                    [](auto const& table) { return table->number == number; });
    if (known != tables_.end()) return static_cast<one_table<Row>&>(**known);
    auto made = std::make_unique<one_table<Row>>();
    made->number = number;
    auto& table = *made;
    tables_.push_back(std::move(made));
    return table;
  }

  capture::reader& file_;
  std::vector<std::unique_ptr<any_table>> tables_;
};

}  // namespace gpuprof::host
