// SPDX-License-Identifier: Apache-2.0
// The CPU time of sampling, and the interval between samples.
#include "guest/counters/windows/sampling_effort.hpp"

#include "support/catch.hpp"
#include "support/moments.hpp"

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

TEST_CASE("sampling uses one and a half seconds of CPU at first, and then 5 % of a core") {
  sampling_effort effort(1);
  CHECK(effort.allows(0, 1500 * ms, 1));
  CHECK_FALSE(effort.allows(0, 1501 * ms, 1));
  effort.spend(1500 * ms);
  CHECK_FALSE(effort.allows(30 * second, 1 * ms, 1));
  CHECK(effort.allows(31 * second, 50 * ms, 1));
  CHECK_FALSE(effort.allows(31 * second, 51 * ms, 1));
  effort.spend(1500 * ms);
  CHECK_FALSE(effort.allows(59 * second, 1, 1));
  CHECK(effort.allows(61 * second, 1, 1));
}

TEST_CASE("a greater budget allows more CPU time, and each GPU has its own") {
  CHECK(sampling_effort(4).allows(10 * second, 2000 * ms, 1));
  CHECK_FALSE(sampling_effort(3).allows(10 * second, 2000 * ms, 1));
  CHECK(sampling_effort(0).allows(0, 1000 * second, 1));
  sampling_effort effort(1);
  effort.spend(2800 * ms);
  CHECK_FALSE(effort.allows(0, 1, 1));
  CHECK(effort.allows(0, 100 * ms, 2));
  CHECK_FALSE(effort.allows(0, 101 * ms, 2));
}

TEST_CASE("a sample costs what decoding was seen to take") {
  sampling_effort effort(1);
  CHECK(effort.price_ns(400) == 40 * ms);
  effort.note_decoded(100, 100 * ms);  // too few to tell
  CHECK(effort.price_ns(400) == 40 * ms);
  effort.note_decoded(1000, 30 * ms);
  CHECK(effort.price_ns(400) == 12 * ms);
}

TEST_CASE("less is used when every kernel has run often in many samples") {
  sampling_effort effort(1);
  effort.spend(1500 * ms);
  effort.note_decoded(sampling_effort::good_after_samples, 1000 * ms);
  CHECK(effort.allows(40 * second, 100 * ms, 1));
  CHECK_FALSE(effort.allows(40 * second, 100 * ms, 1, true));
  CHECK(effort.allows(130 * second, 100 * ms, 1, true));
  sampling_effort few(1);
  few.spend(1500 * ms);
  few.note_decoded(sampling_effort::good_after_samples - 1, 1000 * ms);
  CHECK(few.allows(40 * second, 100 * ms, 1, true));
}

TEST_CASE("kernels of which the shortest 5 % are long are sampled at longer intervals") {
  known_lengths kernels;
  CHECK(interval_for(kernels, 20'000) == 20'000);  // nothing has run
  for (int i = 0; i < 100; ++i) kernels.add(1'100'000, 1'100'000);
  CHECK(kernels.reached_in_all_but(0.05) == 1 << 20);
  CHECK(interval_for(kernels, 20'000) == (1 << 20) / 20);
  for (int i = 0; i < 400; ++i) kernels.add(10'000, 10'000);  // 3.5 % of the time
  CHECK(interval_for(kernels, 20'000) == (1 << 20) / 20);
  for (int i = 0; i < 400; ++i) kernels.add(10'000, 10'000);  // 6.8 %
  CHECK(interval_for(kernels, 20'000) == 20'000);
  known_lengths longer;
  longer.add(10'000'000'000, 10'000'000'000);
  CHECK(interval_for(longer, 20'000) == 200'000);
}

TEST_CASE("a kernel without a length, or of years, is no error") {
  known_lengths kernels;
  kernels.add(0, 0);
  CHECK(kernels.reached_in_all_but(0.05) == 0);
  kernels.add(~std::uint64_t{0} >> 1, ~std::uint64_t{0} >> 1);
  CHECK(kernels.reached_in_all_but(0.05) == std::uint64_t{1} << 38);
}

TEST_CASE("nodes are recorded before a window for as long as whole graphs may still run") {
  known_lengths unknown;
  CHECK(lead_of_window(unknown) == 0);
  known_lengths steps;  // a loop that waits for each graph
  for (int i = 0; i < 99; ++i) steps.add(1 * ms, 1);
  steps.add(10 * second, 1);  // it started
  CHECK(lead_of_window(steps) > 1 * ms);
  CHECK(lead_of_window(steps) < 2 * ms);
  known_lengths queued;  // graphs that were launched far ahead
  for (int i = 0; i < 100; ++i) queued.add(60 * ms, 1);
  CHECK(lead_of_window(queued) > 60 * ms);
  for (int i = 0; i < 10; ++i) queued.add(10 * second, 1);
  CHECK(lead_of_window(queued) == 500 * ms);
}
