// SPDX-License-Identifier: Apache-2.0
// The C++ interface to captures, over the reader that the command uses.
#include <gpuprof/capture.hpp>

#include "host/reader/captured_records.hpp"
#include "host/reading/time_merge.hpp"

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

}  // namespace

struct capture_file::contents {
  explicit contents(std::string path) : trace(opened(std::move(path))), names(trace) {}
  trace_contents trace;
  exported_names names;
};

capture_file::capture_file(std::string path)
    : contents_(std::make_unique<contents>(std::move(path))) {}
capture_file::~capture_file() = default;
capture_file::capture_file(capture_file&&) noexcept = default;
capture_file& capture_file::operator=(capture_file&&) noexcept = default;

void capture_file::visit(capture_visitor const& visitor,
                         std::vector<captured_stretch> const& within) {
  time_stretches stretches;
  for (auto const& one : within) stretches.push_back({{one.begin_ns}, {one.end_ns}});
  captured_records records(contents_->trace, contents_->names, visitor);
  for_each_in_time<range_begin, mark_record, api_record, kernel_record, graph_record, copy_record,
                   memset_record, sync_record, memory_record, sampled_launch_record,
                   metric_sample_record, chip_state_record>(contents_->trace.file(), records,
                                                            stretches);
}

std::vector<std::pair<std::string_view, std::string_view>> capture_file::facts() {
  std::vector<std::pair<std::string_view, std::string_view>> all;
  contents_->trace.file().for_each<fact_record>([&](std::span<fact_record const> rows) {
    for (auto const& row : rows)
      all.emplace_back(contents_->names.text(row.key), contents_->names.text(row.value));
  });
  return all;
}

std::vector<captured_device> capture_file::devices() {
  std::vector<captured_device> all;
  auto& names = contents_->names;
  for (auto const& device : contents_->trace.devices())
    all.push_back({raw(device.device), names.text(device.name), names.text(device.uuid),
                   names.text(device.chip), device.sm_count, device.memory_bytes});
  return all;
}

std::vector<captured_peak> capture_file::peaks() {
  std::vector<captured_peak> all;
  auto& names = contents_->names;
  contents_->trace.file().for_each<peak_record>([&](std::span<peak_record const> rows) {
    for (auto const& row : rows)
      all.push_back({raw(row.device), names.text(row.test), names.text(row.unit), row.burst,
                     row.sustained, row.theory});
  });
  return all;
}

std::vector<std::pair<std::string_view, std::uint64_t>> capture_file::counters() {
  std::map<std::string_view, std::uint64_t> last;
  contents_->trace.file().for_each<counter_record>([&](std::span<counter_record const> rows) {
    for (auto const& row : rows) last[contents_->names.text(row.name)] = row.value;
  });
  return {last.begin(), last.end()};
}

std::vector<std::string> capture_file::losses() {
  return contents_->trace.missing();
}

}  // namespace capture_v1
}  // namespace gpuprof
