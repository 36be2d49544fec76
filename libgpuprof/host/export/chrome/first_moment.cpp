// SPDX-License-Identifier: Apache-2.0
#include "host/export/chrome/first_moment.hpp"

#include <algorithm>

namespace gpuprof::chrome {
namespace {

constexpr std::uint64_t earliest_before_ns = 86'400'000'000'000;

template <class Row>
void look_for_earlier(capture::reader& file, timestamp_ns Row::*time, timestamp_ns not_before,
                      timestamp_ns& base) {
  file.for_each<Row>(
      [&](std::span<Row const> rows) {
        for (auto const& row : rows)
          if (row.*time >= not_before) base = std::min(base, row.*time);
      },
      capture::only(time));
}

}  // namespace

timestamp_ns first_moment(trace_contents& trace) {
  auto base = trace.origin();
  timestamp_ns const not_before{base.value > earliest_before_ns ? base.value - earliest_before_ns
                                                                : 1};
  if (base.value == 0) base = {~std::uint64_t{0}};
  auto& file = trace.file();
  look_for_earlier(file, &kernel_record::launched, not_before, base);
  look_for_earlier(file, &kernel_record::start, not_before, base);
  look_for_earlier(file, &graph_record::launched, not_before, base);
  look_for_earlier(file, &copy_record::launched, not_before, base);
  look_for_earlier(file, &copy_record::start, not_before, base);
  look_for_earlier(file, &memset_record::launched, not_before, base);
  look_for_earlier(file, &memset_record::start, not_before, base);
  look_for_earlier(file, &api_record::start, not_before, base);
  look_for_earlier(file, &range_begin::time, not_before, base);
  look_for_earlier(file, &mark_record::time, not_before, base);
  look_for_earlier(file, &metric_sample_record::start, not_before, base);
  return base.value == ~std::uint64_t{0} ? timestamp_ns{} : base;
}

}  // namespace gpuprof::chrome
