// SPDX-License-Identifier: Apache-2.0
// Files that are cut off, damaged or something else altogether: a clear line, never a wrong row.
#include "capture/format.hpp"
#include "support/catch.hpp"
#include "unit/capture/sample.hpp"

using namespace gpuprof;
using namespace gpuprof::capture;
using namespace gpuprof::capture::test;
using Catch::Matchers::Contains;

namespace {

struct stored_sample {
  sample content;
  std::vector<char> bytes;
  memory_file changed_file;

  stored_sample() {
    scratch_file const file{"damage"};
    content.write(file.path());
    bytes = file.bytes();
  }
  reading read_changed(std::vector<char> const& changed) const {
    changed_file.replace(changed);
    return read_everything(changed_file.path(), content.names.size());
  }
};

// A row that arrived is one that was written; a name is right or absent.
bool is_part_of(reading const& read, sample const& content) {
  for (std::size_t i = 0; i < read.names.size(); ++i) {
    if (!read.names[i].empty() && read.names[i] != content.names[i]) return false;
  }
  return is_subsequence(read.kernels, content.kernels) &&
         is_subsequence(read.ranges, content.ranges);
}

// Each bit of a byte is flipped. The address sanitizer makes that a minute: one of each byte then,
// in turn.
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t bits_of_a_byte = 1;
#else
constexpr std::size_t bits_of_a_byte = 8;
#endif

bool is_all_of(reading const& read, sample const& content) {
  return same(read.kernels, content.kernels) && same(read.ranges, content.ranges) &&
         read.names == content.names && read.complete;
}

}  // namespace

TEST_CASE("if two captures were joined, the first is read and the other is reported") {
  stored_sample const stored;
  auto joined = stored.bytes;
  joined.insert(joined.end(), stored.bytes.begin(), stored.bytes.end());
  auto const read = stored.read_changed(joined);
  CHECK(is_all_of(read, stored.content));
  REQUIRE(read.warnings.size() == 1);
  CHECK_THAT(read.warnings[0], Contains("files seem to have been joined"));
}

TEST_CASE("the sample itself is read without warnings") {
  stored_sample const stored;
  auto const read = stored.read_changed(stored.bytes);
  CHECK(read.warnings.empty());
  CHECK(is_all_of(read, stored.content));
}

TEST_CASE("a capture cut after any byte opens with one line and the rows up to the cut") {
  stored_sample const stored;
  std::size_t most = 0;
  for (std::size_t length = 0; length < stored.bytes.size(); ++length) {
    auto cut = stored.bytes;
    cut.resize(length);
    auto const read = stored.read_changed(cut);
    INFO("length " << length);
    if (length < file_header_bytes) {
      REQUIRE_FALSE(read.opened);
      REQUIRE_THAT(read.refusal, Contains(length == 0 ? "is empty" : "inside its header"));
      continue;
    }
    REQUIRE(read.opened);
    REQUIRE(read.warnings.size() == 1);
    REQUIRE(begins(read.kernels, stored.content.kernels));
    REQUIRE(begins(read.ranges, stored.content.ranges));
    REQUIRE_FALSE(read.complete);
    // What has arrived stays: rows never become fewer as the file grows, and their names are there.
    REQUIRE(read.kernels.size() >= most);
    most = read.kernels.size();
    for (std::size_t i = 0; i < most / sample::kernels_each * sample::names_each; ++i) {
      REQUIRE(read.names[i] == stored.content.names[i]);
    }
  }
  CHECK(most == stored.content.kernels.size());
}

TEST_CASE("a cut-off capture says how much is lost") {
  stored_sample const stored;
  auto cut = stored.bytes;
  // The last block is the end mark, before it comes the schema once more, then the last ranges.
  auto const end = std::string_view{cut.data(), cut.size()}.rfind("gpblock") - 1;
  auto const schema = std::string_view{cut.data(), end}.rfind("gpblock") - 1;
  auto const last = std::string_view{cut.data(), schema}.rfind("gpblock") - 1;
  cut.resize(last + block_header_bytes + 3);
  auto const read = stored.read_changed(cut);
  REQUIRE(read.warnings.size() == 1);
  CHECK_THAT(read.warnings[0],
             Contains("its last 43 bytes are an unfinished block, 5 rows of table "
                      "'range_begin' lost"));
  cut.resize(last);
  CHECK_THAT(stored.read_changed(cut).warnings.at(0), Contains("was not closed"));
}

TEST_CASE("no flipped bit gives a wrong row, and every lost row is reported") {
  stored_sample const stored;
  std::size_t harmless = 0;
  for (std::size_t at = 0; at < stored.bytes.size(); ++at) {
    for (std::size_t i = 0; i < bits_of_a_byte; ++i) {
      auto const bit = (at + i) % 8;
      auto changed = stored.bytes;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      auto const read = stored.read_changed(changed);
      INFO("byte " << at << " bit " << bit);
      REQUIRE(read.opened);
      REQUIRE(is_part_of(read, stored.content));
      if (read.warnings.empty()) {
        REQUIRE(is_all_of(read, stored.content));
        REQUIRE(read.schema_rows > 0);
        ++harmless;
      }
    }
  }
  // zstd leaves a few bits without a meaning.
  CHECK(harmless * 100 < stored.bytes.size() * bits_of_a_byte);
}

