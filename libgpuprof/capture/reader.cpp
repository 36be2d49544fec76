// SPDX-License-Identifier: Apache-2.0
#include "capture/reader.hpp"

#include "base/log.hpp"
#include "capture/output_file.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <unordered_map>

namespace gpuprof::capture {
namespace {

// A file of a few kilobytes may decompress to any amount of names, so this is the limit. The
// library writes at most two million names with 128 MiB in total.
constexpr std::size_t max_name_bytes = 320 << 20;

}  // namespace

struct reader::name_store {
  std::vector<std::unique_ptr<char[]>> pages;
  std::unordered_map<name_id, std::string_view> by_id;
  std::size_t bytes = 0;
};

void reader::delete_names::operator()(name_store* names) const noexcept {
  delete names;
}

/// Counts decoded rows by table and logs them when the reader ends, to show how often a command
/// reads the same records.
struct reader::decode_counts {
  std::string path;
  std::array<std::uint64_t, table_count> decoded{}, in_file{};

  ~decode_counts() {
    std::string line;
    for (std::size_t i = 0; i < table_count; ++i) {
      if (decoded[i] == 0 || in_file[i] == 0 || all_tables()[i].definition) continue;
      char times[32];
      std::snprintf(times, sizeof times, " %.2f",
                    static_cast<double>(decoded[i]) / static_cast<double>(in_file[i]));
      line += (line.empty() ? " " : ", ") + name_of_table(static_cast<std::uint16_t>(i)) + times;
    }
    if (!line.empty()) log_debug("times that tables of ", path, " were decoded:", line);
  }
};

void reader::delete_counts::operator()(decode_counts* counts) const noexcept {
  delete counts;
}

result<reader> reader::open(std::string path) {
  auto file = input_file::open(path);
  if (!file) return error{file.message()};
  reader made{std::move(path), std::move(*file)};
  auto index = index_blocks(made.file_, made.path_, made.warnings_);
  if (!index) return error{index.message()};
  made.blocks_ = std::move(index->blocks);
  made.losses_ = index->losses;
  made.reported_.resize(made.blocks_.size());
  made.times_.resize(made.blocks_.size());
  made.devices_.resize(made.blocks_.size());
  made.decoded_->path = made.path_;
  for (auto const& block : made.blocks_)
    if (block.header.table < table_count)
      made.decoded_->in_file[block.header.table] += block.header.rows;
  made.read_names();
  made.judge_end(index->cut_off);
  return made;
}

reader::reader(std::string path, input_file file)
    : path_(std::move(path)),
      file_(std::move(file)),
      decoder_(std::make_unique<block_decoder>()),
      names_(new name_store),
      decoded_(new decode_counts) {}

bool reader::load(std::size_t block) {
  auto const& place = blocks_[block];
  if (decoder_->load(file_, place)) return true;
  if (!reported_[block]) {
    reported_[block] = true;
    losses_.rows[place.header.table] += place.header.rows;
    warnings_.add("'" + path_ + "': a block at offset " +
                  std::to_string(place.offset - block_header_bytes) + " is damaged and skipped, " +
                  std::to_string(place.header.rows) + " rows of table '" +
                  name_of_table(place.header.table) + "' lost");
  }
  return false;
}

void reader::count_decoded(std::size_t block) noexcept {
  auto const& header = blocks_[block].header;
  decoded_->decoded[header.table] += header.rows;
}

void reader::keep_blocks(std::uint16_t table, std::vector<std::size_t> const& blocks) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i].header.table == table && !std::binary_search(blocks.begin(), blocks.end(), i))
      continue;
    blocks_[kept] = blocks_[i];
    times_[kept] = times_[i];
    devices_[kept] = std::move(devices_[i]);
    reported_[kept] = reported_[i];
    ++kept;
  }
  blocks_.resize(kept);
  times_.resize(kept);
  devices_.resize(kept);
  reported_.resize(kept);
}

std::vector<block_notes> reader::notes() const {
  std::vector<block_notes> all;
  all.reserve(blocks_.size());
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    all.push_back({blocks_[i].offset, times_[i], devices_[i]});
  return all;
}

void reader::take(std::span<block_notes const> notes) {
  // If the file is still being written, the later reader has more blocks.
  for (std::size_t i = 0; i < std::min(blocks_.size(), notes.size()); ++i) {
    if (blocks_[i].offset != notes[i].offset) continue;
    if (notes[i].times) times_[i] = notes[i].times;
    if (notes[i].devices) devices_[i] = notes[i].devices;
  }
}

std::uint64_t reader::rows_decoded(std::uint16_t table) const noexcept {
  return decoded_->decoded[table];
}

void reader::read_names() {
  auto& names = *names_;
  std::size_t left_out = 0;
  for_each<name_row>([&](std::span<name_row const> rows) {
    std::size_t bytes = 0;
    for (auto const& row : rows) bytes += row.text.size();
    // The entry itself costs memory too, even for an empty text.
    auto const cost = bytes + rows.size() * 64;
    if (names.bytes + cost > max_name_bytes) {
      left_out += rows.size();
      return;
    }
    names.bytes += cost;
    auto* to = names.pages.emplace_back(new char[bytes + 1]).get();
    for (auto const& row : rows) {
      std::copy(row.text.begin(), row.text.end(), to);
      names.by_id.emplace(row.id, std::string_view{to, row.text.size()});
      to += row.text.size();
    }
  });
  if (left_out > 0) {
    warnings_.add("'" + path_ + "': " + std::to_string(left_out) +
                  " names are left out: all of them take more than " +
                  std::to_string(max_name_bytes >> 20) + " MiB of memory");
  }
}

// A closed file has an end mark. Without it, the program was killed or is still running.
void reader::judge_end(bool cut_off) {
  end_row end;
  for_each<end_row>([&](std::span<end_row const> rows) {
    complete_ = true;
    end = rows.back();
  });
  being_written_ = has_living_writer(file_.descriptor());
  losses_.unwritten = end.rows_lost;
  if (end.rows_lost > 0) {
    char buffer[128];
    warnings_.add(
        "'" + path_ + "': " + std::to_string(end.rows_lost) +
        " records are missing, the last ones: writing failed with '" +
        (end.error != 0 ? strerror_r(end.error, buffer, sizeof buffer) : "out of memory") + "'");
  }
  if (complete_ || cut_off) return;
  losses_.lacks_end = !being_written_;
  warnings_.add("'" + path_ +
                (being_written_
                     ? "' is still being written; records since its last flush are not in it yet"
                     : "' was not closed (its program was killed or has crashed); records after "
                       "its last flush are missing"));
}

std::uint64_t reader::row_count(std::uint16_t table) const noexcept {
  std::uint64_t rows = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    if (blocks_[i].header.table == table && !reported_[i]) rows += blocks_[i].header.rows;
  return rows;
}

std::string_view reader::text(name_id id) const noexcept {
  auto const found = names_->by_id.find(id);
  return found != names_->by_id.end() ? found->second : std::string_view{};
}

}  // namespace gpuprof::capture
