// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/sampled_figures.hpp"

#include "support/catch.hpp"

#include <cmath>

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

workload_id kernel_number(std::uint32_t number) {
  return {{}, static_cast<shape_id>(number), {}};
}

sampled_figures of_one(std::string_view metric, sampled_figure figure, std::uint32_t kernel = 1) {
  sampled_figures made;
  auto const place = made.define(metric);
  made.make(kernel_number(kernel)).by_name[place] = figure;
  return made;
}

constexpr std::size_t any_number = 100;

}  // namespace

TEST_CASE(
    "figures of two windows are averaged by launches, random errors shrink and systematic ones "
    "stay") {
  auto known = of_one("bytes", {.mean = 10, .error = 3, .launches = 300, .is_fitted = false});
  known.take(of_one("bytes", {.mean = 14, .error = 4, .launches = 100, .is_fitted = false}),
             any_number);
  auto const* found = known.find(kernel_number(1), "bytes");
  REQUIRE(found != nullptr);
  CHECK(found->mean == 11);
  CHECK(found->error == Approx(std::hypot(3.0 * 300, 4.0 * 100) / 400));
  CHECK(found->launches == 400);
  CHECK_FALSE(found->is_fitted);

  sampled_figure const unsure{.mean = 10, .error = 5, .launches = 1, .is_fitted = true, .doubt = 4};
  auto more = of_one("bytes", unsure);
  for (int i = 0; i < 9999; ++i) more.take(of_one("bytes", unsure), any_number);
  found = more.find(kernel_number(1), "bytes");
  CHECK(found->doubt == Approx(4));
  CHECK(found->error == Approx(std::hypot(4, 0.03)));
}

TEST_CASE("a figure that is partly fitted counts as fitted") {
  auto known = of_one("bytes", {.mean = 1, .error = 1, .launches = 9, .is_fitted = false});
  known.take(of_one("bytes", {.mean = 1, .error = 1, .launches = 1, .is_fitted = true}),
             any_number);
  CHECK(known.find(kernel_number(1), "bytes")->is_fitted);
}

TEST_CASE("samples of other metrics and kernels add unknown figures") {
  auto known = of_one("bytes", {.mean = 1, .error = 1, .launches = 9});
  known.take(of_one("cycles", {.mean = 2, .error = 1, .launches = 3}), any_number);
  known.take(of_one("bytes", {.mean = 3, .error = 1, .launches = 3}, 2), any_number);
  CHECK(known.names() == std::vector<std::string>{"bytes", "cycles"});
  CHECK(known.find(kernel_number(1), "bytes")->mean == 1);
  CHECK(known.find(kernel_number(1), "cycles")->mean == 2);
  CHECK(known.find(kernel_number(2), "bytes")->mean == 3);
  CHECK(known.find(kernel_number(2), "cycles") == nullptr);
}

TEST_CASE("workloads beyond the capacity are not added") {
  sampled_figures known;
  for (std::uint32_t kernel = 1; kernel <= 10; ++kernel)
    known.take(of_one("bytes", {.mean = 1, .error = 1, .launches = 1}, kernel), 4);
  known.take(of_one("bytes", {.mean = 3, .error = 1, .launches = 1}, 4), 4);
  CHECK(known.workloads() == 4);
  CHECK(known.find(kernel_number(4), "bytes")->mean == 2);
  CHECK(known.find(kernel_number(5), "bytes") == nullptr);
}

TEST_CASE("a workload is shared if it ran beside others for most of its sampled time") {
  sampled_figures known, other;
  known.make(kernel_number(1)) = {.by_name = {}, .ns = 100, .shared_ns = 80};
  other.make(kernel_number(1)) = {.by_name = {}, .ns = 900, .shared_ns = 100};
  CHECK(known.is_shared(kernel_number(1)));
  known.take(other, any_number);
  CHECK_FALSE(known.is_shared(kernel_number(1)));
}