TEST_CASE("a damaged block costs its own rows and no others") {
  stored_sample const stored;
  auto changed = stored.bytes;
  auto const first_kernels = [&] {
    for (std::size_t at = file_header_bytes;;) {
      block_header header;
      std::array<unsigned char, block_header_bytes> image;
      std::memcpy(image.data(), &changed[at], image.size());
      REQUIRE(parse(image, header));
      if (header.table == table<kernel_record>::number) return at;
      at += block_header_bytes + header.stored_bytes;
    }
  }();

  SECTION("in its content") {
    changed[first_kernels + block_header_bytes + 20] ^= 0x10;
    auto const read = stored.read_changed(changed);
    REQUIRE(read.warnings.size() == 1);
    CHECK_THAT(read.warnings[0],
               Contains("is damaged and skipped, 20 rows of table 'kernel' lost"));
    CHECK(read.kernels.size() == stored.content.kernels.size() - sample::kernels_each);
    CHECK(same(read.ranges, stored.content.ranges));
  }
  SECTION("in its header") {
    changed[first_kernels + 12] ^= 0x10;
    auto const read = stored.read_changed(changed);
    REQUIRE(read.warnings.size() == 1);
    CHECK_THAT(read.warnings[0], Contains("are damaged and skipped, 1 block of records lost"));
    CHECK(read.kernels.size() == stored.content.kernels.size() - sample::kernels_each);
    CHECK(same(read.ranges, stored.content.ranges));
  }
  SECTION("missing without a trace") {
    block_header header;
    std::array<unsigned char, block_header_bytes> image;
    std::memcpy(image.data(), &changed[first_kernels], image.size());
    REQUIRE(parse(image, header));
    auto const begin = changed.begin() + static_cast<std::ptrdiff_t>(first_kernels);
    changed.erase(begin,
                  begin + static_cast<std::ptrdiff_t>(block_header_bytes + header.stored_bytes));
    auto const read = stored.read_changed(changed);
    REQUIRE(read.warnings.size() == 1);
    CHECK_THAT(read.warnings[0], Contains("1 block of records missing before offset"));
  }
}

TEST_CASE("losses of damaged, cut and unfinished files are given in numbers") {
  auto const whole = stored_sample().bytes;
  memory_file const file;
  file.replace(whole);
  auto const intact = *reader::open(file.path());
  CHECK(intact.losses().rows.empty());
  CHECK(intact.losses().blocks == 0);
  CHECK_FALSE(intact.losses().lacks_end);

  auto cut = whole;
  cut.resize(whole.size() / 2);
  file.replace(cut);
  auto const half = *reader::open(file.path());
  CHECK(half.losses().lacks_end);

  auto const kernels = intact.row_count<kernel_record>();
  std::uint64_t max_lost = 0;
  for (std::size_t at = file_header_bytes; at < whole.size(); ++at) {
    auto flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x55);
    file.replace(flipped);
    auto in = reader::open(file.path());
    if (!in) continue;
    auto const read = all<kernel_record>(*in).size();
    INFO("byte " << at);
    if (in->losses().blocks == 0 && !in->losses().lacks_end)
      CHECK(read + in->rows_lost<kernel_record>() == kernels);
    CHECK(in->row_count<kernel_record>() == read);
    max_lost = std::max(max_lost, in->rows_lost<kernel_record>());
  }
  CHECK(max_lost > 0);
}

TEST_CASE("a file from a newer gpuprof is refused with its version") {
  stored_sample const stored;
  auto changed = stored.bytes;
  auto const header = to_bytes_of_file_header(format_major + 1, 3);
  std::copy(header.begin(), header.end(), changed.begin());
  auto const read = stored.read_changed(changed);
  REQUIRE_FALSE(read.opened);
  CHECK_THAT(read.refusal, Contains("has capture format 2.3, this gpuprof reads up to 1"));
}

TEST_CASE("a newer minor version is read, and unknown tables and columns are skipped") {
  scratch_file file{"minor"};
  {
    std::vector<unsigned char> bytes;
    auto const header = to_bytes_of_file_header(format_major, format_minor + 1);
    bytes.assign(header.begin(), header.end());
    std::vector<std::uint64_t> const numbers{1, 2, 3};
    block_encoder encoder;
    std::vector<column_values> const columns{{.place = 0, .values = numbers, .texts = {}},
                                             {.place = 63000, .values = numbers, .texts = {}}};
    REQUIRE(encoder.append(999, 0, columns, bytes));
    REQUIRE(encoder.append(table<range_end>::number, 1, columns, bytes));
    REQUIRE(encoder.append(table<end_row>::number, 2, std::span{columns}.first(1), bytes));
    file.replace({bytes.begin(), bytes.end()});
  }
  auto in = reader::open(file.path());
  REQUIRE(in);
  auto const ends = all<range_end>(*in);
  REQUIRE(ends.size() == 3);
  CHECK(ends[2].time.value == 3);
  CHECK(ends[2].range == range_id{0});  // an older writer's missing column: the default
}

