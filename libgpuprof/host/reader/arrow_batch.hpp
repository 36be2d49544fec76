// SPDX-License-Identifier: Apache-2.0
// Columns in memory, and the structs of the Arrow C data interface that hand them out.
#pragma once

#include <gpuprof/tables.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

/// The different texts of a column, each once: Arrow's dictionary.
class arrow_texts {
 public:
  /// Its place. @throws std::length_error when all of them have 2 GiB
  std::int32_t place_of(std::string_view text);
  std::vector<std::int32_t> const& offsets() const noexcept { return offsets_; }
  std::string const& bytes() const noexcept { return bytes_; }

 private:
  std::unordered_map<std::string, std::int32_t> places_;
  std::vector<std::int32_t> offsets_{0};
  std::string bytes_;
};

struct arrow_field {
  std::string name;
  std::string unit;     // empty: none
  std::string meaning;  // empty: not told
  char const* format = "";
  bool is_text = false;  // `format` is that of the indices
};

struct arrow_column {
  void const* values = nullptr;
  std::shared_ptr<arrow_texts const> texts;
};

struct arrow_batch {
  std::size_t rows = 0;
  std::shared_ptr<void const> memory;  // of all values
  std::vector<arrow_column> columns;
};

/// `out` owns what it points to, and its release function frees it.
void hand_out(std::vector<arrow_field> const& fields, ArrowSchema& out);
void hand_out(arrow_batch const& batch, ArrowArray& out);

}  // namespace gpuprof::host
