// SPDX-License-Identifier: Apache-2.0
// Layout: "GPRECORD", version, size of the body, then the body as one zstd frame with a checksum.
// The body is a row of numbers (LEB128) and texts. Events are stored field by field, each as its
// difference from the one before; records word by word, each as its difference from the last
// record of the same kind: what repeats becomes zeros, which zstd all but removes.
#include "replay/format/recording_file.hpp"

#include <zstd.h>

#include <cstdio>
#include <cstring>
#include <memory>

namespace gpuprof::replay {
namespace {

constexpr char magic[8] = {'G', 'P', 'R', 'E', 'C', 'O', 'R', 'D'};
constexpr std::uint32_t format_version = 1;
constexpr std::size_t header_size = sizeof magic + 4 + 8;
constexpr std::uint64_t largest_body = 1u << 30;

struct damaged {};  // thrown by the cursor, caught in decode()

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

class body_writer {
 public:
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes.push_back(std::byte(value | 0x80));
    bytes.push_back(std::byte(value));
  }
  void text(std::string_view value) {
    number(value.size());
    raw(value.data(), value.size());
  }
  void raw(void const* from, std::size_t count) {
    auto const* const first = static_cast<std::byte const*>(from);
    bytes.insert(bytes.end(), first, first + count);
  }
  std::vector<std::byte> bytes;
};

class body_reader {
 public:
  explicit body_reader(std::span<std::byte const> body) : rest_(body) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      auto const byte = static_cast<std::uint64_t>(take(1)[0]);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw damaged{};
  }
  /// A count of things that take at least one byte each: never more than there are bytes left.
  std::size_t count() {
    auto const value = number();
    if (value > rest_.size()) throw damaged{};
    return value;
  }
  std::string text() {
    auto const bytes = take(count());
    return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
  }
  std::span<std::byte const> take(std::size_t count) {
    if (count > rest_.size()) throw damaged{};
    auto const taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::span<std::byte const> rest_;
};

/// Calls visit(member) for each number of an event, in the order of the file.
template <class Visit>
void for_each_field(Visit&& visit) {
  visit(&event::time);
  visit(&event::thread);
  visit(&event::kind);
  visit(&event::code);
  visit(&event::site);
  visit(&event::correlation);
  visit(&event::context);
  visit(&event::result);
  visit(&event::text);
  visit(&event::domain);
  visit(&event::object);
  visit(&event::registered);
  visit(&event::category);
  visit(&event::color);
  visit(&event::color_type);
  visit(&event::message_type);
  visit(&event::payload_type);
  visit(&event::payload_bits);
}

void put_events(body_writer& out, std::vector<event> const& events) {
  out.number(events.size());
  for_each_field([&](auto member) {
    std::uint64_t before = 0;
    for (auto const& e : events) {
      auto const value = static_cast<std::uint64_t>(e.*member);
      out.number(zigzag(static_cast<std::int64_t>(value - before)));
      before = value;
    }
  });
}

std::vector<event> get_events(body_reader& in) {
  std::vector<event> events(in.count());
  for_each_field([&](auto member) {
    std::uint64_t before = 0;
    for (auto& e : events) {
      before += static_cast<std::uint64_t>(unzigzag(in.number()));
      e.*member = static_cast<std::remove_reference_t<decltype(e.*member)>>(before);
    }
  });
  return events;
}

/// The first word of a record holds its kind.
std::uint32_t kind_of(std::byte const* record) {
  std::uint32_t kind = 0;
  std::memcpy(&kind, record, sizeof kind);
  return kind;
}

using words = std::vector<std::uint64_t>;

words words_of(std::span<std::byte const> record) {
  words w((record.size() + 7) / 8);
  std::memcpy(w.data(), record.data(), record.size());
  return w;
}

void put_records(body_writer& out, record_stream const& records) {
  out.number(records.count());
  std::map<std::uint32_t, words> before;
  std::size_t at = 0;
  for (auto const size : records.sizes) {
    auto const record = std::span(records.bytes).subspan(at, size);
    at += size;
    auto const now = words_of(record);
    auto& last = before[kind_of(record.data())];
    last.resize(now.size());
    out.number(kind_of(record.data()));
    out.number(size);
    for (std::size_t i = 0; i < now.size(); ++i) {
      out.number(zigzag(static_cast<std::int64_t>(now[i] - last[i])));
    }
    last = now;
  }
}

record_stream get_records(body_reader& in) {
  record_stream records;
  std::map<std::uint32_t, words> before;
  for (auto left = in.count(); left > 0; --left) {
    auto& last = before[static_cast<std::uint32_t>(in.number())];
    auto const size = in.number();
    if (size < 8 || size > 4096 || size % 8 != 0) throw damaged{};
    last.resize(size / 8);
    for (auto& word : last) word += static_cast<std::uint64_t>(unzigzag(in.number()));
    records.add(std::as_bytes(std::span(last)));
  }
  return records;
}

recording read_body(body_reader in) {
  recording r;
  for (auto left = in.count(); left > 0; --left) {
    auto key = in.text();
    r.facts[std::move(key)] = in.text();
  }
  r.strings.clear();
  for (auto left = in.count(); left > 0; --left) r.strings.push_back(in.text());
  if (r.strings.empty()) throw damaged{};
  for (auto left = in.count(); left > 0; --left) {
    auto const os_thread = static_cast<std::uint32_t>(in.number());
    r.threads.push_back({os_thread, static_cast<std::uint32_t>(in.number())});
  }
  r.events = get_events(in);
  for (auto left = in.count(); left > 0; --left) {
    buffer_entry b;
    b.time = in.number();
    b.size = in.number();
    b.used = in.number();
    b.records = in.number();
    r.buffers.push_back(b);
  }
  r.records = get_records(in);
  if (!in.at_end()) throw damaged{};
  for (auto const& e : r.events) {
    if (e.thread >= r.threads.size() || e.text >= r.strings.size()) throw damaged{};
  }
  return r;
}

}  // namespace

