// SPDX-License-Identifier: Apache-2.0
// Which streams of a context are asked, and when all of its work is known to have ended.
#include "guest/counters/launches/context_streams.hpp"

#include "base/time.hpp"
#include "support/catch.hpp"

#include <deque>
#include <map>
#include <thread>
#include <utility>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

CUstream stream(std::uintptr_t number) {
  return reinterpret_cast<CUstream>(number * 16);
}

/// What the driver has to say. One test at a time.
struct state_of_driver {
  std::map<CUstream, CUresult> results;  // success where it is not there
  std::vector<CUstream> asked;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  CUstreamCaptureMode mode_when_asked = CU_STREAM_CAPTURE_MODE_GLOBAL;
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
} driver_state;

struct pretended_driver {
  pretended_driver() { driver_state = {}; }

  static CUresult CUDAAPI query(CUstream which) {
    driver_state.asked.push_back(which);
    driver_state.mode_when_asked = driver_state.mode;
    auto const found = driver_state.results.find(which);
    return found != driver_state.results.end() ? found->second : CUDA_SUCCESS;
  }
  static CUresult CUDAAPI is_capturing(CUstream, CUstreamCaptureStatus* status) {
    driver_state.mode_when_asked = driver_state.mode;
    *status = driver_state.capture;
    return CUDA_SUCCESS;
  }
  static CUresult CUDAAPI exchange(CUstreamCaptureMode* mode) {
    std::swap(*mode, driver_state.mode);
    return CUDA_SUCCESS;
  }
  static cuda_driver table() {
    cuda_driver driver;
    driver.cuStreamQuery = query;
    driver.cuStreamIsCapturing = is_capturing;
    driver.cuThreadExchangeStreamCaptureMode = exchange;
    return driver;
  }
  void works(CUstream which) { driver_state.results[which] = CUDA_ERROR_NOT_READY; }
  void is_done(CUstream which) { driver_state.results.erase(which); }
  std::vector<CUstream> take_asked() { return std::exchange(driver_state.asked, {}); }

  static inline cuda_driver const driver = table();
};

/// Contexts live as long as the process: threads remember them by their addresses.
context_streams& kept_streams(cuda_driver const& driver) {
  static std::deque<context_streams> all;
  return all.emplace_back(driver);
}

struct new_context : pretended_driver {
  new_context() { streams.all_known(); }
  context_streams& streams = kept_streams(driver);
};

}  // namespace

TEST_CASE("a context is idle when all streams that were used have ended") {
  new_context context;
  CHECK(context.streams.are_idle());
  context.streams.used(stream(1));
  context.streams.used(stream(2));
  context.works(stream(2));
  CHECK_FALSE(context.streams.are_idle());
  context.is_done(stream(2));
  CHECK(context.streams.are_idle());
}

TEST_CASE("idle streams are queried again only after they are used again") {
  new_context context;
  context.streams.used(stream(1));
  CHECK(context.streams.are_idle());
  context.streams.forget_idle();
  (void)context.take_asked();
  CHECK(context.streams.are_idle());
  CHECK(context.take_asked().empty());
  context.streams.used(stream(1));  // the same as last, and not forgotten
  context.works(stream(1));
  CHECK_FALSE(context.streams.are_idle());
  CHECK(context.take_asked() == std::vector{stream(1)});
}

TEST_CASE("a stream that gets work just after the query is queried again") {
  new_context context;
  context.streams.used(stream(1));  // inside a call that has lost its patience, before it launches
  CHECK(context.streams.are_idle());
  context.works(stream(1));
  CHECK_FALSE(context.streams.are_idle());
}

TEST_CASE("a stream is queried once, however often it was used") {
  new_context context;
  for (int i = 0; i < 3; ++i) {
    context.streams.used(stream(1));
    context.streams.used(stream(2));
  }
  CHECK(context.streams.are_idle());
  CHECK(context.take_asked().size() == 2);
}

TEST_CASE("an older context is unknown until the program has waited for it") {
  pretended_driver driver;
  auto& streams = kept_streams(driver.driver);
  CHECK_FALSE(streams.is_known());
  CHECK_FALSE(streams.are_idle());
  streams.all_known();
  CHECK(streams.are_idle());
  streams.used_unknown();
  CHECK_FALSE(streams.are_idle());
  CHECK(driver.take_asked().empty());
}

TEST_CASE("the per-thread default stream makes the context unknown") {
  new_context context;
  context.streams.used(CU_STREAM_PER_THREAD);
  CHECK_FALSE(context.streams.is_known());
  CHECK_FALSE(context.streams.are_idle());
  CHECK(context.take_asked().empty());
}

TEST_CASE("default streams are queried like other streams") {
  new_context context;
  context.streams.used(nullptr);
  context.streams.used(CU_STREAM_LEGACY);
  context.works(nullptr);
  CHECK_FALSE(context.streams.are_idle());
  context.is_done(nullptr);
  CHECK(context.streams.are_idle());
}

TEST_CASE("more streams than the limit make the context unknown") {
  new_context context;
  for (std::uintptr_t i = 1; i <= context_streams::max_streams; ++i)
    context.streams.used(stream(i));
  CHECK(context.streams.is_known());
  context.streams.used(stream(context_streams::max_streams));
  CHECK(context.streams.is_known());
  context.streams.used(stream(context_streams::max_streams + 1));
  CHECK_FALSE(context.streams.is_known());
}

