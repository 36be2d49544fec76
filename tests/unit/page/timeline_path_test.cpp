// SPDX-License-Identifier: Apache-2.0
#include "host/page/timeline_path.hpp"

#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::host::page;

namespace {

traced_link on_gpu(std::uint64_t from, std::uint64_t to, std::uint32_t stream = 7) {
  traced_link link;
  link.begin = {from};
  link.end = {to};
  link.kind = "kernels";
  link.is_on_gpu = true;
  link.stream = stream_id{stream};
  return link;
}
traced_link on_cpu(std::uint64_t from, std::uint64_t to, std::string_view kind = "cpu_work") {
  auto link = on_gpu(from, to);
  link.is_on_gpu = false;
  link.kind = kind;
  link.os_thread = 1234;
  return link;
}

}  // namespace

TEST_CASE("a link lies on the row of its stream, or of the ranges or calls of its thread") {
  CHECK(row_of(on_gpu(0, 1, 9)) == link_row{"GPU 0", "stream 9"});
  CHECK(row_of(on_cpu(0, 1)) == link_row{"NVTX", "thread 1234"});
  CHECK(row_of(on_cpu(0, 1, "calls")) == link_row{"CUDA calls", "thread 1234"});
}

TEST_CASE("links beyond the limit are joined, and the longest gives them their row") {
  std::vector<traced_link> links;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    links.push_back(on_cpu(100 * i, 100 * i + 20));
    links.push_back(on_gpu(100 * i + 20, 100 * i + 90));
  }
  CHECK(joined_links(links, 20'000).size() == 20'000);
  auto const joined = joined_links(links, 1000);
  CHECK(joined.size() <= 1000);
  CHECK(joined.size() > 300);
  CHECK(joined.front().begin == links.front().begin);
  CHECK(joined.back().end == links.back().end);
  for (std::size_t i = 0; i < joined.size(); ++i) {
    CHECK(joined[i].is_on_gpu);
    if (i > 0) CHECK(joined[i].begin >= joined[i - 1].end);
  }
  CHECK(joined_links(links, 1).size() == 1);
}
