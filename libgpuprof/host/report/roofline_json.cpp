// SPDX-License-Identifier: Apache-2.0
// The roofline as one JSON object.
#include "base/utf8.hpp"
#include "host/report/json_object.hpp"

namespace gpuprof::host::report {
namespace {

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

/// Writes measured bursts and theory per second, for the roofs to which lines are compared.
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
  o.member("readings", [&](std::string& to) { append_json_counts(to, facts.readings); });
  o.member("cost", [&](std::string& to) { append_json_counts(to, facts.costs); });
  o.member("samples_left_out", [&](std::string& to) {
    json_object left_out(to);
    left_out.whole("other_kernels_beside", facts.discarded.beside_kernels);
    left_out.whole("copies_beside", facts.discarded.beside_copies);
    left_out.whole("kernel_not_recorded", facts.discarded.without_kernel);
    left_out.whole("launches_differ", facts.discarded.mixed);
    left_out.end();
  });
  o.member("samples_in_time", [&](std::string& to) { append_sampling(to, facts); });
  o.flag("has_peaks", facts.roofs != nullptr);
  if (facts.roofs != nullptr)
    o.member("roofs", [&](std::string& to) { append_roofs(to, *facts.roofs); });
  o.member(plural_of(of), [&](std::string& to) {
    auto const fields = roofline_fields(of);
    to += '[';
    for (std::size_t i = 0; i < lines.size(); ++i) {
      to += i == 0 ? "\n  " : ",\n  ";
      append_object(to, fields, lines[i]);
      out(to);  // pass the text on in pieces: `to` is `text`
      to.clear();
    }
    to += lines.empty() ? "]" : "\n]";
  });
  o.end();
  out(text + "\n");
}

}  // namespace gpuprof::host::report
