// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/theory/test_list.hpp"

#include "support/catch.hpp"

#include <set>

using namespace gpuprof::guest::peaks;
using ids = std::vector<test_id>;

namespace {

ids selected(std::string_view names) {
  auto const tests = select_tests(names);
  REQUIRE(tests);
  return *tests;
}

std::string refusal(std::string_view names) {
  auto const tests = select_tests(names);
  REQUIRE_FALSE(tests);
  return tests.message();
}

bool lists(std::string const& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("tests are listed in the order of their ids, with unique names") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < all_tests().size(); ++i) {
    auto const& test = all_tests()[i];
    CHECK(static_cast<std::size_t>(test.id) == i);
    CHECK(&info_of(test.id) == &test);
    CHECK(names.insert(test.name).second);
  }
}

TEST_CASE(
    "tests are chosen by name, and listed in the usual order whatever the order of the request") {
  CHECK(selected("tensor_bf16") == ids{test_id::tensor_bf16});
  CHECK(selected("dram_read,fp32") == ids{test_id::fp32, test_id::dram_read});
  CHECK(selected(" dram_read , fp32,") == ids{test_id::fp32, test_id::dram_read});
}

TEST_CASE("a test named twice, by name or by group, is chosen once") {
  CHECK(selected("fp32,fp32") == ids{test_id::fp32});
  CHECK(selected("fp32,cuda_cores").size() == selected("cuda_cores").size());
}

TEST_CASE("a group stands for all of its tests") {
  CHECK(selected("latency") == ids{test_id::launch_latency, test_id::launch_throughput,
                                   test_id::graph_node, test_id::synchronize});
  CHECK(selected("cuda_cores,tensor_cores,memory,links,latency").size() == all_tests().size());
}

TEST_CASE("an unknown name is refused with the nearest one, the tests and the groups") {
  auto const text = refusal("fp32,tensr_bf16");
  CHECK(
      text.starts_with("there is no peak test \"tensr_bf16\" (did you mean tensor_bf16?); tests: "
                       "fp64, fp32, "));
  CHECK(lists(text, "synchronize; groups: cuda_cores, tensor_cores, memory, links, latency"));
  CHECK(lists(refusal("tensor_core"), "(did you mean tensor_cores?)"));
  CHECK_FALSE(lists(refusal("everything"), "did you mean"));
  CHECK(lists(refusal("FP32"), "there is no peak test \"FP32\""));
}

TEST_CASE("an empty list of tests is refused: it does not mean all") {
  CHECK(refusal("").starts_with("no peak test is named; tests: fp64, "));
  CHECK(refusal(" , ").starts_with("no peak test is named; tests: fp64, "));
}
