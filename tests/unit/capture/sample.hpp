// SPDX-License-Identifier: Apache-2.0
// A small capture of several flushes, and what of it can still be read after something happened to
// it.
#pragma once

#include "unit/capture/rows.hpp"

namespace gpuprof::capture::test {

struct sample {
  static constexpr std::uint32_t flushes = 4;
  static constexpr std::uint32_t names_each = 2;
  static constexpr std::uint32_t kernels_each = 20;
  static constexpr std::uint32_t ranges_each = 5;

  std::vector<kernel_record> kernels;
  std::vector<range_begin> ranges;
  std::vector<std::string> names;  // by id, from 1

  /// Every row differs from every other, so that a repeated or a moved one shows.
  sample() {
    std::mt19937_64 noise{7};
    for (std::uint32_t i = 1; i <= flushes * names_each; ++i) {
      names.push_back("kernel number " + std::to_string(i));
    }
    for (std::uint32_t i = 1; i <= flushes * kernels_each; ++i) {
      kernel_record kernel;
      kernel.start.value = 1'000'000 + 2500 * i + noise() % 100;
      kernel.duration.value = static_cast<std::int64_t>(1000 + 32 * (noise() % 8));
      kernel.correlation = correlation_id{i};
      kernel.shape = static_cast<shape_id>(1 + i % names.size());
      kernels.push_back(kernel);
    }
    for (std::uint32_t i = 1; i <= flushes * ranges_each; ++i) {
      range_begin range;
      range.range = range_id{i};
      range.time.value = 1'000'000 + 10'000 * i;
      range.declared_flops = 0.5 * i;
      ranges.push_back(range);
    }
  }

  /// One flush each; adds without flushing when `flushed` is false.
  void write_part(writer& out, std::uint32_t part) const {
    for (std::uint32_t i = 0; i < names_each; ++i) {
      auto const id = part * names_each + i;
      out.add_name(static_cast<name_id>(id + 1), names[id]);
    }
    out.add(std::span{kernels}.subspan(part * kernels_each, kernels_each));
    out.add(std::span{ranges}.subspan(part * ranges_each, ranges_each));
  }

  void write(std::string const& path) const {
    auto out = writer::create(path, create_mode::overwrite);
    if (!out) throw std::runtime_error(out.message());
    for (std::uint32_t part = 0; part < flushes; ++part) {
      write_part(**out, part);
      if (auto const flushed = (*out)->flush(); !flushed) {
        throw std::runtime_error(flushed.message());
      }
    }
  }
};

/// Everything a reader says about a file.
struct reading {
  bool opened = false;
  std::string refusal;
  std::vector<std::string> warnings;
  std::vector<kernel_record> kernels;
  std::vector<range_begin> ranges;
  std::vector<std::string> names;  // by id, from 1
  bool complete = false;
  std::size_t schema_rows = 0;
};

inline reading read_everything(std::string const& path, std::size_t names) {
  reading read;
  auto in = reader::open(path);
  if (!in) {
    read.refusal = in.message();
    return read;
  }
  read.opened = true;
  read.kernels = all<kernel_record>(*in);
  read.ranges = all<range_begin>(*in);
  for (std::uint32_t id = 1; id <= names; ++id) {
    read.names.emplace_back(in->text(static_cast<name_id>(id)));
  }
  in->for_each<schema_row>([&](auto rows) { read.schema_rows += rows.size(); });
  read.complete = in->is_complete();
  read.warnings = in->warnings();
  return read;
}

/// True when `part` is what remains of `whole` after leaving some rows out.
template <class Row>
bool is_subsequence(std::vector<Row> const& part, std::vector<Row> const& whole) {
  auto from = whole.begin();
  for (auto const& row : part) {
    while (from != whole.end() && !same(*from, row)) ++from;
    if (from == whole.end()) return false;
    ++from;
  }
  return true;
}

}  // namespace gpuprof::capture::test
