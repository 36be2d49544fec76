// SPDX-License-Identifier: Apache-2.0
// Implements the C interface of include/gpuprof/tables.h: streams of the Arrow C data interface.
#include <gpuprof/tables.h>

#include "host/reader/captured_columns.hpp"

#include <cerrno>
#include <exception>
#include <new>
#include <sys/stat.h>

namespace gpuprof::host {
namespace {

constexpr std::size_t max_rows_of_batch = 64 << 20;

/// Each stream owns one. Calls that may throw go through answer().
class table_stream {
 public:
  template <class Act>
  int answer(Act&& act) noexcept {
    if (failed_ != 0) return failed_;
    try {
      act();
    } catch (std::bad_alloc const&) {
      fail(ENOMEM, "there is not enough memory for the table");
    } catch (std::exception const& e) {
      fail(EIO, e.what());
    }
    return failed_;
  }

  void open(std::span<char const* const> paths, char const* table,
            std::span<char const* const> columns) {
    paths_.assign(paths.begin(), paths.end());
    auto planned = plan_of(table, std::vector<std::string_view>(columns.begin(), columns.end()),
                           paths.size() > 1);
    if (!planned) return fail(EINVAL, planned.message());
    plan_ = std::move(*planned);
    open_next();
  }
  void schema(ArrowSchema& out) { hand_out(plan_.fields, out); }
  void next(ArrowArray& out) {
    while (failed_ == 0 && current_) {
      if (auto const batch = current_->next(max_rows_of_batch)) return hand_out(*batch, out);
      open_next();
    }
  }
  char const* last_error() const noexcept { return failed_ != 0 ? message_.c_str() : nullptr; }

 private:
  void open_next() {
    current_.reset();
    if (next_ == paths_.size()) return;
    auto const& path = paths_[next_];
    auto opened = captured_columns::open(path, plan_, next_);
    ++next_;
    if (opened)
      current_ = std::move(*opened);
    else
      fail(code_of(path), opened.message());
  }
  static int code_of(std::string const& path) noexcept {
    struct stat found {};
    return stat(path.c_str(), &found) == 0 ? EINVAL : errno;
  }
  void fail(int code, std::string_view why) noexcept {
    failed_ = code;
    try {
      message_ = why;
    } catch (std::bad_alloc const&) {  // the code is enough
    }
  }

  std::vector<std::string> paths_;
  std::size_t next_ = 0;
  table_plan plan_;
  std::unique_ptr<captured_columns> current_;
  int failed_ = 0;
  std::string message_;
};

table_stream& of(ArrowArrayStream* stream) noexcept {
  return *static_cast<table_stream*>(stream->private_data);
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) noexcept {
  *out = {};
  return of(stream).answer([=] { of(stream).schema(*out); });
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) noexcept {
  *out = {};
  return of(stream).answer([=] { of(stream).next(*out); });
}

char const* get_last_error(ArrowArrayStream* stream) noexcept {
  return of(stream).last_error();
}

void release_stream(ArrowArrayStream* stream) noexcept {
  delete static_cast<table_stream*>(stream->private_data);
  stream->release = nullptr;
}

}  // namespace
}  // namespace gpuprof::host

extern "C" {

int gpuprof_open_table_of_all(char const* const* paths, size_t path_count, char const* table,
                              char const* const* columns, size_t column_count,
                              ArrowArrayStream* stream) {
  using namespace gpuprof::host;
  if (stream == nullptr) return EINVAL;
  *stream = {};
  auto const misses = [](char const* const* texts, std::size_t count) {
    return count > 0 &&
           (texts == nullptr || std::find(texts, texts + count, nullptr) != texts + count);
  };
  if (path_count == 0 || table == nullptr || misses(paths, path_count) ||
      misses(columns, column_count))
    return EINVAL;
  auto* const state = new (std::nothrow) table_stream;
  if (state == nullptr) return ENOMEM;
  *stream = {get_schema, get_next, get_last_error, release_stream, state};
  return state->answer([=] { state->open({paths, path_count}, table, {columns, column_count}); });
}

int gpuprof_open_table(char const* path, char const* table, ArrowArrayStream* stream) {
  return gpuprof_open_table_of_all(&path, 1, table, nullptr, 0, stream);
}

}  // extern "C"
