// SPDX-License-Identifier: Apache-2.0
// What an nsys export says of itself, its machine, GPUs and processes.
#include "host/import/nsys/nsys_source.hpp"

#include <algorithm>

namespace gpuprof {
namespace {

using facts = std::map<std::string, std::string>;

/// A table of names and values.
facts facts_of(sqlite_reader& file, std::string const& table) {
  facts found;
  if (!file.has(table)) return found;
  auto rows = file.select(table, {"name", "value"});
  while (rows.next()) found.emplace(rows.text(0), rows.text(1));
  return found;
}

std::string value_of(facts const& from, std::initializer_list<char const*> keys) {
  for (auto const* const key : keys)
    if (auto const known = from.find(key); known != from.end() && !known->second.empty())
      return known->second;
  return {};
}

std::string format_of(sqlite_reader& file) {
  auto about = facts_of(file, "META_DATA_EXPORT");
  about.merge(facts_of(file, "EXPORT_META_DATA"));  // its older name
  std::string format = "nsys sqlite";
  if (auto const schema = value_of(about, {"EXPORT_SCHEMA_VERSION"}); !schema.empty())
    format += ", schema " + schema;
  if (auto const product = value_of(about, {"EXPORT_PRODUCT_VERSION"}); !product.empty())
    format += ", nsys " + product;
  return format;
}

device_record device_at(sqlite_rows const& row, imported_process& process) {
  auto const number = [&](int column) { return static_cast<std::uint32_t>(row.integer(column)); };
  device_record device;
  device.name = process.name(row.text(2));
  auto const uuid = std::string(row.text(3));
  if (!uuid.empty()) device.uuid = process.name(uuid.starts_with("GPU-") ? uuid : "GPU-" + uuid);
  device.chip = process.name(row.text(4));
  device.compute_major = number(5);
  device.compute_minor = number(6);
  device.sm_count = number(7);
  device.max_sm_clock_khz = static_cast<std::uint32_t>(row.integer(8) / 1000);  // Hz
  device.memory_bytes = static_cast<std::uint64_t>(row.integer(9));
  device.l2_bytes = static_cast<std::uint64_t>(row.integer(10));
  device.pci_bus = process.name(row.text(11));
  return device;
}

/// CUDA numbers the GPUs of a process, nsys those of the machine. Rows of work have CUDA's.
std::map<std::int64_t, std::int64_t> cuda_numbers(sqlite_reader& file,
                                                  imported_process const& process) {
  std::map<std::int64_t, std::int64_t> numbers;
  if (!file.has("TARGET_INFO_CUDA_DEVICE", "cudaId")) return numbers;
  auto rows = file.select("TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid"});
  while (rows.next())
    if (!process.process_id || rows.is_null(2) || rows.integer(2) == *process.process_id)
      numbers[rows.integer(0)] = rows.integer(1);
  return numbers;
}

void read_devices(sqlite_reader& file, imported_process& process) {
  if (!file.has("TARGET_INFO_GPU")) return;
  auto const numbers = cuda_numbers(file, process);
  auto rows =
      file.select("TARGET_INFO_GPU",
                  {"id", "cuDevice", "name", "uuid", "chipName", "computeMajor", "computeMinor",
                   "smCount", "clockRate", "totalMemory", "l2CacheSize", "busLocation"});
  while (rows.next()) {
    auto number = rows.is_null(1) ? rows.integer(0) : rows.integer(1);
    if (auto const known = numbers.find(rows.integer(0)); known != numbers.end())
      number = known->second;
    auto device = device_at(rows, process);
    device.device = static_cast<device_id>(number);
    process.devices.try_emplace(device.device, device);
  }
}

void read_thread_names(nsys_source& source) {
  source.each("ThreadNames", {"globalTid", "nameId"},
              [&](sqlite_rows const& row, nsys_process& process) {
                auto const os_thread = nsys_source::os_thread(row.integer(0));
                if (raw(process.records->thread_name(os_thread)) == 0)
                  process.records->name_thread(os_thread, source.text(process, row.integer(1)));
              });
}

std::string program_of(nsys_source& source, std::int64_t key) {
  if (!source.file.has("PROCESSES")) return {};
  auto rows = source.file.select("PROCESSES", {"globalPid", "name"});
  while (rows.next())
    if ((rows.integer(0) & ~std::int64_t{0xffffff}) == key)
      return rows.is_text(1) ? std::string(rows.text(1)) : source.string_of(rows.integer(1));
  return {};
}

void read_times(nsys_source& source, imported_process& process) {
  auto& file = source.file;
  if (file.has("TARGET_INFO_SESSION_START_TIME")) {
    auto rows = file.select("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"});
    if (rows.next()) process.epoch = rows.integer(0);
  }
  if (file.has("ANALYSIS_DETAILS")) {
    // Its startTime and stopTime are of another clock: rows count from the beginning of the
    // analysis.
    auto rows = file.select("ANALYSIS_DETAILS", {"duration"});
    if (!rows.next() || rows.integer(0) <= 0) return;
    process.began = 0;
    process.ended = rows.integer(0);
  }
}

}  // namespace

void read_nsys_target(nsys_source& source) {
  auto& file = source.file;
  auto const system = facts_of(file, "TARGET_INFO_SYSTEM_ENV");
  auto const format = format_of(file);
  bool has_epoch = false;
  for (auto& [key, process] : source.processes()) {
    auto& records = *process.records;
    records.fact("import.source", source.reading.job.options.source);
    records.fact("import.format", format);
    records.fact("host", value_of(system, {"Hostname", "HostName", "hostname"}));
    records.fact("driver.version",
                 value_of(system, {"NvDriverVersion", "NVIDIA driver version", "DriverVersion"}));
    records.fact("driver.cuda_version", value_of(system, {"CudaDriverVersion"}));
    if (records.process_id) records.fact("process.id", std::to_string(*records.process_id));
    records.fact("process.program", program_of(source, key));
    read_devices(file, records);
    read_times(source, records);
    has_epoch = has_epoch || records.epoch != 0;
  }
  read_thread_names(source);
  if (!has_epoch)
    source.reading.outcome.notes.push_back(
        source.reading.job.options.source +
        " does not say when it was recorded: times count from the beginning of the recording");
}

}  // namespace gpuprof
