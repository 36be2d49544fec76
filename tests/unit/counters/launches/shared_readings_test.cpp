// SPDX-License-Identifier: Apache-2.0
// What ranks of a job tell each other, among real processes.
#include "guest/counters/launches/shared_readings.hpp"

#include "support/catch.hpp"
#include "support/other_process.hpp"
#include "support/scratch_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

constexpr std::uint64_t setup = 7;
constexpr shared_reading first{0x1234567890abcdef, 0b11, 2500},
    second_reading{5, 0b1, 1'000'000'000'000};

std::string capture(scratch_folder const& folder, int rank) {
  return folder / ("run.rank" + std::to_string(rank) + ".gpuprof");
}
std::string readings(scratch_folder const& folder, int rank) {
  return folder / ("run.rank" + std::to_string(rank) + ".readings");
}

struct rank {
  rank(scratch_folder const& folder, int number)
      : shared([path = capture(folder, number)] { return path; }, ranks) {
    shared.set_up_for(setup);
  }
  /// After a pause in which a look has become due.
  std::vector<shared_reading> hear() {
    now_ns += shared_readings::max_pause_ns;
    return shared.hear(now_ns);
  }

  static constexpr std::uint32_t ranks = 5;
  std::uint64_t now_ns = 1'000'000'000'000;
  shared_readings shared;
};

/// Rank 1, in a process of its own, has told this.
other_process telling(scratch_folder const& folder, std::vector<shared_reading> const& what,
                      std::uint64_t set_up_for = setup) {
  return other_process([&] {
    auto* const other = new rank(folder, 1);  // as long as its process
    other->shared.set_up_for(set_up_for);
    for (auto const& one : what) other->shared.tell(std::span(&one, 1));
    return true;
  });
}

}  // namespace

TEST_CASE("a rank uses readings of another, as long as that process runs") {
  scratch_folder const folder;
  rank ours(folder, 0);
  auto other = telling(folder, {first, second_reading});
  CHECK(ours.hear() == std::vector{first, second_reading});
  other.kill();
  CHECK(std::filesystem::exists(readings(folder, 1)));
  ours.now_ns += shared_readings::believed_for_ns;
  CHECK(ours.hear().empty());
}

TEST_CASE("the file of an earlier run is rewritten, and its readings are ignored") {
  scratch_folder const folder;
  telling(folder, {first}).kill();
  rank ours(folder, 0);
  auto const other = telling(folder, {second_reading});
  CHECK(ours.hear() == std::vector{second_reading});
}

TEST_CASE("a rank with other counters is ignored, and so is an invalid file") {
  scratch_folder const folder;
  rank ours(folder, 0);
  auto const other = telling(folder, {first}, setup + 1);
  CHECK(ours.hear().empty());
  std::ofstream(readings(folder, 2)) << "gpuprof readings 1 0000000000000007\n1 1 1\n";
  std::filesystem::create_directory(readings(folder, 3));
  std::filesystem::create_symlink("/dev/zero", readings(folder, 4));
  CHECK(ours.hear().empty());
}

TEST_CASE("an incomplete line is read the next time") {
  scratch_folder const folder;
  rank ours(folder, 0);
  auto const other = telling(folder, {first});
  auto const whole = std::filesystem::file_size(readings(folder, 1));
  std::filesystem::resize_file(readings(folder, 1), whole - 1);
  CHECK(ours.hear().empty());
}

TEST_CASE("a file that another user may have written is ignored") {
  scratch_folder const folder;
  rank ours(folder, 0);
  auto const other = telling(folder, {first});
  CHECK((std::filesystem::status(readings(folder, 1)).permissions() ==
         (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write)));
  using enum std::filesystem::perm_options;
  std::filesystem::permissions(readings(folder, 1), std::filesystem::perms::group_write, add);
  CHECK(ours.hear().empty());
  std::filesystem::permissions(readings(folder, 1), std::filesystem::perms::group_write, remove);
  ours.now_ns += shared_readings::believed_for_ns;
  CHECK(ours.hear() == std::vector{first});
  std::filesystem::create_hard_link(readings(folder, 1), folder / "another name");
  ours.now_ns += shared_readings::believed_for_ns;
  CHECK(ours.hear().empty());
}

TEST_CASE("a rank checks less and less often without news, and often again with news") {
  scratch_folder const folder;
  rank ours(folder, 0);
  constexpr std::uint64_t step = 100'000'000, second = 1'000'000'000;
  auto const looks_in = [&](std::uint64_t seconds) {
    auto const before = ours.shared.looks();
    for (auto const end = ours.now_ns + seconds * second; ours.now_ns < end; ours.now_ns += step)
      (void)ours.shared.hear(ours.now_ns);
    return (ours.shared.looks() - before) / (rank::ranks - 1);
  };
  CHECK(looks_in(8) == 4);  // at 0, 1, 3 and 7 s
  CHECK(looks_in(40) == 10);
  auto const other = telling(folder, {first});
  CHECK(looks_in(8) == 4);  // at 51, where it is heard, 51.5, 52.5 and 54.5 s
  CHECK(ours.shared.hear(ours.now_ns) == std::vector{first});
  CHECK(looks_in(8) == 2);
}

TEST_CASE("with many ranks some files are checked each time, and all in turn") {
  scratch_folder const folder;
  auto const path = capture(folder, 0);
  shared_readings shared([&] { return path; }, shared_readings::max_ranks);
  shared.set_up_for(setup);
  (void)shared.hear(1);
  CHECK(shared.looks() == shared_readings::max_files_at_once);
  auto const other = telling(folder, {first});
  std::uint64_t now_ns = 1;
  for (int look = 0; look < 4; ++look) (void)shared.hear(now_ns += shared_readings::max_pause_ns);
  CHECK(shared.looks() == 5 * shared_readings::max_files_at_once);
  CHECK(shared.hear(now_ns) == std::vector{first});
}

TEST_CASE("the file is removed at the end of a capture, and written again with all readings") {
  scratch_folder const folder;
  rank ours(folder, 0);
  ours.shared.tell(std::span(&first, 1));
  REQUIRE(std::filesystem::exists(readings(folder, 0)));
  ours.shared.end();
  CHECK_FALSE(std::filesystem::exists(readings(folder, 0)));
  ours.shared.tell(std::span(&second_reading, 1));
  CHECK(std::filesystem::file_size(readings(folder, 0)) > 100);  // two lines and the first
  ours.shared.end();
}

TEST_CASE("nothing is shared before there is a capture, or in a folder that cannot be written") {
  scratch_folder const folder;
  std::string path;
  shared_readings shared([&] { return path; }, 2);
  shared.tell(std::span(&first, 1));
  CHECK(shared.hear(1).empty());
  path = folder / "one process.gpuprof";
  shared.tell(std::span(&first, 1));
  path = folder / "none/run.rank0.gpuprof";
  shared.tell(std::span(&first, 1));
  CHECK(shared.hear(2).empty());
  CHECK(std::filesystem::is_empty(std::string(folder / "")));
  path = capture(folder, 0);
  shared.tell(std::span(&second_reading, 1));  // and then all of it
  CHECK(std::filesystem::file_size(readings(folder, 0)) > 100);
}
