// SPDX-License-Identifier: Apache-2.0
#include "host/page/kernel_details.hpp"
#include "support/catch.hpp"

#include <numeric>

using gpuprof::host::page::kernel_samples;
using gpuprof::host::page::sample_course;

namespace {

std::uint64_t samples_in(kernel_samples const& made, std::uint32_t kernel) {
  std::uint64_t sum = 0;
  for (auto const& course : made.of(kernel))
    sum += std::accumulate(course.samples.begin(), course.samples.end(), std::uint64_t{0});
  return sum;
}

}  // namespace

TEST_CASE("samples of a launch are placed by its progress, amounts as rates") {
  kernel_samples made;
  made.work(0, 1'000, 21'000, 3);
  for (std::uint64_t at = 1'000; at < 21'000; at += 1'000)
    made.sample(0, at, 1'000, "dram__bytes_read.sum", static_cast<double>(at));
  made.finish();
  auto const courses = made.of(3);
  REQUIRE(courses.size() == 1);
  CHECK(courses[0].metric == "dram__bytes_read.sum");
  for (std::size_t at = 0; at < sample_course::positions; ++at) {
    CHECK(courses[0].samples[at] == 1);
    CHECK(courses[0].sum[at] == Approx(1'000.0 * static_cast<double>(at + 1) * 1e6));
  }
}

TEST_CASE("a sample not entirely inside a launch is not used") {
  kernel_samples made;
  made.sample(0, 0, 1'000, "a.avg", 1);
  made.work(0, 1'500, 10'000, 3);
  made.sample(0, 1'000, 1'000, "a.avg", 1);  // late in the file: in order of starts or not
  made.sample(0, 9'500, 1'000, "a.avg", 1);
  made.sample(0, 12'000, 1'000, "a.avg", 1);
  made.finish();
  CHECK(samples_in(made, 3) == 0);
}

TEST_CASE("a sample with other work in it is not used, even if that began earlier") {
  kernel_samples made;
  made.work(0, 0, 10'000, 3);
  made.sample(0, 1'000, 1'000, "a.avg", 1);
  made.work(0, 1'500, 1'600, kernel_samples::not_watched);  // a copy
  made.sample(0, 2'000, 1'000, "a.avg", 1);
  made.work(0, 5'000, 20'000, 4);
  made.sample(0, 6'000, 1'000, "a.avg", 1);   // beside the other
  made.sample(0, 12'000, 1'000, "a.avg", 1);  // the other alone
  made.finish();
  CHECK(samples_in(made, 3) == 1);
  CHECK(samples_in(made, 4) == 1);
}

TEST_CASE("work of another GPU does not affect samples") {
  kernel_samples made;
  made.work(0, 0, 10'000, 3);
  made.work(1, 0, 10'000, 4);
  made.sample(0, 1'000, 1'000, "a.avg", 1);
  made.sample(0, 1'000, 1'000, "b.avg", 2);
  made.finish();
  CHECK(made.of(3).size() == 2);
  CHECK(made.of(4).empty());
}
