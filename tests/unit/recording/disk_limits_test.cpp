// SPDX-License-Identifier: Apache-2.0
// When a capture ends so that its file does not fill the disk: with sizes of the test's own.
#include "guest/recording/capture_output.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::guest;
using Catch::Matchers::Contains;

namespace {

constexpr std::uint64_t mb = 1'000'000, gb = 1'000 * mb;

disk_limits with(std::uint64_t max_size, std::optional<std::uint64_t> min_free = {}) {
  settings options;
  options.max_size_bytes = max_size;
  options.min_free_bytes = min_free;
  return disk_limits(options);
}

}  // namespace

TEST_CASE("a capture ends a little before its file reaches the size limit") {
  auto const limits = with(100 * mb);
  CHECK(limits.why_too_large(93 * mb, false) == "");
  CHECK(limits.why_too_large(94 * mb, false) == "its file has 94 MB of the 100 MB of --max-size");
  CHECK(with(100 * gb).why_too_large(99'990 * mb, false) ==
        "");  // 8 MiB are left for its last records
  CHECK(with(100 * mb).why_too_large(80 * mb, true) ==
        "its file has 80 MB of the 100 MB of --max-size");
  CHECK(with(0).why_too_large(100'000 * gb, false) == "");
}

TEST_CASE("a capture ends when less than 1 GiB is free, or 1 % of a smaller disk") {
  auto const limits = with(0);
  CHECK(limits.why_too_full({.total = 4000 * gb, .free = 1080 * mb}) == "");
  CHECK(limits.why_too_full({.total = 4000 * gb, .free = 1070 * mb}) ==
        "1.07 GB are free on its disk, less than the 1.07 GB of --min-free-space");
  CHECK(limits.why_too_full({.total = 50 * gb, .free = 501 * mb}) == "");
  CHECK_THAT(limits.why_too_full({.total = 50 * gb, .free = 499 * mb}), Contains("500 MB"));
}

TEST_CASE("the user sets how much disk space must stay free") {
  CHECK(with(0, 20 * gb).why_too_full({.total = 50 * gb, .free = 21 * gb}) == "");
  CHECK_THAT(with(0, 20 * gb).why_too_full({.total = 50 * gb, .free = 19 * gb}),
             Contains("20.00 GB of --min-free-space"));
  CHECK(with(0, 0).why_too_full({.total = 50 * gb, .free = 0}) == "");
}

TEST_CASE("the disk is checked at once and then every two seconds, and never without a limit") {
  auto limits = with(0);
  constexpr std::uint64_t start = 1'000'000'000'000, ms = 1'000'000;
  CHECK(limits.is_due(start));
  CHECK_FALSE(limits.is_due(start + 1'999 * ms));
  CHECK(limits.is_due(start + 2'000 * ms));
  CHECK_FALSE(limits.is_due(start + 2'001 * ms));
  CHECK_FALSE(with(0, 0).is_due(start));
}
