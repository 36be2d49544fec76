// SPDX-License-Identifier: Apache-2.0
#include "roofline_facts.hpp"

#include "roofline_notes.hpp"
#include "roofline_summary.hpp"
#include "text/overview.hpp"

namespace gpuprof {

report::roofline_facts facts_of(trace_contents& trace, roofline_reading const& read,
                                roofline const& roofs, std::optional<std::uint32_t> device,
                                moments const& peaks) {
  report::roofline_facts facts;
  facts.notes = roofline_notes(trace, read, roofs);
  facts.gpu_ns = roofs.gpu_ns();
  facts.exact_share = roofs.exact_share();
  facts.known_share = roofs.known_share();
  facts.readings = trace.counters_of("counters");
  facts.samples = read.exact().samples();
  facts.discarded = read.exact().discarded();
  facts.sampling = read.sampling();
  if (auto const price = read.price()) facts.sampling_slowdown = price->ratio;
  for (auto const& [id, of] : read.devices()) {
    bool const is_wanted = !device || raw(id) == *device;
    if (!is_wanted || of.roofs.empty() || facts.roofs != nullptr) continue;
    facts.roofs = &of.roofs;
    facts.device = trace.device_names()[raw(id)];
  }
  auto const about = trace.overview();
  facts.overview = overview_lines(about);
  facts.summary = roofline_summary(trace, about, read, roofs, peaks);
  return facts;
}

}  // namespace gpuprof