TEST_CASE("a block that claims more rows than its bytes can hold is damaged") {
  memory_file const file;
  block_encoder encoder;
  auto const header = to_bytes_of_file_header(format_major, format_minor);
  std::vector<unsigned char> bytes(header.begin(), header.end());
  std::uint64_t const zero = 0;
  column_values const left_out{.place = 0, .values = {&zero, 1}, .texts = {}};
  REQUIRE(encoder.append(table<range_begin>::number, 0, {&left_out, 1}, bytes));
  auto const frame = static_cast<std::uint32_t>(bytes.size() - header.size() - block_header_bytes);
  CHECK(block_header_bytes + frame <= 56);
  auto const claim = [&](std::size_t rows) {
    auto const image = to_bytes({.table = table<range_begin>::number,
                                 .rows = static_cast<std::uint32_t>(rows),
                                 .stored_bytes = frame,
                                 .raw_bytes = 2,
                                 .sequence = 0});
    std::copy(image.begin(), image.end(), bytes.begin() + file_header_bytes);
    file.replace({bytes.begin(), bytes.end()});
    auto in = reader::open(file.path());
    REQUIRE(in);
    auto const rows_read = all<range_begin>(*in).size();
    CHECK(in->row_count<range_begin>() == rows_read);
    CHECK(in->warnings().size() == 1);
    CHECK_THAT(in->warnings().at(0),
               Contains(rows_read == 0 ? "are not a whole block" : "was not closed"));
    return rows_read;
  };
  CHECK(claim(max_block_rows) == 0);
  CHECK(claim(block_rows) == block_rows);  // all that a writer puts in a block
}

TEST_CASE("rows that take next to no bytes are read as they were written") {
  scratch_file const file{"idle"};
  constexpr std::size_t each = 100'000;
  {
    auto const out = writer::create(file.path(), create_mode::fail_if_exists);
    REQUIRE(out);
    for (std::uint64_t i = 0; i < each; ++i) {
      (*out)->add(range_end{{1000 * i}, {}, {}});  // its time is its only column
      (*out)->add(memset_record{});                // none
    }
  }
  auto in = reader::open(file.path());
  REQUIRE(in);
  CHECK(all<range_end>(*in).size() == each);
  CHECK(all<memset_record>(*in).size() == each);
  CHECK(in->warnings().empty());
}

TEST_CASE("names beyond the memory limit for names are left out, and a warning says so") {
  memory_file const file;
  block_encoder encoder;
  auto const header = to_bytes_of_file_header(format_major, format_minor);
  std::vector<unsigned char> bytes(header.begin(), header.end());
  std::string const texts(15 << 20, 'x');
  for (std::uint64_t id = 1; id <= 40; ++id) {
    std::uint64_t const ids[] = {id}, lengths[] = {texts.size()};
    column_values const columns[] = {{.place = 0, .values = ids, .texts = {}},
                                     {.place = 1, .values = lengths, .texts = texts}};
    REQUIRE(encoder.append(table<name_row>::number, id - 1, columns, bytes));
  }
  CHECK(bytes.size() < 100'000);
  file.replace({bytes.begin(), bytes.end()});
  auto in = reader::open(file.path());
  REQUIRE(in);
  CHECK(in->text(name_id{1}).size() == texts.size());
  CHECK(in->text(name_id{40}).empty());
  REQUIRE_FALSE(in->warnings().empty());
  CHECK_THAT(in->warnings()[0], Contains("19 names are left out"));
}

TEST_CASE("a file that is not a capture is reported as such") {
  scratch_file file{"other"};
  auto const refusal = [&](std::string const& content) {
    file.replace({content.begin(), content.end()});
    auto const in = reader::open(file.path());
    REQUIRE_FALSE(in);
    return in.message();
  };
  CHECK_THAT(refusal("SQLite format 3 and then some more bytes"),
             Contains("is not a gpuprof capture"));
  CHECK_THAT(refusal("{}"), Contains("is not a gpuprof capture"));
  CHECK_THAT(refusal(std::string(100000, '\0')), Contains("is not a gpuprof capture"));
  CHECK_THAT(refusal(""), Contains("is empty"));

  auto const absent = reader::open(file.path() + "_absent");
  REQUIRE_FALSE(absent);
  CHECK_THAT(absent.message(), Contains("No such file"));
  auto const folder = reader::open("/tmp");
  REQUIRE_FALSE(folder);
  CHECK_THAT(folder.message(), Contains("not a regular file"));
}

TEST_CASE("bytes of another program after the end are reported, not read") {
  stored_sample const stored;
  auto changed = stored.bytes;
  changed.insert(changed.end(), 100, '\0');
  auto const read = stored.read_changed(changed);
  CHECK(is_all_of(read, stored.content));
  REQUIRE(read.warnings.size() == 1);
  CHECK_THAT(read.warnings[0], Contains("the last 100 bytes are not a whole block"));
}
