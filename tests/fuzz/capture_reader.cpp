// SPDX-License-Identifier: Apache-2.0
#include "fuzz/capture_reader.hpp"

#include "capture/format.hpp"
#include "capture/reader.hpp"

#include <zstd.h>

#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace gpuprof::fuzz {
namespace {

using namespace gpuprof::capture;
using bytes = std::vector<unsigned char>;

void promise(bool kept) {
  if (!kept) abort();
}

bytes compressed(std::span<std::uint8_t const> content) {
  auto* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  bytes frame(ZSTD_compressBound(content.size()));
  frame.resize(ZSTD_compress2(context, frame.data(), frame.size(), content.data(), content.size()));
  ZSTD_freeCCtx(context);
  return frame;
}

bytes file_of_blocks(std::span<std::uint8_t const> input) {
  auto const header = to_bytes_of_file_header(format_major, format_minor);
  bytes file(header.begin(), header.end());
  for (std::uint64_t sequence = 0; input.size() >= 6; ++sequence) {
    auto const table = load<std::uint16_t>(input.data());
    auto const rows = load<std::uint16_t>(input.data() + 2);
    auto const length = load<std::uint16_t>(input.data() + 4);
    input = input.subspan(6);
    auto const content = input.first(std::min<std::size_t>(length, input.size()));
    input = input.subspan(content.size());
    auto const frame = compressed(content);
    auto const image = to_bytes({.table = table,
                                 .rows = rows,
                                 .stored_bytes = static_cast<std::uint32_t>(frame.size()),
                                 .raw_bytes = static_cast<std::uint32_t>(content.size()),
                                 .sequence = sequence});
    file.insert(file.end(), image.begin(), image.end());
    file.insert(file.end(), frame.begin(), frame.end());
  }
  return file;
}

// Touches every byte of every value, for the sanitizers to judge.
std::uint64_t sum_of(table_layout const& layout, std::byte const* rows, std::size_t count) {
  std::uint64_t sum = 0;
  std::vector<std::uint64_t> values(count);
  for (auto const& column : layout.columns) {
    gather(column, rows, layout.row_bytes, values);
    for (auto const value : values) sum += value;
    for (std::size_t i = 0; column.type == value_type::text && i < count; ++i) {
      for (auto const character : text_at(rows + i * layout.row_bytes, column)) {
        sum += static_cast<unsigned char>(character);
      }
    }
  }
  return sum;
}

template <class Row>
void read_table(reader& in) {
  std::uint64_t seen = 0;
  std::uint64_t sum = 0;
  in.for_each<Row>([&](std::span<Row const> rows) {
    seen += rows.size();
    sum += sum_of(layout_of<Row>(), std::as_bytes(rows).data(), rows.size());
  });
  promise(seen <= in.row_count<Row>() && seen <= max_rows_per_byte * in.size_bytes());
  [[maybe_unused]] static volatile std::uint64_t sink;
  sink = sum;
}

void read_file(std::span<unsigned char const> content) {
  static int const file = memfd_create("fuzz", MFD_CLOEXEC);
  promise(ftruncate(file, 0) == 0);
  promise(pwrite(file, content.data(), content.size(), 0) == static_cast<ssize_t>(content.size()));
  auto in = reader::open("/proc/self/fd/" + std::to_string(file));
  if (!in) {
    promise(!in.message().empty() && in.message().find('\n') == std::string::npos);
    return;
  }
  [&]<class... Row>(std::type_identity<std::tuple<Row...>>) {
    (read_table<Row>(*in), ...);
  }(std::type_identity<row_types>{});
  promise(in->warnings().size() < 100);
  for (auto const& line : in->warnings()) promise(line.find('\n') == std::string::npos);
  for (std::uint32_t id = 0; id < 4; ++id) {
    promise(in->text(name_id{id}).size() <= max_block_raw_bytes);
  }
}

}  // namespace

void read_capture(std::span<std::uint8_t const> input) {
  if (!input.empty() && input[0] == 'B') {
    read_file(file_of_blocks(input.subspan(1)));
  } else {
    read_file(input);
  }
}

}  // namespace gpuprof::fuzz
