// SPDX-License-Identifier: Apache-2.0
#include "guest/recording/own_stretches.hpp"

#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

api_record call_at(std::uint64_t start, std::int64_t length, std::uint32_t thread = 7) {
  api_record call;
  call.start = {start};
  call.duration = {length};
  call.os_thread = thread;
  return call;
}

}  // namespace

TEST_CASE("a call is the profiler's own if it lies completely in a stretch of its thread") {
  own_stretches own;
  own.add({7, {100}, {}});
  CHECK(own.hold(call_at(150, 1000)));  // the end of the stretch is not known yet
  own.add({7, {100}, {200}});
  own.add({7, {300}, {400}});
  CHECK(own.hold(call_at(100, 100)));
  CHECK(own.hold(call_at(300, 50)));
  CHECK_FALSE(own.hold(call_at(150, 51)));
  CHECK_FALSE(own.hold(call_at(99, 10)));
  CHECK_FALSE(own.hold(call_at(250, 10)));
  CHECK_FALSE(own.hold(call_at(450, 10)));
  CHECK_FALSE(own.hold(call_at(150, 10, 8)));
}

TEST_CASE("an old call is found among thousands of stretches in a few steps") {
  own_stretches own;
  for (std::uint64_t i = 1; i <= 10'000; ++i) own.add({7, {i * 1000}, {i * 1000 + 500}});
  CHECK(own.hold(call_at(9'000'100, 10)));
  CHECK_FALSE(own.hold(call_at(9'000'600, 10)));
  CHECK_FALSE(own.hold(call_at(100, 10)));
  CHECK(own.steps() <= 3 * 12);  // 2,048 are kept
}

TEST_CASE("the number of remembered threads is limited, and the latest are kept") {
  own_stretches own;
  for (std::uint32_t thread = 1; thread <= 100'000; ++thread)
    own.add({thread, {thread * 1000ull}, {thread * 1000ull + 500}});
  CHECK(own.threads() <= own_stretches::max_threads);
  CHECK(own.hold(call_at(100'000'100, 10, 100'000)));
}
