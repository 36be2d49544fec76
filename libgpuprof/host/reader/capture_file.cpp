// SPDX-License-Identifier: Apache-2.0
// Implements the C++ interface to captures with the command's reader.
#include <gpuprof/capture.hpp>

#include "host/reader/capture_contents.hpp"

#include <map>
#include <stdexcept>

namespace gpuprof {
inline namespace capture_v1 {

namespace {

capture::reader opened(std::string path) {
  auto file = capture::reader::open(std::move(path));
  if (!file) throw std::runtime_error(file.message());
  return std::move(*file);
}

captured_unit unit_named(std::string_view name) noexcept {
  using enum captured_unit;
  for (auto const unit : {flop_per_second, op_per_second, byte_per_second, second})
    if (name_of(unit) == name) return unit;
  return unknown;
}

}  // namespace

capture_file::capture_file(std::string path)
    : contents_(std::make_unique<contents>(opened(std::move(path)))) {}
capture_file::~capture_file() = default;
capture_file::capture_file(capture_file&&) noexcept = default;
capture_file& capture_file::operator=(capture_file&&) noexcept = default;

std::vector<std::pair<std::string_view, std::string_view>> capture_file::facts() {
  std::vector<std::pair<std::string_view, std::string_view>> all;
  contents_->trace().file().for_each<fact_record>([&](std::span<fact_record const> rows) {
    for (auto const& row : rows)
      all.emplace_back(contents_->names().text(row.key), contents_->names().text(row.value));
  });
  return all;
}

std::vector<captured_device> capture_file::devices() {
  std::vector<captured_device> all;
  auto& names = contents_->names();
  for (auto const& device : contents_->trace().devices())
    all.push_back({raw(device.device), names.text(device.name), names.text(device.uuid),
                   names.text(device.chip), device.sm_count, device.memory_bytes});
  return all;
}

std::vector<captured_peak> capture_file::peaks() {
  std::vector<captured_peak> all;
  auto& names = contents_->names();
  contents_->trace().file().for_each<peak_record>([&](std::span<peak_record const> rows) {
    for (auto const& row : rows)
      all.push_back({raw(row.device), names.text(row.test), unit_named(names.text(row.unit)),
                     row.burst, row.sustained, row.theory});
  });
  return all;
}

std::vector<std::pair<std::string_view, std::uint64_t>> capture_file::counters() {
  std::map<std::string_view, std::uint64_t> last;
  contents_->trace().file().for_each<counter_record>([&](std::span<counter_record const> rows) {
    for (auto const& row : rows) last[contents_->names().text(row.name)] = row.value;
  });
  return {last.begin(), last.end()};
}

std::vector<std::string> capture_file::losses() {
  return contents_->trace().missing();
}

}  // namespace capture_v1
}  // namespace gpuprof