TEST_CASE("a destroyed stream is not queried any more, unless its handle is used again") {
  new_context context;
  context.streams.used(stream(1));
  context.streams.used(stream(2));
  context.streams.destroyed(stream(2));
  (void)context.take_asked();
  CHECK(context.streams.are_idle());
  CHECK(context.take_asked() == std::vector{stream(1)});
  context.streams.used(stream(2));
  context.streams.destroyed(stream(2));
  context.streams.used(stream(2));  // at once, on the same thread
  context.works(stream(2));
  CHECK_FALSE(context.streams.are_idle());
}

TEST_CASE("a stream that is destroyed while it works leaves the context unknown") {
  new_context context;
  context.streams.used(stream(1));
  context.works(stream(1));
  context.streams.destroyed(stream(1));
  CHECK_FALSE(context.streams.is_known());
}

TEST_CASE("each context has its own streams, even on the same thread") {
  new_context one;
  auto& other = kept_streams(one.driver);
  other.all_known();
  one.works(nullptr);
  one.streams.used(nullptr);
  CHECK(other.are_idle());
  other.used(nullptr);
  CHECK_FALSE(other.are_idle());
  CHECK_FALSE(one.streams.are_idle());
}

TEST_CASE("queries do not break a stream capture of another thread") {
  new_context context;
  context.streams.used(stream(1));
  CHECK(context.streams.are_idle());
  CHECK(driver_state.mode_when_asked == CU_STREAM_CAPTURE_MODE_RELAXED);
  CHECK(driver_state.mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
  CHECK(context.streams.may_wait_for(stream(1)));
  CHECK(driver_state.mode_when_asked == CU_STREAM_CAPTURE_MODE_RELAXED);
  CHECK(driver_state.mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
}

TEST_CASE("nothing waits for a stream that is being captured") {
  new_context context;
  driver_state.capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  CHECK_FALSE(context.streams.may_wait_for(stream(1)));
  driver_state.capture = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  CHECK_FALSE(context.streams.may_wait_for(stream(1)));
}

TEST_CASE("a stream with long-running work is distinguished from one in use") {
  new_context context;
  constexpr std::uint64_t second = 1'000'000'000;
  context.works(stream(1));
  context.streams.used(stream(1));
  auto const moment = monotonic_ns();
  CHECK_FALSE(context.streams.works_long(moment, 100 * second));
  CHECK(context.streams.works_long(moment + 101 * second, 100 * second));
  context.is_done(stream(1));
  CHECK_FALSE(context.streams.works_long(moment + 101 * second, 100 * second));
}

TEST_CASE("without driver functions a context is never idle") {
  static cuda_driver const nothing;
  auto& streams = kept_streams(nothing);
  streams.all_known();
  CHECK_FALSE(streams.are_idle());
  CHECK(streams.works_long(monotonic_ns(), 0));
  CHECK_FALSE(streams.may_wait_for(nullptr));
}

TEST_CASE("streams used by several threads at the same time are all seen") {
  new_context context;
  {
    std::vector<std::jthread> program;
    for (std::uintptr_t t = 0; t < 4; ++t)
      program.emplace_back([&context, t] {
        for (std::uintptr_t i = 0; i < 400; ++i) context.streams.used(stream(1 + t * 8 + i % 8));
      });
  }
  CHECK(context.streams.are_idle());
  CHECK(context.take_asked().size() == 32);
}

TEST_CASE("a stream capture ends only with its own stream") {
  stream_captures captures;
  CHECK_FALSE(captures.any());
  captures.begins(stream(1));
  captures.begins(stream(1));
  captures.ends(stream(2));
  CHECK(captures.any());
  captures.begins(stream(2));
  captures.ends(stream(1));  // ended, or its stream destroyed: said in the same way
  CHECK(captures.any());
  captures.ends(stream(2));
  CHECK_FALSE(captures.any());
}

TEST_CASE("stream captures are forgotten when their ends may have been missed") {
  stream_captures captures;
  captures.begins(stream(1));
  captures.forget();
  CHECK_FALSE(captures.any());
  captures.ends(stream(1));
  CHECK_FALSE(captures.any());
}

TEST_CASE("streams that may have been destroyed unnoticed are not queried") {
  new_context context;
  context.streams.used(stream(1));
  context.works(stream(1));
  context.streams.forget();
  CHECK_FALSE(context.streams.is_known());
  context.streams.all_known();
  CHECK(context.streams.are_idle());
  CHECK_FALSE(context.streams.works_long(monotonic_ns() + 1'000'000'000, 0));
  CHECK(context.take_asked().empty());
  context.streams.used(stream(1));
  CHECK_FALSE(context.streams.are_idle());
}

TEST_CASE("the driver is not queried about a stream that no call has used yet") {
  new_context context;
  CHECK_FALSE(context.streams.may_wait_for(stream(1)));
  CHECK(context.streams.may_wait_for(nullptr));
  context.streams.used(stream(1));
  CHECK(context.streams.may_wait_for(stream(1)));
  context.streams.forget_idle();
  CHECK(context.streams.may_wait_for(stream(1)));
  context.streams.destroyed(stream(1));
  CHECK_FALSE(context.streams.may_wait_for(stream(1)));
}

TEST_CASE("idle streams make room for others") {
  new_context context;
  for (std::uintptr_t i = 1; i <= context_streams::max_streams; ++i)
    context.streams.used(stream(i));
  context.streams.forget_idle();
  context.streams.used(stream(context_streams::max_streams + 1));
  CHECK(context.streams.is_known());
  CHECK(context.streams.are_idle());
  CHECK(context.take_asked() == std::vector{stream(context_streams::max_streams + 1)});
}
