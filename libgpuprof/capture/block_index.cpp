// SPDX-License-Identifier: Apache-2.0
#include "capture/block_index.hpp"

#include "capture/layout.hpp"

#include <algorithm>
#include <optional>

namespace gpuprof::capture {
namespace {

using std::to_string;

constexpr std::size_t max_warnings = 50;

std::optional<block_header> header_at(input_file const& file, std::uint64_t offset) {
  block_header_image image;
  block_header header;
  if (offset + block_header_bytes > file.size() || !file.read(offset, image) ||
      !parse(image, header)) {
    return std::nullopt;
  }
  return header;
}

// Returns the offset of the next intact block header at or after `offset`, or the file size if
// there is none.
std::uint64_t next_header(input_file const& file, std::uint64_t offset) {
  std::vector<unsigned char> window(1 << 16);
  while (offset + block_header_bytes <= file.size()) {
    window.resize(std::min<std::uint64_t>(1 << 16, file.size() - offset));
    if (!file.read(offset, window)) break;
    auto from = window.begin();
    for (;;) {
      auto const found = std::search(from, window.end(), block_magic.begin(), block_magic.end());
      if (found == window.end()) break;
      auto const candidate = offset + static_cast<std::uint64_t>(found - window.begin());
      if (header_at(file, candidate)) return candidate;
      from = found + 1;
    }
    // the magic may be split between two windows
    offset += window.size() - (block_magic.size() - 1);
  }
  return file.size();
}

result<void> check_file_header(input_file const& file, std::string const& path,
                               warning_list& warnings) {
  if (file.size() == 0) {
    return error{"'" + path + "' is empty: the program was stopped before it wrote anything"};
  }
  file_header_image image{};
  auto const present = std::min<std::uint64_t>(file.size(), image.size());
  if (!file.read(0, {image.data(), present})) return error{"cannot read '" + path + "'"};
  auto const same_magic = std::equal(
      file_magic.begin(), file_magic.begin() + std::min<std::uint64_t>(8, present), image.begin());
  if (present < image.size()) {
    return same_magic ? error{"'" + path + "' ends after " + to_string(present) +
                              " bytes, inside its header: it holds no records"}
                      : error{"'" + path + "' is not a gpuprof capture"};
  }
  auto const same_sum =
      load<std::uint32_t>(&image[12]) == static_cast<std::uint32_t>(checksum({image.data(), 12}));
  if (same_magic && same_sum) {
    auto const major = load<std::uint16_t>(&image[8]);
    if (major <= format_major) return {};
    return error{"'" + path + "' has capture format " + to_string(major) + "." +
                 to_string(load<std::uint16_t>(&image[10])) + ", this gpuprof reads up to " +
                 to_string(format_major) + ": read it with a newer gpuprof"};
  }
  // Blocks have their own checksums, so damage in the file header loses nothing.
  if (!header_at(file, image.size()) && !(same_magic && next_header(file, 1) < file.size())) {
    return error{"'" + path + "' is not a gpuprof capture"};
  }
  warnings.add("'" + path + "': the file header is damaged; read as format " +
               to_string(format_major) + ", nothing is lost by it");
  return {};
}

std::string count_of(std::uint64_t count, std::string const& noun) {
  return to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

void warning_list::add(std::string line) {
  if (lines_.size() < max_warnings) {
    lines_.push_back(std::move(line));
  } else if (lines_.size() == max_warnings) {
    lines_.emplace_back("there is further damage that is not listed");
  }
}

std::string name_of_table(std::uint16_t number) {
  return number < table_count ? std::string{all_tables()[number].name}
                              : "table " + to_string(number);
}

namespace {

/// Block numbers must increase in a file, so a lower one starts another capture.
std::string where_another_begins(std::string const& path, std::uint64_t offset) {
  return "'" + path + "': from offset " + to_string(offset) +
         " on it holds another capture, or a part of this one again: files seem to have been "
         "joined. "
         "Only what comes before is read";
}

}  // namespace

result<block_index> index_blocks(input_file const& file, std::string const& path,
                                 warning_list& warnings) {
  if (auto const known = check_file_header(file, path, warnings); !known) {
    return error{known.message()};
  }
  block_index index;
  std::uint64_t offset = file_header_bytes;
  std::uint64_t expected = 0;  // next sequence number
  while (offset < file.size()) {
    auto header = header_at(file, offset);
    if (!header) {
      auto const resumed =
          file.size() - offset < block_header_bytes ? file.size() : next_header(file, offset + 1);
      auto const bytes = count_of(resumed - offset, "byte");
      if (resumed == file.size()) {
        index.cut_off = index.losses.lacks_end = true;
        warnings.add("'" + path + "': the last " + bytes +
                     " are not a whole block; what they held is lost, everything before is read");
        break;
      }
      header = header_at(file, resumed);
      if (!header) break;  // the file changed while it was read
      if (header->sequence < expected) {
        warnings.add(where_another_begins(path, offset));
        break;
      }
      auto const lost = header->sequence > expected ? header->sequence - expected : 0;
      warnings.add("'" + path + "': " + bytes + " at offset " + to_string(offset) +
                   " are damaged and skipped" +
                   (lost > 0 ? ", " + count_of(lost, "block") + " of records lost" : ""));
      index.losses.blocks += lost;
      offset = resumed;
    } else if (header->sequence < expected) {
      warnings.add(where_another_begins(path, offset));
      break;
    } else if (header->sequence > expected) {
      index.losses.blocks += header->sequence - expected;
      warnings.add("'" + path + "': " + count_of(header->sequence - expected, "block") +
                   " of records missing before offset " + to_string(offset));
    }
    expected = header->sequence + 1;
    offset += block_header_bytes;
    if (header->stored_bytes > file.size() - offset) {
      index.cut_off = index.losses.lacks_end = true;
      index.losses.rows[header->table] += header->rows;
      warnings.add("'" + path + "' is cut off: its last " +
                   count_of(file.size() - offset + block_header_bytes, "byte") +
                   " are an unfinished block, " + count_of(header->rows, "row") + " of table '" +
                   name_of_table(header->table) + "' lost, everything before is read");
      break;
    }
    index.blocks.push_back({.offset = offset, .header = *header});
    offset += header->stored_bytes;
  }
  return index;
}

}  // namespace gpuprof::capture
