// SPDX-License-Identifier: Apache-2.0
// Writes rows of the tables that nsys does not have: counters of the GPU, peaks, facts, losses, and
// the lines of `gpuprof roofline`.
#include "base/utf8.hpp"
#include "host/export/sqlite/sqlite_output.hpp"
#include "host/reading/ordered_rows.hpp"

namespace gpuprof::host {
namespace {

template <class Row, class Take>
void each(sqlite_output& to, Take take) {
  to.job.trace.file().for_each<Row>([&](std::span<Row const> rows) {
    for (auto const& row : rows) take(row);
  });
}

/// Returns the rows by key; a later row replaces an earlier one with the same key.
template <class Row, class Key>
auto last_of_each(sqlite_output& to, Key Row::*key) {
  std::map<Key, Row> last;
  each<Row>(to, [&](Row const& row) { last[row.*key] = row; });
  return last;
}

std::string_view text(sqlite_output& to, name_id name) {
  return to.job.names.text(name);
}

void write_metrics(sqlite_output& to) {
  insertion rows(to.file, tables::metrics);
  for (auto const& [id, metric] : last_of_each(to, &metric_record::metric))
    rows.row(raw(id), text(to, metric.name), raw(metric.device),
             metric.sampled ? std::nullopt : std::optional(metric.group), metric.patches_kernel,
             metric.sampled);
}

void write_readings(sqlite_output& to) {
  insertion readings(to.file, tables::readings), values(to.file, tables::reading_values);
  each<read_launch_record>(to, [&](auto const& reading) {
    readings.row(raw(reading.correlation), raw(reading.device), raw(reading.context), reading.group,
                 to.terms.time(reading.opened), to.terms.time(reading.closed),
                 unless_zero(reading.reading), reading.whole_graph);
  });
  each<reading_value_record>(to, [&](auto const& value) {
    values.row(raw(value.correlation), raw(value.metric), value.value);
  });
}

void write_samples(sqlite_output& to) {
  insertion windows(to.file, tables::sampling_windows), rows(to.file, tables::samples);
  each<sampling_window_record>(to, [&](auto const& window) {
    windows.row(to.terms.time(window.start), to.terms.time(window.end), raw(window.device),
                window.interval.value, window.samples, window.overflows);
  });
  row_progress progress(to.job);
  ordered_rows<sample_record> samples(to.job.trace.file());
  while (auto const* const sample = samples.next()) {
    rows.row(to.terms.time(sample->start), to.terms.time(sample->start + sample->duration),
             raw(sample->metric), sample->value);
    progress.one();
  }
  progress.end();
}

/// 0 means "not measured".
std::optional<double> figure(double value) {
  return value == 0 ? std::nullopt : std::optional(value);
}

void write_peaks(sqlite_output& to) {
  insertion rows(to.file, tables::peaks);
  each<peak_record>(to, [&](auto const& peak) {
    rows.row(raw(peak.device), text(to, peak.test), text(to, peak.group), text(to, peak.title),
             text(to, peak.unit), figure(peak.burst), figure(peak.burst_spread),
             figure(peak.burst_sm_clock_mhz), figure(peak.sustained),
             figure(peak.sustained_sm_clock_mhz), figure(peak.sustained_watts), figure(peak.theory),
             figure(peak.per_clock), figure(peak.per_clock_theory), text(to, peak.clock),
             peak.limiters, text(to, peak.method), text(to, peak.operands),
             text(to, peak.measured_at), text(to, peak.remark));
  });
}

void write_kernel_code(sqlite_output& to) {
  insertion rows(to.file, tables::kernel_code);
  // Names that differ only in bytes that are not UTF-8 become the same text.
  std::map<std::int64_t, kernel_code_record> by_text;
  for (auto const& [name, code] : last_of_each(to, &kernel_code_record::name))
    by_text[to.strings.of(name)] = code;
  for (auto const& [name, code] : by_text)
    rows.row(name, code.sm, code.instructions, code.is_complete, code.fma_instructions,
             code.fp32_operations, code.fp16_operations);
}

std::optional<std::uint32_t> if_signature(exported_line const& line, std::uint32_t extent) {
  return line.kind == "signature" ? std::optional(extent) : std::nullopt;
}

std::optional<std::string_view> bound_of(roofline_row const& row) {
  auto const name = name_of(row.bound);
  return name.empty() ? std::nullopt : std::optional(name);
}

void write_flops(insertion& rows, std::int64_t id, roofline_row const& row) {
  for (std::size_t p = 0; p < precision_count; ++p)
    if (row.flops[p])
      rows.row(id, key_of(static_cast<precision>(p)), *row.flops[p], row.flops_error[p],
               row.shares[compute_roofs + p]);
}

}  // namespace

void write_counters_of_gpu(sqlite_output& to) {
  write_metrics(to);
  write_readings(to);
  write_samples(to);
  write_peaks(to);
  write_kernel_code(to);
}

void write_facts(sqlite_output& to) {
  insertion facts(to.file, tables::facts), counters(to.file, tables::counters);
  each<fact_record>(to,
                    [&](auto const& fact) { facts.row(text(to, fact.key), text(to, fact.value)); });
  for (auto const& [name, counter] : last_of_each(to, &counter_record::name))
    counters.row(text(to, name), counter.value);
  insertion windows(to.file, tables::windows), clocks(to.file, tables::clocks);
  for (auto const& window : to.job.trace.windows())
    windows.row(window.index, to.terms.time(window.start), to.terms.time_if_known(window.end),
                text(to, window.trigger));
  each<clock_record>(
      to, [&](auto const& clock) { clocks.row(to.terms.time(clock.realtime), clock.monotonic); });
}

void write_losses(sqlite_output& to) {
  insertion rows(to.file, tables::losses);
  for (auto const& missing : to.job.trace.missing()) {
    auto const line = valid_utf8(missing);
    rows.row(std::string_view(line));
  }
}

void write_roofline(sqlite_output& to) {
  if (!to.job.roofline) return;
  insertion lines(to.file, tables::roofline), flops(to.file, tables::roofline_flops);
  std::int64_t id = 0;
  for (auto const& line : to.job.roofline()) {
    auto const& row = line.row;
    auto const name = valid_utf8(row.name);
    auto const extent = [&](std::uint32_t value) { return if_signature(line, value); };
    lines.row(++id, line.kind, std::string_view(name), extent(row.grid.x), extent(row.grid.y),
              extent(row.grid.z), extent(row.block.x), extent(row.block.y), extent(row.block.z),
              row.arguments, row.launches, row.total_ns, row.mean_ns, row.total_flops,
              row.total_flops_error, name_of(row.source), row.known_share, row.dram_rate,
              row.dram_error, row.l2_rate, row.l2_error, row.intensity, row.clock, row.occupancy,
              row.tensor_active, bound_of(row), row.of_roof, row.below_roof);
    write_flops(flops, id, row);
    to.job.advance(0);
  }
}

}  // namespace gpuprof::host
