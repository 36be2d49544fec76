// SPDX-License-Identifier: Apache-2.0
// What ranks of a job tell each other, among real processes.
#include "counters/launches/shared_readings.hpp"

#include "support/catch.hpp"
#include "support/other_process.hpp"
#include "support/scratch_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace gpuprof;
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
      : shared([path = capture(folder, number)] { return path; }) {
    shared.set_up_for(setup);
  }
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

TEST_CASE("a rank hears what another has read, as long as that one runs") {
  scratch_folder const folder;
  rank ours(folder, 0);
  auto other = telling(folder, {first, second_reading});
  CHECK(ours.shared.hear() == std::vector{first, second_reading});
  other.kill();
  CHECK(std::filesystem::exists(readings(folder, 1)));
  CHECK(ours.shared.hear().empty());
}

TEST_CASE("what a run before has left is written anew, and nothing of it is heard") {
  scratch_folder const folder;
  telling(folder, {first}).kill();
  rank ours(folder, 0);
  auto const other = telling(folder, {second_reading});
  CHECK(ours.shared.hear() == std::vector{second_reading});
}

TEST_CASE("a rank with other counters is not believed, nor what is no such file") {
  scratch_folder const folder;
  rank ours(folder, 0);
  auto const other = telling(folder, {first}, setup + 1);
  CHECK(ours.shared.hear().empty());
  std::ofstream(readings(folder, 2)) << "gpuprof readings 1 0000000000000007\n1 1 1\n";
  std::filesystem::create_directory(readings(folder, 3));
  std::filesystem::create_symlink("/dev/zero", readings(folder, 4));
  CHECK(ours.shared.hear().empty());
}

TEST_CASE("a line that is half written is left for the next time") {
  scratch_folder const folder;
  rank ours(folder, 0);
  auto const other = telling(folder, {first});
  auto const whole = std::filesystem::file_size(readings(folder, 1));
  std::filesystem::resize_file(readings(folder, 1), whole - 1);
  CHECK(ours.shared.hear().empty());
}

TEST_CASE("the file goes at the end of a capture, and comes again with all that was told") {
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
  shared_readings shared([&] { return path; });
  shared.tell(std::span(&first, 1));
  CHECK(shared.hear().empty());
  path = folder / "one process.gpuprof";
  shared.tell(std::span(&first, 1));
  path = folder / "none/run.rank0.gpuprof";
  shared.tell(std::span(&first, 1));
  CHECK(shared.hear().empty());
  CHECK(std::filesystem::is_empty(std::string(folder / "")));
  path = capture(folder, 0);
  shared.tell(std::span(&second_reading, 1));  // and then all of it
  CHECK(std::filesystem::file_size(readings(folder, 0)) > 100);
}
