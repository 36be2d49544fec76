// SPDX-License-Identifier: Apache-2.0
// Reads what an nsys export says of itself, its machine, GPUs and processes.
#include "host/import/nsys/nsys_source.hpp"
#include "host/import/source_values.hpp"

#include <algorithm>

namespace gpuprof::host {
namespace {

using facts = std::map<std::string, std::string>;

/// Reads a table of names and values.
facts facts_in(sqlite_reader& file, std::string const& table, char const* name = "name") {
  facts found;
  if (!file.has(table)) return found;
  auto rows = file.select(table, {name, "value"});
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
  auto about = facts_in(file, "META_DATA_EXPORT");
  about.merge(facts_in(file, "EXPORT_META_DATA"));  // older name of the table
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
  constexpr std::uint32_t threads_of_a_warp = 32;
  device.max_threads_per_sm = size_in(std::int64_t{size_in(row.integer(12))} * threads_of_a_warp);
  device.max_blocks_per_sm = size_in(row.integer(13));
  device.registers_per_sm = size_in(row.integer(14));
  device.shared_bytes_per_sm = size_in(row.integer(15));
  // For each block, the driver reserves the shared memory of an SM that one block cannot use.
  if (auto const of_a_block = size_in(row.integer(16));
      of_a_block != 0 && of_a_block < device.shared_bytes_per_sm)
    device.reserved_shared_bytes = device.shared_bytes_per_sm - of_a_block;
  return device;
}

/// CUDA numbers the GPUs of a process, nsys those of the machine. Rows of GPU work use CUDA's
/// numbers.
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
  auto rows = file.select(
      "TARGET_INFO_GPU",
      {"id", "cuDevice", "name", "uuid", "chipName", "computeMajor", "computeMinor", "smCount",
       "clockRate", "totalMemory", "l2CacheSize", "busLocation", "maxWarpsPerSm", "maxBlocksPerSm",
       "maxRegistersPerSm", "maxShmemPerSm", "maxShmemPerBlockOptin"});
  while (rows.next()) {
    auto number = rows.is_null(1) ? rows.integer(0) : rows.integer(1);
    if (auto const known = numbers.find(rows.integer(0)); known != numbers.end())
      number = known->second;
    auto device = device_at(rows, process);
    device.device = static_cast<device_id>(number);
    process.devices.try_emplace(device.device, device);
  }
}

void read_peaks(sqlite_reader& file, imported_process& process) {
  if (!file.has("GPUPROF_PEAKS")) return;
  auto rows = file.select("GPUPROF_PEAKS", {"deviceId",       "limiters",
                                            "test",           "testGroup",
                                            "title",          "unit",
                                            "clock",          "method",
                                            "operands",       "measuredAt",
                                            "remark",         "burst",
                                            "burstSpread",    "burstSmClockMHz",
                                            "sustained",      "sustainedSmClockMHz",
                                            "sustainedWatts", "theory",
                                            "perClock",       "perClockTheory"});
  while (rows.next()) {
    peak_record peak;
    peak.device = static_cast<device_id>(rows.integer(0));
    peak.limiters = static_cast<std::uint64_t>(rows.integer(1));
    int column = 2;
    for (auto* const text : {&peak.test, &peak.group, &peak.title, &peak.unit, &peak.clock,
                             &peak.method, &peak.operands, &peak.measured_at, &peak.remark})
      *text = process.name(rows.text(column++));
    for (auto* const figure : {&peak.burst, &peak.burst_spread, &peak.burst_sm_clock_mhz,
                               &peak.sustained, &peak.sustained_sm_clock_mhz, &peak.sustained_watts,
                               &peak.theory, &peak.per_clock, &peak.per_clock_theory})
      *figure = rows.real(column++);
    process.peaks.push_back(peak);
  }
}

/// The profiler held launches while it read counters. Without these times, the program seems to
/// have held them.
void read_readings(sqlite_reader& file, imported_process& process) {
  if (!file.has("GPUPROF_READINGS")) return;
  auto rows =
      file.select("GPUPROF_READINGS", {"correlationId", "deviceId", "contextId", "passGroup",
                                       "opened", "closed", "reading", "wholeGraph"});
  while (rows.next()) {
    read_launch_record one;
    one.correlation = process.correlation(rows.integer(0));
    one.device = static_cast<device_id>(rows.integer(1));
    one.context = process.context(rows.integer(2));
    one.group = static_cast<std::uint16_t>(rows.integer(3));
    one.opened = {static_cast<std::uint64_t>(rows.integer(4))};
    one.closed = {static_cast<std::uint64_t>(rows.integer(5))};
    one.reading = size_in(rows.integer(6));
    one.whole_graph = rows.integer(7) != 0;
    process.readings.push_back(one);
  }
}

/// gpuprof export writes one process, and adds tables of its own.
void read_own_tables(sqlite_reader& file, imported_process& process) {
  // Times recorded by gpuprof itself are trusted.
  if (file.has("GPUPROF_FACTS")) process.streams_are_in_order = false;
  for (auto const& [key, value] : facts_in(file, "GPUPROF_FACTS", "key"))
    if (!key.starts_with("import.")) process.fact(key, value);
  if (file.has("GPUPROF_WINDOWS")) {
    auto rows = file.select("GPUPROF_WINDOWS", {"start", "end", "trigger"});
    while (rows.next())
      process.windows.push_back({rows.integer(0),
                                 rows.is_null(1) ? process.ended.value_or(0) : rows.integer(1),
                                 process.name(rows.text(2))});
  }
  read_peaks(file, process);
  read_readings(file, process);
  if (!file.has("GPUPROF_COUNTERS")) return;
  constexpr std::string_view lost = "lost.";
  auto rows = file.select("GPUPROF_COUNTERS", {"name", "value"});
  while (rows.next())
    if (rows.text(0).starts_with(lost) && rows.integer(1) > 0)
      process.lost_before(rows.text(0).substr(lost.size()),
                          static_cast<std::uint64_t>(rows.integer(1)));
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
  auto const system = facts_in(file, "TARGET_INFO_SYSTEM_ENV");
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
    if (source.processes().size() == 1) read_own_tables(file, records);
    has_epoch = has_epoch || records.epoch != 0;
  }
  read_thread_names(source);
  if (!has_epoch)
    source.reading.outcome.notes.push_back(
        source.reading.job.options.source +
        " does not say when it was recorded: times count from the beginning of the recording");
}

}  // namespace gpuprof::host
