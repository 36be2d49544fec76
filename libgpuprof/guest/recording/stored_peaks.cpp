// SPDX-License-Identifier: Apache-2.0
#include "guest/recording/stored_peaks.hpp"

#include "base/log.hpp"
#include "guest/nvtx/name_registry.hpp"
#include "guest/peaks/kernels/kernel_images.hpp"
#include "guest/peaks/store/gpu_key.hpp"
#include "guest/peaks/store/store.hpp"

#include <filesystem>
#include <string>
#include <system_error>

namespace gpuprof {
namespace {

peak_record row_of(peak_result const& r, int device, std::string const& measured_at) {
  peak_record row;
  row.device = static_cast<device_id>(device);
  row.test = names().intern(r.test);
  row.group = names().intern(r.group);
  row.title = names().intern(r.title);
  row.unit = names().intern(r.unit);
  row.clock = names().intern(r.clock);
  row.per_clock = r.per_clock.value;
  row.per_clock_theory = r.per_clock_theory;
  row.burst = r.burst.value;
  row.burst_spread = r.burst.spread;
  row.burst_sm_clock_mhz = r.burst.chip.sm_clock_mhz;
  row.sustained = r.sustained.value;
  row.sustained_sm_clock_mhz = r.sustained.chip.sm_clock_mhz;
  row.sustained_watts = r.sustained.chip.watts;
  row.theory = r.theory;
  row.limiters = r.burst.chip.limiters | r.sustained.chip.limiters;
  row.method = names().intern(r.method);
  row.operands = names().intern(r.operands);
  row.measured_at = names().intern(r.measured_at.empty() ? measured_at : r.measured_at);
  row.remark = names().intern(r.remark);
  return row;
}

void add_rows(gpu_peaks const& of, int device, std::vector<peak_record>& rows) {
  for (auto const& r : of.results)
    if (r.outcome == peak_outcome::measured) rows.push_back(row_of(r, device, of.measured_at));
}

void say_missing(char const* why) noexcept {
  try {
    log_info(std::string("the capture has no peaks: ") + why);
  } catch (...) {
  }
}

peaks_key key_of(driver_facts const& driver, device_facts const& d, nvml const* library) {
  auto const device = library != nullptr ? library->device(d.uuid) : std::nullopt;
  return peaks::make_key(driver, d, device ? device->facts() : nvml_facts{}, peaks::kernels_hash());
}

}  // namespace

std::vector<peak_record> stored_peaks(driver_facts const& driver, nvml const* library) noexcept {
  try {
    std::vector<peak_record> rows;
    auto const folder = peaks::store_folder();
    std::error_code ignored;
    if (folder.empty() || !std::filesystem::exists(folder, ignored)) return rows;
    for (auto const& d : driver.devices) {
      auto const stored = peaks::load_peaks(folder, key_of(driver, d, library));
      if (!stored) {
        say_missing(stored.message().c_str());
      } else if (*stored) {
        add_rows(**stored, d.ordinal, rows);
      }
    }
    return rows;
  } catch (std::exception const& e) {
    say_missing(e.what());
  } catch (...) {
  }
  return {};
}

}  // namespace gpuprof
