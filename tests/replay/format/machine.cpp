// SPDX-License-Identifier: Apache-2.0
#include "replay/format/machine.hpp"

#include "replay/format/recording_file.hpp"

#include <cstdio>
#include <cstdlib>

namespace gpuprof::replay {
namespace {

fake_device device_from(recording const& r, unsigned ordinal) {
  auto const prefix = "device." + std::to_string(ordinal) + ".";
  auto const number = [&](char const* key) { return r.number(prefix + key); };
  fake_device d;
  d.name = r.fact(prefix + "name");
  d.uuid = r.fact(prefix + "uuid");
  d.chip = r.fact(prefix + "chip");
  d.pci_bus = r.fact(prefix + "pci_bus");
  d.compute_major = static_cast<int>(number("compute_major"));
  d.compute_minor = static_cast<int>(number("compute_minor"));
  d.sm_count = static_cast<int>(number("sm_count"));
  d.max_sm_clock_khz = static_cast<unsigned>(number("max_sm_clock_khz"));
  d.max_memory_clock_khz = static_cast<unsigned>(number("max_memory_clock_khz"));
  d.memory_bus_bits = static_cast<unsigned>(number("memory_bus_bits"));
  d.memory_bytes = number("memory_bytes");
  d.l2_bytes = number("l2_bytes");
  return d;
}

/// REPLAY_GPU_UUID: the first GPU is another one of its kind, which no other test shares.
void rename_first(fake_machine& machine) {
  char const* const wanted = std::getenv("REPLAY_GPU_UUID");
  if (wanted != nullptr && !machine.devices.empty()) machine.devices.front().uuid = wanted;
}

/// REPLAY_GPU_COUNT=2: more GPUs like the first.
void add_siblings(fake_machine& machine) {
  char const* const wanted = std::getenv("REPLAY_GPU_COUNT");
  auto const count = wanted != nullptr ? std::strtoul(wanted, nullptr, 10) : 0;
  while (!machine.devices.empty() && machine.devices.size() < count && count < 10) {
    auto sibling = machine.devices.front();
    auto const digit = static_cast<char>('0' + machine.devices.size());
    sibling.uuid.back() = digit;
    sibling.pci_bus.back() = digit;
    machine.devices.push_back(sibling);
  }
}

fake_machine read_machine() noexcept {
  fake_machine machine;
  try {
    char const* const path = std::getenv(session_variable);
    if (path == nullptr || *path == '\0') return machine;
    auto const r = read_recording(path);
    if (!r) {
      std::fprintf(stderr, "fake driver: %s; it has no devices\n", r.message().c_str());
      return machine;
    }
    machine.cuda_version = static_cast<int>(r->number("cuda_version"));
    machine.driver_version = r->fact("driver_version");
    for (unsigned i = 0; i < r->number("device_count"); ++i) {
      machine.devices.push_back(device_from(*r, i));
    }
    rename_first(machine);
    add_siblings(machine);
  } catch (...) {
    std::fprintf(stderr, "fake driver: the session's device facts are no numbers; no devices\n");
  }
  return machine;
}

}  // namespace

fake_machine const& this_machine() noexcept {
  static auto const* const machine = new fake_machine(read_machine());
  return *machine;
}

std::vector<unsigned char> uuid_bytes(std::string const& text) {
  std::vector<unsigned char> bytes;
  std::string digits;
  for (auto const c : text.substr(text.rfind("GPU-", 0) == 0 ? 4 : 0)) {
    if (c != '-') digits += c;
    if (digits.size() == 2) {
      bytes.push_back(static_cast<unsigned char>(std::strtoul(digits.c_str(), nullptr, 16)));
      digits.clear();
    }
  }
  bytes.resize(16);
  return bytes;
}

}  // namespace gpuprof::replay
