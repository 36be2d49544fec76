// SPDX-License-Identifier: Apache-2.0
// Writes rows about the recording: GPUs, the process, its times, the program that wrote the file.
#include "base/utf8.hpp"
#include "host/export/sqlite/sqlite_output.hpp"

#include <ctime>

namespace gpuprof::host {
namespace {

// nsys' numbers for facts of a system.
constexpr int driver_version_number = 205, host_name_number = 619;

std::string utc_text(std::time_t seconds) {
  std::tm parts{};
  char text[32] = "";
  if (gmtime_r(&seconds, &parts) != nullptr)
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return text;
}

/// Bytes per second: two transfers in each clock cycle.
std::uint64_t memory_bandwidth(device_record const& device) {
  return std::uint64_t{device.max_memory_clock_khz} * 1000 * 2 * device.memory_bus_bits / 8;
}

void write_devices(sqlite_output& to) {
  auto& names = to.job.names;
  std::map<device_id, device_record> devices;  // one row each, to avoid double lines in reports
  for (auto const& device : to.job.trace.devices()) devices[device.device] = device;
  insertion gpus(to.file, tables::target_gpu), cuda(to.file, tables::target_cuda_device);
  for (auto const& [id, device] : devices) {
    std::string_view const name = names.text(device.name), uuid = names.text(device.uuid);
    gpus.row(nsys_terms::host, raw(id), name, std::string_view(names.text(device.pci_bus)),
             device.l2_bytes, device.memory_bytes, memory_bandwidth(device),
             std::uint64_t{device.max_sm_clock_khz} * 1000, device.sm_count, uuid,
             std::string_view(names.text(device.chip)), raw(id), device.compute_major,
             device.compute_minor, device.compute_major, device.compute_minor);
    cuda.row(raw(id), raw(id), to.terms.process_id(), uuid, device.sm_count);
  }
}

void write_contexts(sqlite_output& to) {
  std::map<context_id, device_id> contexts;
  to.job.trace.file().for_each<context_record>([&](std::span<context_record const> found) {
    for (auto const& context : found) contexts[context.context] = context.device;
  });
  insertion rows(to.file, tables::target_context);
  for (auto const& [context, device] : contexts)
    rows.row(nsys_terms::host, to.terms.process_id(), raw(device), raw(context));
}

void write_times(sqlite_output& to) {
  auto const origin = to.terms.origin();
  auto const text = utc_text(static_cast<std::time_t>(origin.value / 1'000'000'000));
  insertion(to.file, tables::target_session_start)
      .row(origin.value, std::string_view(text), std::string_view(text));
  auto const last = to.job.trace.last_moment();
  auto const length = last > origin ? to.terms.time(last) : 0;
  insertion(to.file, tables::analysis_details).row(nsys_terms::host, length, 0, length);
}

void write_process(sqlite_output& to) {
  auto& trace = to.job.trace;
  auto const fact = [&](std::string_view key) { return valid_utf8(trace.fact(key)); };
  auto const program = fact("process.program"), command = fact("process.command_line");
  insertion(to.file, tables::processes)
      .row(to.terms.global_process(), to.terms.process_id(), std::string_view(program));
  insertion capture(to.file, tables::meta_capture);
  capture.row(std::string_view("PROCESS_0:COMMAND"), std::string_view(command));
  capture.row(std::string_view("PROCESS_0:PID"),
              std::string_view(std::to_string(to.terms.process_id())));
  insertion system(to.file, tables::target_system);
  auto const known = [&](std::string_view name, int number, std::string const& value) {
    if (!value.empty())
      system.row(nsys_terms::host, std::string_view("gpuprof"), name, number,
                 std::string_view(value));
  };
  known("NvDriverVersion", driver_version_number, fact("driver.version"));
  known("Hostname", host_name_number, fact("host"));
}

void write_origin(sqlite_output& to) {
  insertion rows(to.file, tables::meta_export);
  auto const say = [&](std::string_view name, std::string const& value) {
    rows.row(name, std::string_view(value));
  };
  auto const [major, minor, micro] = nsys_schema;
  say("EXPORT_PRODUCT_NAME", "gpuprof");
  say("EXPORT_PRODUCT_VERSION", GPUPROF_VERSION);
  say("EXPORT_SCHEMA_VERSION",
      std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(micro));
  say("EXPORT_SCHEMA_VERSION_MAJOR", std::to_string(major));
  say("EXPORT_SCHEMA_VERSION_MINOR", std::to_string(minor));
  say("EXPORT_SCHEMA_VERSION_MICRO", std::to_string(micro));
  say("EXPORT_TIME_UTC", utc_text(std::time(nullptr)));
  say("EXPORT_PARAM_INPUT_FILE", valid_utf8(to.job.trace.file().path()));
  say("GPUPROF_SCHEMA_VERSION", std::to_string(own_schema));
}

}  // namespace

void write_target(sqlite_output& to) {
  write_devices(to);
  write_contexts(to);
  write_times(to);
  write_process(to);
  write_origin(to);
}

}  // namespace gpuprof::host
