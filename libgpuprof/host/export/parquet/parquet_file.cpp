// SPDX-License-Identifier: Apache-2.0
#include "host/export/parquet/parquet_file.hpp"

#include "host/export/unfinished_output.hpp"

#include <algorithm>
#include <arrow/api.h>
#include <arrow/io/interfaces.h>
#include <cmath>
#include <new>
#include <parquet/arrow/writer.h>

namespace gpuprof::host {
namespace {

// The unit that readers skip by statistics and that one task of a cluster reads.
constexpr std::int64_t rows_in_group = 1 << 20;
// A column with a larger dictionary is written without one: a name may be 64 KiB long.
constexpr std::int64_t dictionary_bytes = 16 << 20;

std::shared_ptr<arrow::DataType> type_of(column_kind kind) {
  switch (kind) {
    case column_kind::rising:
    case column_kind::number:
      return arrow::int64();
    case column_kind::real:
      return arrow::float64();
    case column_kind::flag:
      return arrow::boolean();
    case column_kind::plain_text:
      return arrow::utf8();
    case column_kind::text:
      break;
  }
  return arrow::dictionary(arrow::int32(), arrow::utf8());
}

/// Memory comes from operator new, so that the command's memory limit is noticed.
arrow::MemoryPool* memory() {
  return arrow::system_memory_pool();
}

/// Arrow's stream into an output file of gpuprof, which keeps the first failure and is renamed when
/// complete.
class file_stream final : public arrow::io::OutputStream {
 public:
  explicit file_stream(unfinished_file& file) : file_(&file) {}
  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }
  arrow::Result<std::int64_t> Tell() const override {
    return static_cast<std::int64_t>(file_->size());
  }
  using arrow::io::OutputStream::Write;
  arrow::Status Write(void const* bytes, std::int64_t count) override {
    file_->put({static_cast<char const*>(bytes), static_cast<std::size_t>(count)});
    // finish() returns the reason
    return file_->failed() ? arrow::Status::IOError("") : arrow::Status::OK();
  }

 private:
  unfinished_file* file_;
  bool closed_ = false;
};

template <class T>
T taken(arrow::Result<T> from) {
  if (!from.ok()) throw std::bad_alloc();
  return std::move(*from);
}

/// Returns a bitmap of the values that exist; null if all do.
template <class Values, class Is>
std::shared_ptr<arrow::Buffer> bits_where(Values const& values, std::int64_t& clear, Is is) {
  auto bits = taken(arrow::AllocateEmptyBitmap(static_cast<std::int64_t>(values.size()), memory()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto const set = is(values[i]);
    bits->mutable_data()[i / 8] |= static_cast<std::uint8_t>(set << (i % 8));
    clear += !set;
  }
  return bits;
}

template <class Values, class Is>
std::shared_ptr<arrow::Buffer> validity(Values const& values, std::int64_t& nulls, Is is) {
  if (std::all_of(values.begin(), values.end(), is)) return nullptr;  // the common case
  return bits_where(values, nulls, is);
}

std::shared_ptr<arrow::Array> plain_texts(std::vector<std::optional<std::string>> const& texts) {
  arrow::StringBuilder builder(memory());
  for (auto const& text : texts)
    if (!(text ? builder.Append(*text) : builder.AppendNull()).ok()) throw std::bad_alloc();
  return taken(builder.Finish());
}

std::shared_ptr<arrow::Array> array_of(column_kind kind, column_values const& of,
                                       std::shared_ptr<arrow::Array> const& dictionary,
                                       bool is_optional) {
  std::int64_t nulls = 0;
  auto const made = [&](auto const& values, auto is) {
    auto valid = validity(values, nulls, is);
    return arrow::ArrayData::Make(type_of(kind), static_cast<std::int64_t>(values.size()),
                                  {std::move(valid), arrow::Buffer::Wrap(values)}, nulls);
  };
  switch (kind) {
    case column_kind::rising:
    case column_kind::number:
      // In a column that is not optional, any number is valid.
      return arrow::MakeArray(
          made(of.numbers, [&](auto n) { return !is_optional || n != no_number; }));
    case column_kind::real:
      return arrow::MakeArray(made(of.reals, [](double n) { return !std::isnan(n); }));
    case column_kind::text: {
      auto data = made(of.codes, [](auto code) { return code != no_text; });
      data->dictionary = dictionary->data();
      return arrow::MakeArray(data);
    }
    case column_kind::plain_text:
      return plain_texts(of.texts);
    case column_kind::flag:
      break;
  }
  auto bits = bits_where(of.flags, nulls, [](auto is) { return is != 0; });
  return std::make_shared<arrow::BooleanArray>(static_cast<std::int64_t>(of.flags.size()),
                                               std::move(bits));
}

std::shared_ptr<arrow::Array> dictionary_of(text_list const& texts) {
  arrow::StringBuilder builder(memory());
  for (auto const text : texts.texts())
    if (!builder.Append(text).ok()) throw std::bad_alloc();
  return taken(builder.Finish());
}

std::shared_ptr<arrow::Schema> schema_of(std::vector<table_column> const& columns,
                                         parquet_facts const& facts) {
  arrow::FieldVector fields;
  for (auto const& column : columns) {
    auto field = arrow::field(column.name, type_of(column.kind), column.optional);
    if (!column.unit.empty())
      field = field->WithMetadata(arrow::key_value_metadata({"unit"}, {column.unit}));
    fields.push_back(std::move(field));
  }
  auto about = std::make_shared<arrow::KeyValueMetadata>();
  for (auto const& [key, value] : facts) about->Append(key, value);
  return arrow::schema(std::move(fields), std::move(about));
}

std::shared_ptr<parquet::WriterProperties> properties_for(
    std::vector<table_column> const& columns) {
  parquet::WriterProperties::Builder builder;
  builder.memory_pool(memory())
      ->created_by("gpuprof " GPUPROF_VERSION)
      ->compression(parquet::Compression::ZSTD)
      ->max_row_group_length(rows_in_group)
      ->dictionary_pagesize_limit(dictionary_bytes)
      ->enable_write_page_index();
  for (auto const& column : columns)
    if (column.kind == column_kind::rising)
      builder.disable_dictionary(column.name)
          ->encoding(column.name, parquet::Encoding::DELTA_BINARY_PACKED);
  return builder.build();
}

}  // namespace

struct parquet_file::writing {
  unfinished_file file;
  std::vector<table_column> columns;
  std::vector<column_values> values;                        // one per column
  std::vector<std::shared_ptr<arrow::Array>> dictionaries;  // one per column; null if not text
  std::shared_ptr<arrow::Schema> schema;
  std::unique_ptr<parquet::arrow::FileWriter> writer;
  arrow::Status status;

