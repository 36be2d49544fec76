// SPDX-License-Identifier: Apache-2.0
#include "host/page/timeline_document.hpp"

#include "host/page/packed_columns.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <vector>

using namespace gpuprof::host::page;

namespace {

constexpr std::uint64_t begin = 1'700'000'000'000'000'000;

std::string column(timeline_document const& of, std::string_view name) {
  auto const at = std::find_if(of.columns.begin(), of.columns.end(),
                               [&](auto const& one) { return one.first == name; });
  REQUIRE(at != of.columns.end());
  return at->second;
}
std::string column_of(std::vector<std::uint64_t> const& numbers) {
  return packed(planes_of(numbers));
}

}  // namespace

TEST_CASE("idle time has a lane for each cause of each GPU, in order of the GPUs") {
  idle_times idle(100, 100);
  idle.add(1, "start_up", begin, begin + 10);
  idle.add(0, "launch_bound", begin + 5, begin + 7);
  idle.add(0, "cpu_work", begin + 9, begin + 10);
  idle.add(0, "launch_bound", begin + 20, begin + 30);
  auto const document = document_of(timeline(timeline_limits(100)), idle, {});
  CHECK(document.head.find(R"("idle":[{"device":0,"cause":"launch_bound","bars":2},)"
                           R"({"device":0,"cause":"cpu_work","bars":1},)"
                           R"({"device":1,"cause":"start_up","bars":1}])") != std::string::npos);
  CHECK(column(document, "idle-start") == column_of({5, 15, 9, 0}));
  CHECK(column(document, "idle-length") == column_of({2, 10, 1, 10}));
  CHECK(document.head.starts_with("{\"begin_ns\":" + std::to_string(begin) +
                                  ",\"end_ns\":" + std::to_string(begin + 30)));
}

TEST_CASE("gaps beyond the limit lose none of their time, for each cause") {
  idle_times idle(1000, 100);
  for (std::uint64_t i = 0; i < 100'000; ++i)
    idle.add(0, i % 2 == 0 ? "launch_bound" : "cpu_work", begin + 100 * i, begin + 100 * i + 30);
  CHECK(idle.bars().size() <= 1000);
  CHECK(idle.bars().joined_below_ns() > 0);
  for (auto const& lane : idle.bars().lanes()) {
    std::uint64_t busy = 0;
    for (auto const& one : lane.bars) busy += one.busy_ns;
    CHECK(busy == 50'000u * 30);
  }
}

TEST_CASE("within windows each gap is kept, even at the edges") {
  idle_times idle(1000, 5000);
  idle.look_into({{begin + 1'000'050, begin + 1'300'050}, {begin + 8'000'000, begin + 8'200'000}});
  for (std::uint64_t i = 0; i < 100'000; ++i)
    idle.add(0, i % 2 == 0 ? "launch_bound" : "cpu_work", begin + 100 * i, begin + 100 * i + 30);
  auto const stretch = idle.bars().joined_below_ns();
  REQUIRE(stretch > 200);
  idle.finish();
  CHECK(idle.has_finer());
  for (auto const& lane : idle.bars().lanes()) {
    std::uint64_t busy = 0, pieces = 0;
    for (auto const& one : lane.bars) {
      busy += one.busy_ns;
      pieces += one.count;
    }
    CHECK(busy == 50'000u * 30);
    CHECK(pieces == 50'000);
    auto const of = lane.first_from(begin + 1'000'050 + stretch);
    auto const to = lane.first_from(begin + 1'300'050 - stretch);
    CHECK(to - of == static_cast<std::ptrdiff_t>((300'000 - 2 * stretch) / 200));
    CHECK(std::all_of(of, to, [](bar const& one) { return one.count == 1; }));
  }
}

TEST_CASE("an empty timeline begins and ends at 0") {
  auto const document = document_of(timeline(timeline_limits(100)), idle_times(100, 100), {});
  CHECK(document.head.starts_with("{\"begin_ns\":0,\"end_ns\":0,"));
  CHECK(
      document.head.find(
          R"("lanes":[],"names":[],"places":[],"idle":[],"counters":[],)"
          R"("steps":{"name":"","count":0,"left_out":0,"warm_up":0},"paths":[],"path_rows":[]})") !=
      std::string::npos);
}

TEST_CASE("steps are listed in order, with the time to the next") {
  timeline_steps const steps{"step", {{begin, begin + 10, 12}, {begin + 12, begin + 20, 8}}, 3, 1};
  idle_times idle(100, 100);
  idle.add(0, "start_up", begin, begin + 20);
  auto const document = document_of(timeline(timeline_limits(100)), idle, steps);
  CHECK(document.head.find(R"("steps":{"name":"step","count":2,"left_out":3,"warm_up":1})") !=
        std::string::npos);
  CHECK(column(document, "step-begin") == column_of({0, 12}));
  CHECK(column(document, "step-length") == column_of({10, 8}));
  CHECK(column(document, "step-period") == column_of({12, 8}));
}

TEST_CASE("a timeline has the links of each path, one after the other") {
  using namespace gpuprof;
  auto const link = [](std::uint64_t from, std::uint64_t to, std::uint32_t stream) {
    host::traced_link made;
    made.begin = {begin + from};
    made.end = {begin + to};
    made.kind = stream == 0 ? "cpu_work" : "kernels";
    made.is_on_gpu = stream != 0;
    made.stream = stream_id{stream};
    made.os_thread = 1234;
    return made;
  };
  idle_times idle(100, 100);
  idle.add(0, "cpu_work", begin, begin + 1000);
  std::vector<host::traced_path> const paths{
      {false, "step", 50, {begin + 100}, {begin + 200}, {link(100, 130, 0), link(134, 200, 7)}},
      {true, "step", 50, {begin + 50}, {begin + 90}, {link(50, 60, 7), link(61, 90, 8)}}};
  auto const document = document_of(timeline(timeline_limits(100)), idle, {}, paths);
  CHECK(document.head.ends_with(
      R"("paths":[{"slowest":false,"steps":50,"begin_ns":100,"end_ns":200,"links":2},)"
      R"({"slowest":true,"steps":50,"begin_ns":50,"end_ns":90,"links":2}],)"
      R"("path_rows":[{"group":"NVTX","name":"thread 1234"},{"group":"GPU 0","name":"stream 7"},)"
      R"({"group":"GPU 0","name":"stream 8"}]})"));
  CHECK(column(document, "path-start") == column_of({100, 34, 50, 11}));
  CHECK(column(document, "path-length") == column_of({30, 66, 10, 29}));
  CHECK(column(document, "path-row") == column_of({0, 1, 1, 2}));
}
