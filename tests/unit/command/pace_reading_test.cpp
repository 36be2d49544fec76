// SPDX-License-Identifier: Apache-2.0
// The pace of a run is the same whether its kernels come block by block or in order of time.
#include "analyze/pace_reading.hpp"

#include "capture/writer.hpp"
#include "support/catch.hpp"
#include "support/scratch_folder.hpp"

#include <future>
#include <memory>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::host::command;

namespace {

constexpr std::uint64_t begin_ns = 1'000'000;
constexpr timestamp_ns all_launches{~std::uint64_t{0}};

/// Kernel i is launched 10 us after the one before and starts 6 us later; each tenth waits for a
/// copy.
struct written_run {
  test::scratch_folder scratch;
  std::unique_ptr<capture::writer> out =
      std::move(*capture::writer::create(scratch / "a.gpuprof", capture::create_mode::overwrite));

  void kernel(std::uint64_t i) {
    kernel_record row;
    row.launched.value = begin_ns + i * 10'000;
    row.start.value = row.launched.value + 6'000;
    row.duration.value = 3'000 + static_cast<std::int64_t>(i % 7) * 500;
    row.thread = thread_index{1};
    row.stream = stream_id{7};
    out->add(row);
    if (i % 10 != 0) return;
    copy_record copy;
    copy.launched.value = row.launched.value + 1'000;
    copy.start.value = row.start.value + 3'500;
    copy.duration.value = 2'000;
    copy.stream = stream_id{7};
    out->add(copy);
    memset_record fill;
    fill.start.value = copy.start.value;
    fill.duration.value = 100;
    out->add(fill);
  }
  void block_ends() { REQUIRE(out->flush()); }
  std::string close() {
    REQUIRE(out->close());
    return scratch / "a.gpuprof";
  }
};

trace_contents trace_of(std::string const& path) {
  return trace_contents(std::move(*capture::reader::open(path)));
}

/// All that was measured, as text.
std::string text_of(pace_reading& read) {
  auto const pace = read.measured().measured();
  auto text = std::to_string(pace.start_delay) + " " + std::to_string(pace.back_to_back) + " " +
              std::to_string(pace.before_copy) + " " + std::to_string(pace.launch_distance) + " " +
              std::to_string(pace.kernel_length) + " tenth " +
              std::to_string(read.tenth_launched().value) + " ended " +
              std::to_string(read.ended().value) + " launches";
  for (auto const& launch : read.take_launches().launches)
    text += " " + std::to_string(launch.at.value);
  return text;
}

std::string by_walk(trace_contents& trace) {
  pace_reading read(trace, all_launches);
  capture_walk walk(trace.file());
  join_kernel_blocks(walk, [&](kernel_block block) { read.add(std::move(block)); });
  walk.run();
  read.finish();
  return text_of(read);
}

/// The control: all rows are in the file in order of time, so nothing has to be sorted.
std::string in_order(std::uint64_t kernels) {
  written_run run;
  for (std::uint64_t i = 0; i < kernels; ++i) run.kernel(i);
  auto trace = trace_of(run.close());
  return by_walk(trace);
}

}  // namespace

TEST_CASE("kernels of blocks that overlap give the pace of kernels in order, decoded once") {
  written_run run;
  for (std::uint64_t i = 0; i < 400; i += 2) run.kernel(i);
  run.block_ends();
  for (std::uint64_t i = 1; i < 400; i += 2) run.kernel(i);
  auto trace = trace_of(run.close());
  auto const wanted = in_order(400);
  CHECK(by_walk(trace) == wanted);
  CHECK(trace.file().rows_decoded<kernel_record>() == 400);
  CHECK(wanted != in_order(401));
}

TEST_CASE("another thread can take the blocks of a walk, with a reader of its own") {
  written_run run;
  for (std::uint64_t block = 0; block < 50; ++block) {
    for (std::uint64_t i = 0; i < 40; ++i) run.kernel(block * 40 + (39 - i));
    run.block_ends();
  }
  auto const path = run.close();
  kernel_block_queue queue;
  auto walking = std::async(std::launch::async, [&] {
    auto file = std::move(*capture::reader::open(path));
    capture_walk walk(file);
    join_kernel_blocks(walk, [&](kernel_block block) { queue.add(std::move(block)); });
    walk.run();
    queue.end();
  });
  SECTION("all of them") {
    auto trace = trace_of(path);
    pace_reading read(trace, all_launches);
    while (auto block = queue.next()) read.add(*std::move(block));
    read.finish();
    CHECK(text_of(read) == in_order(2000));
    CHECK(trace.file().rows_decoded<kernel_record>() == 0);
  }
  SECTION("or stop after the first, and the walk goes on without waiting") {
    CHECK(queue.next());
    queue.stop_taking();
  }
  walking.get();
}

TEST_CASE("kernels that cannot be put in order with bounded memory are read again in order") {
  written_run run;
  constexpr std::uint64_t count = (1 << 19) + 40'000;
  for (std::uint64_t i = 1; i < count; ++i) run.kernel(i);
  run.kernel(0);
  auto trace = trace_of(run.close());
  CHECK(by_walk(trace) == in_order(count));
  CHECK(trace.file().rows_decoded<kernel_record>() == 2 * count);
}
