// SPDX-License-Identifier: Apache-2.0
#include "replay/recorder/machine_facts.hpp"

#include "base/process.hpp"
#include "guest/cupti/chip_name.hpp"
#include "guest/cupti/loader.hpp"
#include "guest/driver/device_facts.hpp"
#include "replay/recorder/session_log.hpp"

#include <chrono>
#include <ctime>
#include <future>
#include <string>
#include <thread>

namespace gpuprof::replay {
using namespace guest;
namespace {

std::future<driver_facts>* pending = nullptr;  // never destroyed: a future of std::async waits

driver_facts read_when_ready() {
  auto const driver = load_cuda_driver();
  if (!driver || driver->cuDeviceGetCount == nullptr) return {};
  int count = 0;
  for (int tries = 0; tries < 10'000 && driver->cuDeviceGetCount(&count) != CUDA_SUCCESS; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return read_driver_facts(*driver);
}

std::string chip_of(unsigned device) {
  auto const cupti = load_cupti(0);
  return cupti ? chip_name(cupti->api, device) : std::string();
}

/// The command as typed, without the folder of the program.
std::string command() {
  auto const line = command_line();
  auto const program = line.substr(0, line.find(' '));
  return line.substr(program.find_last_of('/') + 1);
}

void add(device_facts const& d, unsigned index) {
  auto const fact = [prefix = "device." + std::to_string(index) + "."](char const* key,
                                                                       std::string const& value) {
    session_log::get().fact(prefix + key, value);
  };
  fact("name", d.name);
  fact("uuid", d.uuid);
  fact("chip", chip_of(index));
  fact("pci_bus", d.pci_bus);
  fact("compute_major", std::to_string(d.compute_major));
  fact("compute_minor", std::to_string(d.compute_minor));
  fact("sm_count", std::to_string(d.sm_count));
  fact("max_sm_clock_khz", std::to_string(d.max_sm_clock_khz));
  fact("max_memory_clock_khz", std::to_string(d.max_memory_clock_khz));
  fact("memory_bus_bits", std::to_string(d.memory_bus_bits));
  fact("memory_bytes", std::to_string(d.memory_bytes));
  fact("l2_bytes", std::to_string(d.l2_bytes));
}

}  // namespace

void start_machine_facts() {
  std::promise<driver_facts> promise;
  pending = new std::future<driver_facts>(promise.get_future());
  std::thread([p = std::move(promise)]() mutable { p.set_value(read_when_ready()); }).detach();
}

void finish_machine_facts() {
  auto& log = session_log::get();
  log.fact("program", command());
  auto const host = environment("GPUPROF_RECORD_HOST");
  log.fact("host", host.empty() ? host_name() : host);
  char date[32] = {};
  auto const now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::strftime(date, sizeof date, "%Y-%m-%d", &utc);
  log.fact("recorded", date);
  if (pending == nullptr ||
      pending->wait_for(std::chrono::seconds(2)) != std::future_status::ready) {
    return;
  }
  auto const facts = pending->get();
  log.fact("cuda_version", std::to_string(facts.cuda_version));
  log.fact("driver_version", facts.version);
  log.fact("device_count", std::to_string(facts.devices.size()));
  for (unsigned i = 0; i < facts.devices.size(); ++i) add(facts.devices[i], i);
}

}  // namespace gpuprof::replay
