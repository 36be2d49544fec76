// SPDX-License-Identifier: Apache-2.0
// What gpuprof.hpp promises at compile time, and without a tool.
#include <gpuprof/gpuprof.hpp>

#include "guest/nvtx/payload_events.hpp"
#include "support/catch.hpp"

#include <cstdlib>
#include <type_traits>

static_assert(gpuprof::detail::work_schema == gpuprof::guest::declared_work_schema,
              "the library recognizes declared work by this id: change both or neither");
static_assert(gpuprof::detail::work_schema >= NVTX_PAYLOAD_SCHEMA_ID_STATIC_START &&
                  gpuprof::detail::work_schema < NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START,
              "NVTX reserves the other ids");
static_assert(!std::is_copy_constructible_v<gpuprof::scoped_range> &&
              !std::is_move_constructible_v<gpuprof::scoped_range>);
static_assert(!std::is_copy_constructible_v<gpuprof::range> &&
              std::is_nothrow_move_constructible_v<gpuprof::range> &&
              std::is_nothrow_move_assignable_v<gpuprof::range>);
static_assert(std::is_nothrow_default_constructible_v<gpuprof::scoped_range>);
static_assert(static_cast<std::uint32_t>(gpuprof::rgb(1, 2, 3)) == 0xff010203);

TEST_CASE("without a profiler, markers do nothing and look for the profiler once") {
  unsetenv("NVTX_INJECTION64_PATH");
  {
    gpuprof::scoped_range const here;
    gpuprof::scoped_range const work("work", gpuprof::work{1, 1});
  }
  CHECK(gpuprof::detail::known_tool == gpuprof::detail::tool::absent);
  CHECK(gpuprof::domain("d").handle() == nullptr);
  gpuprof::range r("r");
  auto moved = std::move(r);
  r.end();
  moved.end();
  moved = gpuprof::range("again");
  gpuprof::mark("m");
}

static_assert(!std::is_copy_constructible_v<gpuprof::metrics> &&
              std::is_nothrow_move_constructible_v<gpuprof::metrics> &&
              std::is_nothrow_move_assignable_v<gpuprof::metrics>);

TEST_CASE("without the library there are no metrics") {
  auto const none = gpuprof::metrics::take();
  CHECK_FALSE(none);
  CHECK(none.range("step") == nullptr);
  CHECK(none.kernel("_Z1kv") == nullptr);
  gpuprof::metrics moved = gpuprof::metrics::take();
  moved = gpuprof::metrics();
  CHECK_FALSE(moved);
}

TEST_CASE("in_range hands on what the function returns, references included") {
  int value = 1;
  int& same = gpuprof::in_range("r", [&]() -> int& { return value; });
  CHECK(&same == &value);
}
