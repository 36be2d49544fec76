// SPDX-License-Identifier: Apache-2.0
#include "host/reader/arrow_batch.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

namespace gpuprof::host {
namespace {

/// A struct of Arrow, with those below it. Consumers may move children away, and then release them
/// by themselves: each owns what it needs.
template <class Struct>
struct owned_struct {
  std::vector<Struct> children;
  std::vector<Struct*> child_places;
  Struct dictionary{};

  void attach_to(Struct& out) {
    for (auto& child : children) child_places.push_back(&child);
    out.n_children = static_cast<std::int64_t>(children.size());
    out.children = child_places.data();
    out.dictionary = dictionary.release != nullptr ? &dictionary : nullptr;
  }
  ~owned_struct() {
    for (auto& child : children)
      if (child.release != nullptr) child.release(&child);
    if (dictionary.release != nullptr) dictionary.release(&dictionary);
  }
};

struct owned_schema : owned_struct<ArrowSchema> {
  std::string name, metadata;
};

struct owned_array : owned_struct<ArrowArray> {
  std::shared_ptr<void const> memory;
  std::array<void const*, 3> buffers{};
};

template <class Owned, class Struct>
void release(Struct* from) noexcept {
  delete static_cast<Owned*>(from->private_data);
  from->release = nullptr;
}

/// As Arrow has it: a count, then keys and values, each after its length.
std::string metadata_of(arrow_field const& field) {
  std::string text;
  auto const put_number = [&](std::size_t value) {
    auto const number = static_cast<std::int32_t>(value);
    text.append(reinterpret_cast<char const*>(&number), sizeof number);
  };
  std::array<std::pair<std::string_view, std::string_view>, 2> const pairs{
      {{"unit", field.unit}, {"meaning", field.meaning}}};
  std::size_t count = 0;
  for (auto const& pair : pairs) count += pair.second.empty() ? 0 : 1;
  if (count == 0) return {};
  put_number(count);
  for (auto const& [key, value] : pairs) {
    if (value.empty()) continue;
    for (auto const part : {key, value}) {
      put_number(part.size());
      text += part;
    }
  }
  return text;
}

void fill_schema(ArrowSchema& out, char const* format, std::unique_ptr<owned_schema> owned) {
  owned->attach_to(out);
  out.format = format;
  out.name = owned->name.c_str();
  out.metadata = owned->metadata.empty() ? nullptr : owned->metadata.data();
  out.flags = 0;
  out.release = release<owned_schema, ArrowSchema>;
  out.private_data = owned.release();
}

void fill_array(ArrowArray& out, std::size_t rows, std::int64_t buffers,
                std::unique_ptr<owned_array> owned) {
  owned->attach_to(out);
  out.length = static_cast<std::int64_t>(rows);
  out.null_count = 0;
  out.offset = 0;
  out.n_buffers = buffers;
  out.buffers = owned->buffers.data();
  out.release = release<owned_array, ArrowArray>;
  out.private_data = owned.release();
}

void hand_out_texts(std::shared_ptr<arrow_texts const> const& texts, ArrowArray& out) {
  auto owned = std::make_unique<owned_array>();
  owned->memory = texts;
  owned->buffers = {nullptr, texts->offsets().data(), texts->bytes().data()};
  fill_array(out, texts->offsets().size() - 1, 3, std::move(owned));
}

}  // namespace

std::int32_t arrow_texts::place_of(std::string_view text) {
  auto const [at, is_new] =
      places_.try_emplace(std::string(text), static_cast<std::int32_t>(places_.size()));
  if (is_new) {
    if (bytes_.size() + text.size() > std::numeric_limits<std::int32_t>::max())
      throw std::length_error("the texts of a column take more than 2 GiB");
    bytes_ += text;
    offsets_.push_back(static_cast<std::int32_t>(bytes_.size()));
  }
  return at->second;
}

void hand_out(std::vector<arrow_field> const& fields, ArrowSchema& out) {
  auto table = std::make_unique<owned_schema>();
  table->children.resize(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    auto column = std::make_unique<owned_schema>();
    column->name = fields[i].name;
    column->metadata = metadata_of(fields[i]);
    if (fields[i].is_text) fill_schema(column->dictionary, "u", std::make_unique<owned_schema>());
    fill_schema(table->children[i], fields[i].format, std::move(column));
  }
  fill_schema(out, "+s", std::move(table));
}

void hand_out(arrow_batch const& batch, ArrowArray& out) {
  auto table = std::make_unique<owned_array>();
  table->children.resize(batch.columns.size());
  for (std::size_t i = 0; i < batch.columns.size(); ++i) {
    auto column = std::make_unique<owned_array>();
    column->memory = batch.memory;
    column->buffers[1] = batch.columns[i].values;
    if (batch.columns[i].texts) hand_out_texts(batch.columns[i].texts, column->dictionary);
    fill_array(table->children[i], batch.rows, 2, std::move(column));
  }
  fill_array(out, batch.rows, 1, std::move(table));
}

}  // namespace gpuprof::host
