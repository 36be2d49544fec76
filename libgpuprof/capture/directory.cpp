// SPDX-License-Identifier: Apache-2.0
#include "capture/directory.hpp"

#include "capture/format.hpp"

namespace gpuprof::capture {

void write_directory(std::span<stored_column const> columns, std::vector<unsigned char>& out) {
  out.assign(directory_bytes(columns.size()), 0);
  store<std::uint16_t>(out.data(), static_cast<std::uint16_t>(columns.size()));
  auto* entry = out.data() + 2;
  for (auto const& column : columns) {
    store<std::uint16_t>(entry, column.place);
    store<std::uint8_t>(entry + 2, static_cast<std::uint8_t>(column.code.how));
    store<std::uint8_t>(entry + 3, column.code.width);
    store<std::uint32_t>(entry + 4, column.text_bytes);
    store<std::uint64_t>(entry + 8, column.code.base);
    store<std::uint64_t>(entry + 16, column.code.seed);
    store<std::uint64_t>(entry + 24, column.code.seed_step);
    entry += 32;
  }
}

bool read_directory(std::span<unsigned char const> content, std::size_t rows,
                    std::vector<stored_column>& out) {
  out.clear();
  if (content.size() < 2) return false;
  std::size_t const count = load<std::uint16_t>(content.data());
  if (content.size() < directory_bytes(count)) return false;
  auto expected = directory_bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto const* const entry = content.data() + directory_bytes(i);
    auto const how = load<std::uint8_t>(entry + 2);
    stored_column const column{.place = load<std::uint16_t>(entry),
                               .code = {.how = static_cast<transform>(how),
                                        .width = load<std::uint8_t>(entry + 3),
                                        .base = load<std::uint64_t>(entry + 8),
                                        .seed = load<std::uint64_t>(entry + 16),
                                        .seed_step = load<std::uint64_t>(entry + 24)},
                               .text_bytes = load<std::uint32_t>(entry + 4)};
    if (how > static_cast<std::uint8_t>(transform::delta_of_delta) || column.code.width > 8) {
      return false;
    }
    expected += column.payload_bytes(rows);
    out.push_back(column);
  }
  return expected == content.size();
}

}  // namespace gpuprof::capture
