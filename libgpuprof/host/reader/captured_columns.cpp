// SPDX-License-Identifier: Apache-2.0
#include "host/reader/captured_columns.hpp"

#include "capture/column_notes.hpp"
#include "host/reading/capture_rank.hpp"

#include <algorithm>
#include <new>
#include <sys/mman.h>
#include <tuple>
#include <utility>

namespace gpuprof::host {
namespace {

constexpr std::size_t huge_page = 2 << 20;

}  // namespace

// Uses huge pages, because page faults of 4 KiB pages would take as long as the decoding.
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

namespace {

using capture::value_type;
using content = exported_column::content;

/// Maps an id to the index of its text and looks each id up once. A damaged file may contain any
/// id.
class place_of_id {
 public:
  template <class F>
  std::int32_t operator()(std::uint32_t id, F&& find) {
    if (id >= max_dense) {
      auto const [at, is_new] = others_.try_emplace(id, 0);
      if (is_new) at->second = find(id);
      return at->second;
    }
    if (id >= dense_.size()) dense_.resize(std::max<std::size_t>(id + 1, 2 * dense_.size()), -1);
    if (dense_[id] < 0) dense_[id] = find(id);
    return dense_[id];
  }

 private:
  static constexpr std::size_t max_dense = 1 << 22;
  std::vector<std::int32_t> dense_;  // -1: not looked up yet
  std::unordered_map<std::uint32_t, std::int32_t> others_;
};

/// Packs bools as Arrow does: eight per byte, the first in the lowest bit.
void pack_bits(std::byte const* bools, std::size_t rows, std::byte* to) noexcept {
  for (std::size_t i = 0; i < rows; ++i)
    to[i / 8] |= (bools[i] != std::byte{} ? std::byte{1} : std::byte{}) << (i % 8);
}

bool is_bool(exported_column const& column) noexcept {
  return column.source != nullptr && column.source->type == value_type::boolean;
}

constexpr std::size_t aligned(std::size_t bytes) noexcept {
  return (bytes + column_memory::alignment - 1) / column_memory::alignment *
         column_memory::alignment;
}

/// Includes space for both forms of bools: bytes for decoding, followed by the packed bits.
std::size_t bytes_of(exported_column const& column, std::size_t rows) noexcept {
  if (is_bool(column)) return aligned(rows) + aligned(rows / 8 + 1);
  if (column.holds != content::number) return aligned(rows * sizeof(std::int32_t));
  if (column.source == nullptr)
    return aligned(rows * (column.name == still_open_column ? 1 : sizeof(std::int64_t)));
  return aligned(rows * capture::bytes_of(column.source->type));
}

/// Returns the column index of the range number.
std::uint16_t place_of_range(capture::table_layout const& begins) {
  auto const at = std::find_if(begins.columns.begin(), begins.columns.end(),
                               [](auto const& column) { return column.name == "range"; });
  return static_cast<std::uint16_t>(at - begins.columns.begin());
}

template <class... Rows>
std::vector<std::uint64_t> rows_by_table(capture::reader const& file,
                                         std::type_identity<std::tuple<Rows...>>) {
  return {file.row_count<Rows>()...};
}

/// Reads all blocks, because damage inside them only shows when they are read.
template <class... Rows>
void look_at_all(capture::reader& file, std::type_identity<std::tuple<Rows...>>) {
  (file.for_each<Rows>([](auto const&) {}, capture::column_set<Rows>::none()), ...);
}

}  // namespace

result<std::unique_ptr<captured_columns>> captured_columns::open(std::string const& path,
                                                                 table_plan const& plan,
                                                                 std::size_t place) {
  auto blocks = capture::whole_columns::open(path);
  if (!blocks) return error{blocks.message()};
  // opened second: names are written before the records that use them
  auto file = capture::reader::open(path);
  if (!file) return error{file.message()};
  return std::unique_ptr<captured_columns>(
      new captured_columns(std::move(*blocks), std::move(*file), plan, place));
}

captured_columns::captured_columns(capture::whole_columns blocks, capture::reader file,
                                   table_plan const& plan, std::size_t place)
    : plan_(&plan),
      blocks_(std::move(blocks)),
      trace_(std::move(file)),
      rank_(static_cast<std::int64_t>(place)) {
  if (auto const rank = rank_of_capture(trace_)) rank_ = rank->rank;
  if (plan.layout != nullptr) left_ = blocks_.blocks_of(plan.layout->number);
}

std::optional<arrow_batch> captured_columns::next(std::size_t max_rows) {
  if (plan_->layout == nullptr) {
    if (std::exchange(is_made_, true)) return std::nullopt;
    return make();
  }
  if (next_ == left_.size()) return std::nullopt;
  auto const first = next_;
  std::size_t rows = 0;
  do rows += blocks_.rows_in(left_[next_++]);
  while (next_ < left_.size() && rows + blocks_.rows_in(left_[next_]) <= max_rows);
  return read(std::span(left_).subspan(first, next_ - first), rows);
}

arrow_batch captured_columns::read(std::span<std::size_t const> blocks, std::size_t rows) {
  std::size_t bytes = 0;
  for (auto const& column : plan_->columns) bytes += bytes_of(column, rows);
  auto const of_ranges = plan_->table == whole_ranges;
  auto const ids_at = bytes;
  if (of_ranges) bytes += rows * sizeof(std::uint64_t);
  auto const memory = std::make_shared<column_memory>(bytes);
  std::vector<capture::column_array> arrays;
  std::vector<std::byte*> begins;
  auto* begin = memory->begin();
  for (auto const& column : plan_->columns) {
    begins.push_back(begin);
    if (column.source != nullptr)
      arrays.push_back({static_cast<std::uint16_t>(column.place), column.source->type, begin});
    begin += bytes_of(column, rows);
  }
  if (of_ranges)
    arrays.push_back({place_of_range(*plan_->layout), value_type::u64, memory->begin() + ids_at});
  arrow_batch batch{blocks_.read(blocks, arrays), memory, {}};
  std::span<std::uint64_t const> ranges;
  if (of_ranges)
    ranges = {reinterpret_cast<std::uint64_t const*>(memory->begin() + ids_at), batch.rows};
  for (std::size_t i = 0; i < begins.size(); ++i) {
    auto const& column = plan_->columns[i];
    arrow_column made{begins[i], nullptr};
    if (column.source == nullptr) {
      fill(column, ranges, batch.rows, begins[i]);
    } else if (column.holds != content::number) {
      made.texts = name_places(column, reinterpret_cast<std::uint32_t*>(begins[i]), batch.rows);
    } else if (is_bool(column)) {
      auto* const bits = begins[i] + aligned(rows);
      pack_bits(begins[i], batch.rows, bits);
      made.values = bits;
    }
    batch.columns.push_back(std::move(made));
  }
  return batch;
}

void captured_columns::fill(exported_column const& column, std::span<std::uint64_t const> ranges,
                            std::size_t rows, std::byte* to) {
  auto* const numbers = reinterpret_cast<std::int64_t*>(to);
  if (column.name == rank_column) {
    std::fill_n(numbers, rows, rank_);
    return;
  }
  auto const& tree = trace_.ranges();
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    auto const at = tree.index_of(static_cast<range_id>(ranges[i]));
    if (at == no_range) continue;
    if (column.name == still_open_column)
      to[i] = tree[at].still_open ? std::byte{1} : std::byte{};
    else
      numbers[i] = tree[at].duration().value;
  }
}

