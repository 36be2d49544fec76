// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"
#include "host/export/perfetto/fields.hpp"
#include "host/export/perfetto/writers.hpp"

#include <algorithm>
#include <charconv>

namespace gpuprof::host::perfetto {
namespace {

template <class Fill>
void add_packet(packet_file& file, Fill&& fill) {
  std::string bytes;
  {
    message<packet> out(bytes);
    fill(out);
  }
  file.add(bytes);
}

/// FNV-1a: exporting the same capture again gives the same trace id.
std::uint64_t hash_of(std::string_view text, std::uint64_t hash) noexcept {
  for (unsigned char const c : text) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

void write_identity(packet_file& file, trace_contents const& trace) {
  auto const text = trace.fact("host") + "\n" + trace.fact("process.id") + "\n" +
                    std::to_string(trace.origin().value);
  auto const low = hash_of(text, 0xcbf29ce484222325u);
  auto const high = hash_of(text, low);
  add_packet(file, [&](message<packet>& out) {
    message<trace_uuid> uuid(out, packet::trace_uuid);
    uuid.add_int64(trace_uuid::msb, static_cast<std::int64_t>(high));
    uuid.add_int64(trace_uuid::lsb, static_cast<std::int64_t>(low));
  });
}

/// Returns the 16 bytes of "GPU-b7abfe3a-48a9-9258-b7f8-a050c12a9443", or nothing if the text is
/// not a UUID.
std::string uuid_bytes(std::string_view text) {
  std::string digits;
  for (char const c : text.substr(std::min<std::size_t>(text.size(), 4)))
    if (c != '-') digits += c;
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    unsigned byte = 0;
    auto const* const end = digits.data() + i + 2;
    if (std::from_chars(digits.data() + i, end, byte, 16).ptr != end) return {};
    bytes += static_cast<char>(byte);
  }
  return bytes.size() == 16 ? bytes : std::string();
}

void add_gpu(message<gpu_info>& to, device_record const& device, exported_names& names) {
  message<gpu> one(to, gpu_info::gpus);
  one.add_string(gpu::name, names.text(device.name));
  one.add_string(gpu::vendor, "NVIDIA");
  one.add_string(gpu::model, names.text(device.name));
  one.add_string(gpu::architecture, names.text(device.chip));
  if (auto const uuid = uuid_bytes(names.text(device.uuid)); !uuid.empty())
    one.add_bytes(gpu::uuid, uuid);
  auto const add = [&](char const* key, std::uint64_t value) {
    message<gpu_extra> fact(one, gpu::extra_info);
    fact.add_string(gpu_extra::key, key);
    fact.add_string(gpu_extra::value, std::to_string(value));
  };
  add("compute_capability", device.compute_major * 10 + device.compute_minor);
  add("sm_count", device.sm_count);
  add("memory_bytes", device.memory_bytes);
  add("l2_bytes", device.l2_bytes);
  add("max_sm_clock_khz", device.max_sm_clock_khz);
  add("max_memory_clock_khz", device.max_memory_clock_khz);
  if (auto const& bus = names.text(device.pci_bus); !bus.empty()) one.add_string(gpu::pci_bdf, bus);
}

/// Events name a GPU by its index in this list.
void write_gpus(packet_file& file, export_job& job) {
  constexpr std::uint32_t max_devices = 64;
  auto devices = job.trace.devices();
  if (devices.empty()) return;
  std::sort(devices.begin(), devices.end(),
            [](auto const& a, auto const& b) { return a.device < b.device; });
  add_packet(file, [&](message<packet>& out) {
    message<gpu_info> info(out, packet::gpu_info);
    std::uint32_t next = 0;
    for (auto const& device : devices) {
      if (raw(device.device) < next || raw(device.device) >= max_devices) continue;
      for (; next < raw(device.device); ++next)
        message<gpu>(info, gpu_info::gpus).add_string(gpu::name, "not used");
      add_gpu(info, device, job.names);
      ++next;
    }
  });
}

/// Relates the trace to others of the same machine that use only the other clock. Sequences repeat
/// the same CLOCK_REALTIME time, because it may not go backward between snapshots.
void write_clocks(packet_file& file, export_job& job) {
  clock_record first;
  job.trace.file().for_each<clock_record>([&](std::span<clock_record const> rows) {
    if (first.realtime.value == 0 && !rows.empty()) first = rows.front();
  });
  auto const later = first.realtime - file.base();
  auto const monotonic = static_cast<std::int64_t>(first.monotonic) - later.value;
  if (first.realtime.value == 0 || monotonic <= 0) return;
  add_packet(file, [&](message<packet>& out) {
    out.add_uint32(packet::trusted_packet_sequence_id, file.new_sequence());
    message<clock_snapshot> snapshot(out, packet::clock_snapshot);
    auto const add = [&](std::uint32_t id, std::uint64_t at) {
      message<clock> one(snapshot, clock_snapshot::clocks);
      one.add_uint32(clock::clock_id, id);
      one.add_uint64(clock::timestamp, at);
    };
    add(realtime_clock, file.base().value);
    add(monotonic_clock, static_cast<std::uint64_t>(monotonic));
    snapshot.add_enum(clock_snapshot::primary_trace_clock, realtime_clock);
  });
}

}  // namespace

void write_machine_facts(packet_file& file, export_job& job) {
  write_identity(file, job.trace);
  write_gpus(file, job);
  write_clocks(file, job);
}

}  // namespace gpuprof::host::perfetto