std::vector<std::byte> encode(recording const& r) {
  body_writer out;
  out.number(r.facts.size());
  for (auto const& [key, value] : r.facts) {
    out.text(key);
    out.text(value);
  }
  out.number(r.strings.size());
  for (auto const& s : r.strings) out.text(s);
  out.number(r.threads.size());
  for (auto const& t : r.threads) {
    out.number(t.os_thread);
    out.number(t.name);
  }
  put_events(out, r.events);
  out.number(r.buffers.size());
  for (auto const& b : r.buffers) {
    for (auto const value : {b.time, b.size, b.used, b.records}) out.number(value);
  }
  put_records(out, r.records);

  body_writer file;
  file.raw(magic, sizeof magic);
  file.raw(&format_version, sizeof format_version);
  std::uint64_t const body_size = out.bytes.size();
  file.raw(&body_size, sizeof body_size);
  auto const at = file.bytes.size();
  file.bytes.resize(at + ZSTD_compressBound(body_size));
  auto* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 19);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  auto const used = ZSTD_compress2(context, file.bytes.data() + at, file.bytes.size() - at,
                                   out.bytes.data(), out.bytes.size());
  ZSTD_freeCCtx(context);
  if (ZSTD_isError(used)) return {};
  file.bytes.resize(at + used);
  return file.bytes;
}

result<recording> decode(std::span<std::byte const> file) {
  if (file.size() < header_size || std::memcmp(file.data(), magic, sizeof magic) != 0) {
    return error{"it is not a recorded session (no GPRECORD at its start)"};
  }
  std::uint32_t version = 0;
  std::uint64_t body_size = 0;
  std::memcpy(&version, file.data() + sizeof magic, sizeof version);
  std::memcpy(&body_size, file.data() + sizeof magic + sizeof version, sizeof body_size);
  if (version != format_version) {
    return error{"it has format version " + std::to_string(version) + ", this program reads " +
                 std::to_string(format_version)};
  }
  if (body_size > largest_body) return error{"it is damaged (impossible size)"};
  std::vector<std::byte> body(body_size);
  auto const got = ZSTD_decompress(body.data(), body.size(), file.data() + header_size,
                                   file.size() - header_size);
  if (ZSTD_isError(got) || got != body_size) return error{"it is damaged or cut short"};
  try {
    return read_body(body_reader(body));
  } catch (damaged const&) {
    return error{"its contents do not fit together"};
  }
}

namespace {

// Not streams, which would bring half a megabyte of locales into the demo.
using open_file = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
open_file opened(std::string const& path, char const* mode) {
  return {std::fopen(path.c_str(), mode), std::fclose};
}

}  // namespace

result<void> write_recording(recording const& r, std::string const& path) {
  auto const bytes = encode(r);
  auto file = opened(path, "wbe");
  bool const written = file != nullptr && !bytes.empty() &&
                       std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size() &&
                       std::fclose(file.release()) == 0;
  if (!written) return error{"the session could not be written to " + path};
  return {};
}

result<recording> read_recording(std::string const& path) {
  auto const file = opened(path, "rbe");
  if (file == nullptr) return error{"session " + path + " cannot be opened"};
  std::vector<std::byte> bytes;
  std::byte block[65536];
  while (auto const got = std::fread(block, 1, sizeof block, file.get()))
    bytes.insert(bytes.end(), block, block + got);
  auto r = decode(bytes);
  if (!r) return error{"session " + path + " cannot be used: " + r.message()};
  return r;
}

}  // namespace gpuprof::replay
