// SPDX-License-Identifier: Apache-2.0
// What each thread of a replayed program does, and when its work runs on the GPU.
#include "replay/player/timeline.hpp"

#include "replay/format/record_fields.hpp"
#include "replay/format/synthetic_session.hpp"
#include "replay/player/gpu_clock.hpp"
#include "support/catch.hpp"

#include <algorithm>

using namespace gpuprof::replay;

namespace {

std::size_t records_in(std::vector<action> const& actions) {
  std::size_t count = 0;
  for (auto const& a : actions) count += a.records.size();
  return count;
}

}  // namespace

TEST_CASE("each thread makes its own calls in the recorded order") {
  auto r = make_synthetic_session(
      {.threads = 3, .launches_per_thread = 10, .copies = 0, .graph_launches = 0});
  auto const t = make_timeline(r);
  REQUIRE(t.threads.size() == 3);
  for (auto const& actions : t.threads) {
    CHECK(std::is_sorted(actions.begin(), actions.end(),
                         [](auto const& a, auto const& b) { return a.time < b.time; }));
    CHECK(records_in(actions) == 20);  // a kernel and a driver call for each launch
  }
}

TEST_CASE("kernel records are attached to the exit of the call that launched them") {
  auto r = make_synthetic_session(
      {.launches_per_thread = 3, .copies = 0, .graph_launches = 1, .graph_nodes = 4});
  auto const t = make_timeline(r);
  for (auto const& a : t.threads[0]) {
    for (auto const record : a.records) {
      auto const* const bytes = r.records.bytes.data() + t.record_offset[record];
      auto const& fields = *fields_of(kind_of_record(bytes));
      if (!fields.on_gpu) continue;
      REQUIRE(a.what != nullptr);
      CHECK(a.what->site == CUPTI_API_EXIT);
      CHECK(a.what->correlation == get_field<std::uint32_t>(bytes, fields.correlation));
      CHECK(a.entered < a.time);
    }
  }
}

TEST_CASE("a graph launch gets one record of the whole graph") {
  auto r = make_synthetic_session(
      {.launches_per_thread = 1, .copies = 0, .graph_launches = 2, .graph_nodes = 4});
  auto const before = r.records.count();
  make_timeline(r);
  REQUIRE(r.records.count() == before + 2);
  CUpti_ActivityGraphTrace2 g;
  std::memcpy(&g, r.records.bytes.data() + r.records.bytes.size() - sizeof g, sizeof g);
  CHECK(g.kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  CHECK(g.end - g.start == 4 * 1000 + 3 * 100);  // four kernels, 100 ns between them
}

TEST_CASE("a session with no calls has an empty timeline") {
  recording r;
  auto const t = make_timeline(r);
  CHECK(t.threads.size() == 1);
  CHECK(t.begin == t.end);
}

TEST_CASE("work keeps its length and its distance from the call") {
  gpu_clock clock;
  auto const span = clock.place(1, 7, {1500, 1700}, 1000, 90'000);
  CHECK(span.start == 90'500);
  CHECK(span.end == 90'700);
  CHECK(clock.busy_until() == 90'700);
}

TEST_CASE("work that followed other work on its stream still follows it, even if calls come late") {
  gpu_clock clock;
  clock.place(1, 7, {1500, 1700}, 1000, 90'000);
  CHECK(clock.place(1, 7, {1700, 1800}, 1600, 90'010).start == 90'700);
  CHECK(clock.place(1, 8, {1700, 1800}, 1600, 90'010).start == 90'110);  // another stream
}

TEST_CASE("work that overlapped on its stream may still overlap") {
  gpu_clock clock;
  clock.place(1, 7, {1500, 1700}, 1000, 90'000);
  CHECK(clock.place(1, 7, {1600, 1800}, 1000, 90'000).start == 90'600);
}

TEST_CASE("work without recorded times stays without times") {
  gpu_clock clock;
  auto const span = clock.place(1, 7, {0, 0}, 1000, 90'000);
  CHECK(span.start == 0);
  CHECK(span.end == 0);
}
