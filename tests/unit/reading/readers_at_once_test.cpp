// SPDX-License-Identifier: Apache-2.0
// Reports read captures on two threads, each with a reader of its own. The thread sanitizer
// watches.
#include "host/reading/exported_names.hpp"
#include "host/reading/time_merge.hpp"
#include "host/reading/trace_contents.hpp"
#include "support/catch.hpp"
#include "support/test_data.hpp"

#include <future>
#include <string>

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

struct seen_in_capture {
  std::uint64_t kernels = 0, samples = 0, letters = 0;
  friend bool operator==(seen_in_capture const&, seen_in_capture const&) = default;
};

seen_in_capture read_all(std::string const& name) {
  auto opened = capture::reader::open(test::test_data("h200/" + name));
  if (!opened) return {};
  trace_contents trace(std::move(*opened));
  exported_names names(trace);
  seen_in_capture seen;
  for (auto const& shape : trace.shapes()) seen.letters += names.text(shape.name).size();
  seen.letters += trace.missing().size() + trace.ranges().size();
  for_each_in_time<kernel_record, sample_record>(trace.file(), [&](auto const& row) {
    if constexpr (requires { row.metric; })
      ++seen.samples;
    else
      ++seen.kernels;
  });
  return seen;
}

}  // namespace

TEST_CASE("two threads can read captures at once, the same one and different ones") {
  auto const alone = read_all("mixed_sampled.gpuprof"),
             other_alone = read_all("counted_auto.gpuprof");
  CHECK(alone.kernels > 0);
  CHECK(alone.samples > 0);
  for (int i = 0; i < 10; ++i) {
    auto same = std::async(std::launch::async, [] { return read_all("mixed_sampled.gpuprof"); });
    auto other = std::async(std::launch::async, [] { return read_all("counted_auto.gpuprof"); });
    CHECK(read_all("mixed_sampled.gpuprof") == alone);
    CHECK(same.get() == alone);
    CHECK(other.get() == other_alone);
  }
}
