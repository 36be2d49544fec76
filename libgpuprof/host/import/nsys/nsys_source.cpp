// SPDX-License-Identifier: Apache-2.0
#include "host/import/nsys/nsys_source.hpp"

#include "base/readable.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <utility>

namespace gpuprof::host {

namespace {

constexpr std::size_t longest_payload = 64 << 10;

double number_in(nlohmann::json const& object, char const* key) {
  auto const found = object.find(key);
  if (found == object.end() || !found->is_number()) return 0;
  auto const value = found->get<double>();
  return std::isfinite(value) && value > 0 ? value : 0;
}

}  // namespace

declared_work declared_in(std::string_view json) {
  if (json.size() > longest_payload || json.find("flops") == std::string_view::npos) return {};
  constexpr bool throws = false;
  auto const payload = nlohmann::json::parse(json, nullptr, throws);
  if (!payload.is_object()) return {};
  declared_work work{number_in(payload, "flops"), number_in(payload, "bytes")};
  for (auto const& member : payload) {
    if (work.flops > 0 || !member.is_object()) continue;
    work = {number_in(member, "flops"), number_in(member, "bytes")};
  }
  return work;
}

nsys_source::nsys_source(sqlite_reader& of, source_reading& for_reading)
    : file(of), reading(for_reading) {
  if (file.has("StringIds", "id") && file.has("StringIds", "value"))
    strings_ =
        std::make_unique<sqlite_rows>(file.select("StringIds", {"value"}, "WHERE \"id\" = ?1"));
}

nsys_process* nsys_source::process_of(std::int64_t global) {
  auto const key = global & ~std::int64_t{0xffffff};
  if (key == last_key_) return last_;
  last_key_ = key;
  last_ = nullptr;
  // Tables with few columns do not name the process.
  if (key == 0 && processes_.size() == 1) return last_ = &processes_.begin()->second;
  if (is_closed_) {
    auto const known = processes_.find(key);
    return last_ = known != processes_.end() ? &known->second : nullptr;
  }
  if (key != 0) seen_.insert(process_id(key));
  auto const& wanted = reading.job.options.process;
  if (wanted && *wanted != process_id(key)) return nullptr;
  auto& process = processes_[key];
  if (process.records == nullptr) {
    process.records = std::make_unique<imported_process>(reading.spool_folder);
    if (key != 0) process.records->process_id = process_id(key);
  }
  return last_ = &process;
}

void nsys_source::keep_those_with_records() {
  std::erase_if(processes_, [](auto const& each) { return !each.second.records->has_records(); });
  is_closed_ = true;
  last_key_ = -1;
}

std::string nsys_source::string_of(std::int64_t string_id) {
  if (strings_ == nullptr) return {};
  strings_->bind(1, string_id);
  std::string text(strings_->next() ? strings_->text(0) : std::string_view{});
  if (auto const why = strings_->failure(); !why.empty() && !std::exchange(strings_noted_, true)) {
    reading.outcome.lacks_something = true;
    reading.outcome.notes.push_back(reading.job.options.source + " is damaged: StringIds (" + why +
                                    "); some names are missing");
  }
  strings_->reset();
  return text;
}

name_id nsys_source::text(nsys_process& process, std::int64_t string_id) {
  auto const [at, is_new] = process.texts.try_emplace(string_id);
  if (is_new) at->second = process.records->name(string_of(string_id));
  return at->second;
}

void nsys_source::note_damage(std::string const& table, std::uint64_t rows,
                              std::string const& failure) {
  auto const all = file.row_count(table);
  for (auto& [key, process] : processes_)
    process.records->lose("rows_of_a_damaged_table", all > rows ? all - rows : 1);
  reading.outcome.lacks_something = true;
  reading.outcome.notes.push_back(reading.job.options.source + " is damaged: " + table +
                                  " cannot be read beyond its first " + counted(rows, "rows") +
                                  " (" + failure + "); export it once more");
}

}  // namespace gpuprof::host
