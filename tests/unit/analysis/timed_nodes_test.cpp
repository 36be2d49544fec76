// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/timed_nodes.hpp"

#include "support/catch.hpp"

#include <cstdint>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

kernel_record row(std::uint32_t correlation, std::uint32_t time_of, std::uint64_t node) {
  kernel_record k;
  k.correlation = correlation_id{correlation};
  k.time_of = correlation_id{time_of};
  k.node = graph_node_id{node};
  return k;
}

}  // namespace

TEST_CASE("a node's time counts once for each launch that was timed") {
  timed_nodes timed;
  std::vector<bool> repeated;
  for (auto const& k : {row(1, 0, 7), row(1, 0, 8),  // by its nodes, with its own times
                        row(2, 1, 7), row(2, 1, 8),  // two wholes with these
                        row(3, 1, 7), row(3, 1, 8),  //
                        row(4, 5, 7), row(4, 5, 8),  // by its nodes, with those of a later whole
                        row(5, 4, 7), row(5, 4, 8),  // which has them from there
                        row(6, 0, 7), row(6, 0, 8)})
    repeated.push_back(timed.is_repeated(k));
  CHECK(repeated == std::vector<bool>{false, false, true, true, true, true,  //
                                      false, false, true, true, false, false});
}

TEST_CASE("wholes before the first timed launch have one measurement") {
  timed_nodes timed;
  CHECK_FALSE(timed.is_repeated(row(1, 3, 7)));
  CHECK(timed.is_repeated(row(2, 3, 7)));
}

TEST_CASE("work outside of graphs is never repeated") {
  timed_nodes timed;
  CHECK_FALSE(timed.is_repeated(row(1, 0, 0)));
  CHECK_FALSE(timed.is_repeated(row(2, 1, 0)));
  CHECK_FALSE(timed.is_repeated(row(3, 1, 0)));
  CHECK_FALSE(timed.is_repeated(graph_record{}));
}