  void note(arrow::Status const& of) {
    if (of.IsOutOfMemory()) throw std::bad_alloc();
    if (status.ok()) status = of;
  }
};

result<parquet_file> parquet_file::create(std::string const& path,
                                          std::vector<table_column> columns,
                                          parquet_facts const& facts) {
  auto file = unfinished_file::create(path, false);
  if (!file) return error{file.message()};
  auto state =
      std::make_unique<writing>(writing{std::move(*file), std::move(columns), {}, {}, {}, {}, {}});
  state->values.resize(state->columns.size());
  for (auto const& column : state->columns)
    state->dictionaries.push_back(column.texts ? dictionary_of(*column.texts) : nullptr);
  state->schema = schema_of(state->columns, facts);
  auto const keep_types =
      parquet::ArrowWriterProperties::Builder().store_schema()->set_use_threads(true)->build();
  auto writer = parquet::arrow::FileWriter::Open(*state->schema, memory(),
                                                 std::make_shared<file_stream>(state->file),
                                                 properties_for(state->columns), keep_types);
  if (writer.ok())
    state->writer = std::move(*writer);
  else
    state->note(writer.status());
  return parquet_file(std::move(state));
}

parquet_file::parquet_file(std::unique_ptr<writing> state) : state_(std::move(state)) {}
parquet_file::parquet_file(parquet_file&&) noexcept = default;
parquet_file::~parquet_file() = default;

void parquet_file::put(std::byte const* rows, std::size_t count) {
  if (!state_->status.ok() || count == 0) return;
  arrow::ArrayVector arrays;
  for (std::size_t i = 0; i < state_->columns.size(); ++i) {
    auto const& column = state_->columns[i];
    column.read(rows, count, state_->values[i]);
    arrays.push_back(
        array_of(column.kind, state_->values[i], state_->dictionaries[i], column.optional));
  }
  state_->note(state_->writer->WriteRecordBatch(*arrow::RecordBatch::Make(
      state_->schema, static_cast<std::int64_t>(count), std::move(arrays))));
}

result<void> parquet_file::finish() {
  if (state_->status.ok()) state_->note(state_->writer->Close());
  if (state_->status.ok() || state_->file.failed()) return state_->file.finish();
  return error{"cannot write Parquet: " + state_->status.ToString() +
               "; nothing is left of it, --type csv writes the same tables"};
}

}  // namespace gpuprof::host
