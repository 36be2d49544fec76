// SPDX-License-Identifier: Apache-2.0
// The roofline as one JSON object.
#include "base/utf8.hpp"
#include "host/report/json_object.hpp"
#include "host/report/roofline_report.hpp"

namespace gpuprof::host::report {
namespace {

void append_extent(std::string& out, extent3 const& e) {
  out += '[' + std::to_string(e.x) + ", " + std::to_string(e.y) + ", " + std::to_string(e.z) + ']';
}

/// Where the figures of the units are from: exact, sampled, fitted, mixed; empty where there are
/// none.
void append_sources(json_object& o, roofline_row const& line) {
  o.number("dram_bytes_per_second_error", line.dram_error);
  o.number("l2_bytes_per_second_error", line.l2_error);
  o.member("sources", [&](std::string& to) {
    json_object of_units(to);
    of_units.text("dram", name_of(line.from.dram));
    of_units.text("l2", name_of(line.from.l2));
    of_units.text("sm_clock", name_of(line.from.clock));
    of_units.text("occupancy", name_of(line.from.occupancy));
    of_units.text("tensor", name_of(line.from.tensor));
    of_units.end();
  });
  o.member("shared", [&](std::string& to) { to += line.from.is_shared ? "true" : "false"; });
}

/// Of the line's time; below half the figure is null.
void append_known_shares(json_object& o, known_shares const& known) {
  o.member("known_shares", [&](std::string& to) {
    json_object of_units(to);
    of_units.number("dram", known.dram);
    of_units.number("l2", known.l2);
    of_units.number("sm_clock", known.clock);
    of_units.number("occupancy", known.occupancy);
    of_units.number("tensor", known.tensor);
    of_units.end();
  });
}

void append_errors(json_object& o, roofline_row const& line) {
  o.number("flops_error", line.total_flops_error);
  o.member("flops_are_upper_limit",
           [&](std::string& to) { to += line.flops_are_limit ? "true" : "false"; });
  o.number("flops_low", line.flops_low());
  o.number("flops_high", line.flops_high());
  o.member("flops_by_precision_error", [&](std::string& to) {
    json_object of_precision(to);
    for (std::size_t p = 0; p < precision_count; ++p)
      if (line.flops_error[p])
        of_precision.number(key_of(static_cast<precision>(p)), line.flops_error[p]);
    of_precision.end();
  });
  o.number("sm_clock_hz_error", line.clock_error);
  o.number("occupancy_error", line.occupancy_error);
  o.number("tensor_active_error", line.tensor_active_error);
}

void append_sampling(std::string& to, roofline_facts const& facts) {
  json_object sampling(to);
  sampling.whole("windows", facts.sampling.windows);
  sampling.whole("intervals", facts.sampling.intervals);
  sampling.whole("overflows", facts.sampling.overflows);
  sampling.whole("workloads_not_told_apart", facts.sampling.not_told_apart);
  sampling.whole("workloads_with_too_few", facts.sampling.too_few);
  sampling.number("slowdown", facts.sampling_slowdown);
  sampling.whole("intervals_not_recorded", facts.sampling.not_recorded);
  sampling.whole("workloads_beyond_limit", facts.sampling.too_many);
  sampling.end();
}

void append_launches(json_object& o, roofline_row const& line, roofline_lines of) {
  o.text("name", line.name);
  if (of == roofline_lines::signatures) {
    o.member("grid", [&](std::string& to) { append_extent(to, line.grid); });
    o.member("block", [&](std::string& to) { append_extent(to, line.block); });
    o.text("arguments", arguments_text(line));
  }
  if (of == roofline_lines::ranges) o.whole("ranges", line.instances);
  o.whole("launches", line.launches);
  o.whole("samples", line.samples);
  o.number("time_ns", line.total_ns);
  o.number("time_share", line.time_share);
  o.number("avg_ns", line.mean_ns);
}

void append_flop(json_object& o, roofline_row const& line) {
  o.number("flops", line.total_flops);
  o.text("flop_source", name_of(line.source));
  o.number("flop_exact_share", line.exact_share);
  o.number("flop_known_share", line.known_share);
  o.member("read_by_ranks", [&](std::string& to) {
    to += '[';
    for (auto const rank : line.read_by_ranks)
      to += (to.back() == '[' ? "" : ", ") + std::to_string(rank);
    to += ']';
  });
  o.member("flops_by_precision", [&](std::string& to) {
    json_object of_precision(to);  // those that were counted
    for (std::size_t p = 0; p < precision_count; ++p)
      if (line.flops[p]) of_precision.number(key_of(static_cast<precision>(p)), line.flops[p]);
    of_precision.end();
  });
}

void append_units(json_object& o, roofline_row const& line) {
  o.number("dram_bytes_per_second", line.dram_rate);
  o.number("l2_bytes_per_second", line.l2_rate);
  o.number("flop_per_dram_byte", line.intensity);
  o.number("flop_per_l2_byte", line.l2_intensity);
  o.number("sm_clock_hz", line.clock);
  o.number("clock_loss", line.clock_loss);
  o.number("occupancy", line.occupancy);
  o.number("tensor_active", line.tensor_active);
}

void append_verdict(json_object& o, roofline_row const& line) {
  o.member("bound_by", [&](std::string& to) {
    if (line.bound == bound_by{})
      to += "null";
    else
      append_json_text(to, name_of(line.bound));
  });
  o.number("of_roof", line.of_roof);
  o.number("to_roof_ns", line.to_roof_ns);
  o.number("potential_gain", line.potential_gain);
  o.member("roof_shares", [&](std::string& to) {
    json_object shares(to);
    for (std::size_t i = 0; i < roof_count; ++i)
      if (line.shares[i]) shares.number(name_of(roof_of(i)), line.shares[i]);
    shares.end();
  });
}

void append_line(std::string& out, roofline_row const& line, roofline_lines of) {
  json_object o(out);
  append_launches(o, line, of);
  append_flop(o, line);
  append_units(o, line);
  append_verdict(o, line);
  if (of == roofline_lines::graphs)
    o.member("nodes_exceed", [&](std::string& to) {
      json_object nodes(to);
      nodes.number("dram_bytes", line.nodes.dram);
      nodes.number("l2_bytes", line.nodes.l2);
      nodes.number("tensor_cycles", line.nodes.tensor_cycles);
      nodes.end();
    });
  append_sources(o, line);
  append_known_shares(o, line.known);
  append_errors(o, line);
  o.end();
}

/// Measured bursts and theory, per second, of what lines are compared with.
void append_roofs(std::string& out, measured_roofs const& roofs) {
  std::vector<std::string_view> tests = {"dram_read", "dram_triad", "dram_copy", "dram_write",
                                         "l2_read"};
  for (std::size_t p = 0; p < precision_count; ++p)
    tests.push_back(key_of(static_cast<precision>(p)));
  json_object of_tests(out);
  for (auto const test : tests) {
    if (!roofs.burst(test)) continue;
    of_tests.member(test, [&](std::string& to) {
      json_object roof(to);
      roof.number("burst", roofs.burst(test));
      roof.number("theory", roofs.theory(test));
      roof.end();
    });
  }
  of_tests.end();
}

std::string_view lines_key(roofline_lines of) {
  switch (of) {
    case roofline_lines::kernels:
      return "kernels";
    case roofline_lines::signatures:
      return "signatures";
    case roofline_lines::graphs:
      return "graphs";
    case roofline_lines::ranges:
      break;
  }
  return "ranges";
}

}  // namespace

void write_roofline_json(std::span<roofline_row const> lines, roofline_lines of,
                         roofline_facts const& facts, text::text_sink const& out) {
  std::string text;
  json_object o(text);
  o.member("summary", [&](std::string& to) { append_json_texts(to, facts.summary); });
  o.member("overview", [&](std::string& to) { append_json_texts(to, facts.overview); });
  o.member("notes", [&](std::string& to) { append_json_texts(to, facts.notes); });
  o.number("kernel_time_ns", facts.gpu_ns);
  o.number("flop_exact_share", facts.exact_share);
  o.number("flop_known_share", facts.known_share);
  o.whole("samples", facts.samples);
  o.member("readings", [&](std::string& to) {
    json_object readings(to);
    for (auto const& [what, count] : facts.readings) readings.whole(what, count);
    readings.end();
  });
  o.member("samples_left_out", [&](std::string& to) {
    json_object left_out(to);
    left_out.whole("other_kernels_beside", facts.discarded.beside_kernels);
    left_out.whole("copies_beside", facts.discarded.beside_copies);
    left_out.whole("kernel_not_recorded", facts.discarded.without_kernel);
    left_out.whole("launches_differ", facts.discarded.mixed);
    left_out.end();
  });
  o.member("samples_in_time", [&](std::string& to) { append_sampling(to, facts); });
  o.member("has_peaks", [&](std::string& to) { to += facts.roofs != nullptr ? "true" : "false"; });
  if (facts.roofs != nullptr)
    o.member("roofs", [&](std::string& to) { append_roofs(to, *facts.roofs); });
  o.member(lines_key(of), [&](std::string& to) {
    to += '[';
    for (std::size_t i = 0; i < lines.size(); ++i) {
      to += i == 0 ? "\n  " : ",\n  ";
      append_line(to, lines[i], of);
      out(to);  // piece by piece: `to` is `text`
      to.clear();
    }
    to += lines.empty() ? "]" : "\n]";
  });
  o.end();
  out(text + "\n");
}

}  // namespace gpuprof::host::report