std::shared_ptr<arrow_texts const> captured_columns::name_places(exported_column const& column,
                                                                 std::uint32_t* ids,
                                                                 std::size_t rows) {
  auto texts = std::make_shared<arrow_texts>();
  place_of_id places;
  for (std::size_t i = 0; i < rows; ++i)
    ids[i] = static_cast<std::uint32_t>(
        places(ids[i], [&](std::uint32_t id) { return texts->place_of(text_of(column, id)); }));
  return texts;
}

std::string_view captured_columns::text_of(exported_column const& column, std::uint32_t id) {
  if (!names_) names_.emplace(trace_);
  if (column.holds == content::text_of_name) return names_->text(static_cast<name_id>(id));
  return names_->kernel_of(static_cast<shape_id>(id)).demangled;
}

arrow_batch captured_columns::make() {
  struct made_row {
    std::string_view table, meaning;
    std::uint64_t rows = 0;
    std::string line;
  };
  std::vector<made_row> rows;
  if (plan_->table == missing_lines) {
    look_at_all(trace_.file(), std::type_identity<capture::row_types>{});
    for (auto& line : trace_.missing()) rows.push_back({{}, {}, 0, std::move(line)});
  } else {
    auto const counts = rows_by_table(trace_.file(), std::type_identity<capture::row_types>{});
    for (auto const& table : capture::all_tables())
      if (is_exported(table) && counts[table.number] > 0)
        rows.push_back(
            {table.name, capture::note_of(table.name)->meaning, counts[table.number], {}});
  }
  auto const memory =
      std::make_shared<column_memory>(plan_->columns.size() * rows.size() * sizeof(std::int64_t));
  arrow_batch batch{rows.size(), memory, {}};
  auto* begin = memory->begin();
  for (auto const& column : plan_->columns) {
    arrow_column made{begin, nullptr};
    if (column.holds == content::number) {
      auto* to = reinterpret_cast<std::int64_t*>(begin);
      for (auto const& row : rows)
        *to++ = column.name == rank_column ? rank_ : static_cast<std::int64_t>(row.rows);
    } else {
      auto texts = std::make_shared<arrow_texts>();
      auto* to = reinterpret_cast<std::int32_t*>(begin);
      for (auto const& row : rows)
        *to++ = texts->place_of(column.name == "table"     ? row.table
                                : column.name == "meaning" ? row.meaning
                                                           : std::string_view(row.line));
      made.texts = std::move(texts);
    }
    batch.columns.push_back(std::move(made));
    begin += rows.size() * sizeof(std::int64_t);
  }
  return batch;
}

}  // namespace gpuprof::host
