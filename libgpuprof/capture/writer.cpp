#include "capture/writer.hpp"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace gpuprof::capture {
namespace {

constexpr std::size_t pending_bytes = 1 << 20;

template <class Value>
constexpr std::string_view type_name() {
  if constexpr (std::is_enum_v<Value>) {
    return type_name<std::underlying_type_t<Value>>();
  } else if constexpr (std::is_same_v<Value, std::string_view>) {
    return "text";
  } else if constexpr (std::is_same_v<Value, bool>) {
    return "bool";
  } else if constexpr (std::is_same_v<Value, double>) {
    return "f64";
  } else {
    constexpr std::string_view names[2][4] = {{"u8", "u16", "u32", "u64"},
                                              {"i8", "i16", "i32", "i64"}};
    return names[std::is_signed_v<Value>][std::countr_zero(sizeof(Value))];
  }
}

}  // namespace

result<std::unique_ptr<writer>> writer::create(std::string path, create_mode mode) {
  auto file = output_file::create(path, mode);
  if (!file) return error{file.message()};
  std::unique_ptr<writer> made{new writer{std::move(path), std::move(*file)}};
  auto const header = to_bytes_of_file_header(format_major, format_minor);
  made->pending_.assign(header.begin(), header.end());
  made->write_schema();
  if (auto const written = made->flush(); !written) return error{written.message()};
  return made;
}

writer::writer(std::string path, output_file file)
    : path_(std::move(path)), file_(std::move(file)), owner_(getpid()) {
  pending_.reserve(2 * pending_bytes);
}

writer::~writer() {
  static_cast<void>(close());  // an error was reported by flush() or has no one left to hear it
}

// A forked child shares the file's offset-less descriptor but must not repeat the parent's rows.
bool writer::is_owner() const noexcept {
  return getpid() == owner_;
}

void writer::encode_block(std::uint16_t table, std::span<column_values const> columns) noexcept {
  auto const rows = columns[0].values.size();
  if (failure_ == 0 && encoder_.append(table, sequence_, columns, pending_)) {
    ++sequence_;
    pending_rows_ += rows;
  } else {
    rows_lost_ += rows;
  }
}

void writer::encode_definitions() noexcept {
  std::apply(
      [&](auto&... buffers) {
        auto const encode_if_definition = [&]<class Row>(table_buffer<Row>& buffer) {
          if constexpr (table<Row>::definition) encode(buffer);
        };
        (encode_if_definition(buffers), ...);
      },
      buffers_);
}

// The tuple's order has definitions first.
void writer::encode_all() noexcept {
  std::apply([&](auto&... buffers) { (encode(buffers), ...); }, buffers_);
}

void writer::write_if_much_is_pending() noexcept {
  if (pending_.size() >= pending_bytes) write_pending();
}

void writer::write_schema() noexcept {
  std::apply(
      [&](auto const&... buffers) {
        auto const describe = [&]<class Row>(table_buffer<Row> const&) {
          std::uint16_t place = 0;
          table<Row>::columns([&](std::string_view name, auto access) {
            using value = std::remove_cvref_t<decltype(access(std::declval<Row&>()))>;
            add(schema_row{.table = table<Row>::number,
                           .column = place++,
                           .table_name = table<Row>::name,
                           .column_name = name,
                           .type = type_name<value>()});
          });
        };
        (describe(buffers), ...);
      },
      buffers_);
}

void writer::write_pending() noexcept {
  if (pending_.empty() || !is_owner()) return;
  if (failure_ == 0) failure_ = file_.append(pending_);
  if (failure_ == 0) {
    written_sequence_ = sequence_;
  } else {
    rows_lost_ += pending_rows_;
  }
  pending_.clear();
  pending_rows_ = 0;
}

result<void> writer::flush() noexcept {
  if (closed_ || !is_owner()) return {};
  encode_all();
  write_pending();
  return report_failure_once();
}

result<void> writer::report_failure_once() noexcept {
  if (failure_ == 0 || failure_reported_) return {};
  failure_reported_ = true;
  try {
    char buffer[128];
    return error{"writing the capture '" + path_ +
                 "' failed: " + strerror_r(failure_, buffer, sizeof buffer) + "; it keeps the " +
                 std::to_string(file_.size()) +
                 " bytes written so far, later records are lost; free space or choose another "
                 "--output"};
  } catch (std::bad_alloc const&) {
    return error{};
  }
}

// Also after a failed write, when these few bytes often still fit: then the reader can say why rows
// are missing.
void writer::write_end() noexcept {
  pending_.clear();
  auto& buffer = std::get<table_buffer<end_row>>(buffers_);
  if (!buffer.add({.rows_lost = rows_lost_, .error = failure_})) return;
  if (encoder_.append(table<end_row>::number, written_sequence_, buffer.columns(), pending_)) {
    static_cast<void>(file_.append(pending_));
  }
}

result<void> writer::close() noexcept {
  if (closed_) return {};
  auto flushed = flush();
  if (is_owner()) write_end();
  file_.close();
  closed_ = true;
  return flushed;
}

}  // namespace gpuprof::capture
