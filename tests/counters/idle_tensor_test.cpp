// What needs no further pass when no tensor instruction ran.
#include "counters/launches/idle_tensor.hpp"

#include "support/catch.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace gpuprof;

namespace {

constexpr auto missing = std::numeric_limits<double>::quiet_NaN();
std::vector<std::string> const metrics{"sm__cycles_active.avg", "sm__pipe_tensor_cycles_active.avg",
                                       "sm__ops_path_tensor_src_fp16.sum",
                                       "sm__ops_path_tensor_src_fp64.sum"};

}  // namespace

TEST_CASE("operations of a tensor pipe that was never active are none") {
  std::vector<double> values{1000, 0, missing, missing};
  CHECK(fill_idle_tensor(metrics, values));
  CHECK(values == std::vector<double>{1000, 0, 0, 0});
}

TEST_CASE("operations of a tensor pipe that was active are counted") {
  std::vector<double> values{1000, 3, missing, missing};
  CHECK_FALSE(fill_idle_tensor(metrics, values));
  CHECK(std::isnan(values[2]));
}

TEST_CASE("a tensor pipe that no pass has looked at says nothing") {
  std::vector<double> values{1000, missing, 0, missing};
  CHECK_FALSE(fill_idle_tensor(metrics, values));
  CHECK(std::isnan(values[3]));
}

TEST_CASE("what else is missing waits for its pass") {
  std::vector<double> values{missing, 0, missing, missing};
  CHECK_FALSE(fill_idle_tensor(metrics, values));
  CHECK(std::isnan(values[0]));
  CHECK(values[2] == 0);
}

TEST_CASE("what was counted stays as it is") {
  std::vector<double> values{1000, 0, 5, missing};
  CHECK(fill_idle_tensor(metrics, values));
  CHECK(values == std::vector<double>{1000, 0, 5, 0});
}

TEST_CASE("a part of the tensor pipe, or its idlest SM, tells nothing of the rest") {
  for (auto const* const name :
       {"sm__pipe_tensor_op_hmma_cycles_active.avg", "sm__pipe_tensor_cycles_active.min",
        "sm__inst_executed_pipe_tensor_op_dmma.sum"}) {
    INFO(name);
    std::vector<std::string> const two{name, "sm__ops_path_tensor_src_int8.sum"};
    std::vector<double> values{0, missing};
    CHECK_FALSE(fill_idle_tensor(two, values));
    CHECK(std::isnan(values[1]));
  }
  std::vector<std::string> const whole{"sm__inst_executed_pipe_tensor.sum",
                                       "sm__ops_path_tensor_src_int8.sum"};
  std::vector<double> values{0, missing};
  CHECK(fill_idle_tensor(whole, values));
}
