// SPDX-License-Identifier: Apache-2.0
// Peaks as a table with every field, one row per GPU and test. Used for CSV.
#include "host/report/peaks_table.hpp"

namespace gpuprof::host::report {
namespace {

std::string_view word_for(peak_outcome outcome) noexcept {
  switch (outcome) {
    case peak_outcome::measured:
      return "measured";
    case peak_outcome::failed:
      return "failed";
    case peak_outcome::unavailable:
      break;
  }
  return "unavailable";
}

std::string_view word_for(peak_effort effort) noexcept {
  switch (effort) {
    case peak_effort::quick:
      return "quick";
    case peak_effort::sustained:
      return "sustained";
    case peak_effort::standard:
      break;
  }
  return "standard";
}

/// Calls `take` with the name and value of each field in order: once for the header, then for each
/// row.
template <class Take>
void each_field(gpu_peaks const& gpu, peak_result const& result, Take const& take) {
  auto const text = [&](char const* name, std::string_view value) {
    take(name, text::column_kind::text, text::cell(value));
  };
  auto const whole = [&](char const* name, std::uint64_t value) {
    take(name, text::column_kind::integer, text::cell(static_cast<std::int64_t>(value)));
  };
  auto const number = [&](std::string const& name, double value) {  // 0: not known
    take(name, text::column_kind::number, value == 0 ? text::cell() : text::cell(value));
  };
  auto const figure = [&](std::string const& name, peak_figure const& f) {
    auto const there = f.is_there();
    auto const add = [&](char const* part, double value) {
      take(name + part, text::column_kind::number, there ? text::cell(value) : text::cell());
    };
    add("", f.value);
    add("_spread", f.spread);
    take(name + "_samples", text::column_kind::integer, text::cell(std::int64_t{f.samples}));
    number(name + "_sm_clock_mhz", there ? f.chip.sm_clock_mhz : 0);
    number(name + "_memory_clock_mhz", there ? f.chip.memory_clock_mhz : 0);
    number(name + "_watts", there ? f.chip.watts : 0);
    number(name + "_temperature_c", there ? f.chip.temperature_c : 0);
    take(name + "_limiters", text::column_kind::integer,
         there ? text::cell(static_cast<std::int64_t>(f.chip.limiters)) : text::cell());
  };

  text("name", gpu.name);
  text("uuid", gpu.key.uuid);
  text("pci_bus", gpu.pci_bus);
  whole("compute_major", static_cast<std::uint64_t>(gpu.compute_major));
  whole("compute_minor", static_cast<std::uint64_t>(gpu.compute_minor));
  text("driver_version", gpu.key.driver_version);
  text("kernels", gpu.key.kernels);
  whole("power_limit_w", gpu.key.power_limit_w);
  whole("max_sm_clock_mhz", gpu.key.max_sm_clock_mhz);
  whole("max_memory_clock_mhz", gpu.key.max_memory_clock_mhz);
  whole("application_sm_clock_mhz", gpu.key.application_sm_clock_mhz);
  whole("ecc", gpu.key.ecc ? 1 : 0);
  whole("sm_count", gpu.key.sm_count);
  whole("memory_bytes", gpu.key.memory_bytes);
  text("measured_at", result.measured_at.empty() ? gpu.measured_at : result.measured_at);
  text("test", result.test);
  text("group", result.group);
  text("title", result.title);
  text("unit", result.unit);
  text("outcome", word_for(result.outcome));
  text("effort", word_for(result.effort));
  text("remark", result.remark);
  text("method", result.method);
  text("operands", result.operands);
  whole("buffer_bytes", result.buffer_bytes);
  text("clock", result.clock);
  figure("per_clock", result.per_clock);
  number("per_clock_theory", result.per_clock_theory);
  figure("burst", result.burst);
  figure("sustained", result.sustained);
  number("theory", result.theory);
  text("theory_formula", result.theory_formula);
}

}  // namespace

text::table peaks_table(std::span<gpu_peaks const> gpus) {
  text::table made{"peaks", "Measured peaks", {}, {}};
  each_field({}, {}, [&](std::string name, text::column_kind kind, text::cell const&) {
    made.columns.push_back({std::move(name), kind});
  });
  made.each_row = [gpus](std::function<void(text::row const&)> const& take) {
    text::row cells;
    for (auto const& gpu : gpus)
      for (auto const& result : gpu.results) {
        cells.clear();
        each_field(gpu, result,
                   [&](std::string const&, text::column_kind, text::cell const& value) {
                     cells.push_back(value);
                   });
        take(cells);
      }
  };
  return made;
}

}  // namespace gpuprof::host::report
