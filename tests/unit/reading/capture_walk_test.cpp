// SPDX-License-Identifier: Apache-2.0
// One walk over a capture serves all that join it.
#include "host/reading/capture_walk.hpp"

#include "capture/writer.hpp"
#include "host/reading/ordered_rows.hpp"
#include "host/reading/summed_kernels.hpp"
#include "support/catch.hpp"
#include "support/scratch_folder.hpp"

#include <map>
#include <string>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

struct written_capture {
  test::scratch_folder scratch;
  std::unique_ptr<capture::writer> out =
      std::move(*capture::writer::create(scratch / "a.gpuprof", capture::create_mode::overwrite));

  void kernel(std::uint64_t start, std::int64_t duration, std::uint32_t correlation,
              std::uint32_t device = 0) {
    kernel_record row;
    row.device = device_id{device};
    row.start.value = start;
    row.duration.value = duration;
    row.shape = shape_id{1};
    row.correlation = correlation_id{correlation};
    out->add(row);
  }
  void call(std::uint64_t start) {
    api_record row;
    row.start.value = start;
    out->add(row);
  }
  /// Counters were read around the launch, and its kernel was rewritten for it.
  void rewritten(std::uint32_t correlation) {
    metric_record metric;
    metric.metric = metric_id{1};
    metric.patches_kernel = true;
    out->add(metric);
    read_launch_record sample;
    sample.correlation = correlation_id{correlation};
    out->add(sample);
  }
  void block_ends() { REQUIRE(out->flush()); }
  capture::reader read() {
    REQUIRE(out->close());
    return std::move(*capture::reader::open(scratch / "a.gpuprof"));
  }
};

auto const durations = capture::only(&kernel_record::duration);

}  // namespace

TEST_CASE("a table that two consumers want is decoded once, with the columns of both") {
  written_capture made;
  made.kernel(10, 3, 7);
  made.block_ends();
  made.kernel(20, 4, 8);
  auto file = made.read();
  std::int64_t sum = 0;
  std::vector<std::uint32_t> correlations;
  capture_walk walk(file);
  walk.add_each<kernel_record>(durations, [&](auto const& row) { sum += row.duration.value; });
  walk.add_each<kernel_record>(capture::only(&kernel_record::correlation), [&](auto const& row) {
    correlations.push_back(raw(row.correlation));
  });
  CHECK(walk.rows() == 2);
  walk.run();
  CHECK(sum == 7);
  CHECK(correlations == std::vector<std::uint32_t>{7, 8});
  CHECK(file.rows_decoded<kernel_record>() == 2);
}

TEST_CASE("tables are read in the order in which they were first named") {
  written_capture made;
  made.kernel(10, 1, 1);
  made.call(5);
  auto file = made.read();
  std::string order;
  capture_walk walk(file);
  walk.add_each<api_record>({}, [&](auto const&) { order += "a"; });
  walk.add_each<kernel_record>({}, [&](auto const&) { order += "k"; });
  walk.add_each<api_record>({}, [&](auto const&) { order += "A"; });
  walk.run();
  CHECK(order == "aAk");
}

TEST_CASE("the progress of a walk counts each row once, whatever the number of consumers") {
  written_capture made;
  for (std::uint32_t i = 0; i < 5; ++i) made.kernel(i, 1, i);
  made.call(1);
  auto file = made.read();
  capture_walk walk(file);
  for (int i = 0; i < 3; ++i) walk.add_each<kernel_record>(durations, [](auto const&) {});
  walk.add_each<api_record>({}, [](auto const&) {});
  std::uint64_t done = 0;
  walk.run([&](std::uint64_t rows) { done += rows; });
  CHECK(done == 6);
  CHECK(done == walk.rows());
}

TEST_CASE("rows are sorted without another pass after a walk that has read their times") {
  written_capture made;
  made.kernel(50, 1, 1);
  made.block_ends();
  made.kernel(10, 1, 2);
  auto file = made.read();
  auto const in_order = [&] {
    std::vector<std::uint32_t> found;
    ordered_rows<kernel_record> rows(file);
    while (auto const* row = rows.next()) found.push_back(raw(row->correlation));
    return found;
  };
  SECTION("the walk has read them") {
    capture_walk walk(file);
    walk.add_each<kernel_record>(capture::only(&kernel_record::start), [](auto const&) {});
    walk.run();
    CHECK(in_order() == std::vector<std::uint32_t>{2, 1});
    CHECK(file.rows_decoded<kernel_record>() == 2 + 2);
  }
  SECTION("the walk has not read them") {
    capture_walk walk(file);
    walk.add_each<kernel_record>(durations, [](auto const&) {});
    walk.run();
    CHECK(in_order() == std::vector<std::uint32_t>{2, 1});
    CHECK(file.rows_decoded<kernel_record>() == 2 + 2 + 2);
    CHECK(in_order() == std::vector<std::uint32_t>{2, 1});
    CHECK(file.rows_decoded<kernel_record>() == 2 + 2 + 2 + 2);
  }
  SECTION("another reader has read them") {
    auto other = std::move(*capture::reader::open(file.path()));
    ordered_rows<kernel_record> const rows(other);
    file.take(other.notes());
    CHECK(in_order() == std::vector<std::uint32_t>{2, 1});
    CHECK(file.rows_decoded<kernel_record>() == 2);
  }
}

TEST_CASE("the GPUs at work are known without another look after a walk") {
  auto const walked = GENERATE(true, false);
  auto const all_work = GENERATE(true, false);
  written_capture made;
  for (std::uint32_t i = 0; i < 2; ++i) made.out->add(device_record{.device = device_id{i}});
  made.kernel(10, 1, 1, 1);
  made.block_ends();
  made.kernel(20, 1, 2, all_work ? 0 : 1);
  trace_contents trace(made.read());
  if (walked) {  // for something else
    capture_walk walk(trace.file());
    walk.add_each<kernel_record>(durations, [](auto const&) {});
    walk.run();
  }
  std::vector<bool> have_worked;
  for (auto const& gpu : trace.overview().devices) have_worked.push_back(gpu.has_worked);
  CHECK(have_worked == std::vector<bool>{all_work, true});
  CHECK(trace.file().rows_decoded<kernel_record>() == 2);
}

TEST_CASE("what tracing adds to a launch is told from quick launches and the measured peak") {
  auto const added = [](double bare_launch_seconds, std::uint64_t distance) {
    written_capture made;
    if (bare_launch_seconds > 0) {
      peak_record peak;
      made.out->add_name(name_id{1}, "launch_throughput");
      peak.test = name_id{1};
      peak.burst = bare_launch_seconds;
      made.out->add(peak);
    }
    for (std::uint64_t i = 1; i <= 100; ++i) {
      kernel_record row;
      // Every second launch comes late.
      row.launched.value = 1'000'000 * (i / 2) + (i % 2) * distance;
      row.thread = thread_index{1};
      row.shape = shape_id{1};
      made.out->add(row);
    }
    trace_contents trace(made.read());
    return trace.ns_a_launch();
  };
  CHECK(added(2e-6, 3'000).value() == Approx(1'000).epsilon(0.1));
  CHECK(added(2e-6, 9'000).value() == Approx(2'000));  // the program itself is slow
  CHECK(added(2e-6, 1'500).value() == 0);
  CHECK(!added(0, 3'000));
}

TEST_CASE("blocks without a row in the stretches are not read when their times are known") {
  written_capture made;
  for (std::uint32_t i = 0; i < 4; ++i) {
    made.kernel(100 * i, 1, i);
    made.block_ends();
  }
  auto file = made.read();
  ordered_rows<kernel_record> const all(file);
  auto const before = file.rows_decoded<kernel_record>();
  ordered_rows<kernel_record> some(file, {}, {{{150}, {250}}});
  auto const* const row = some.next();
  REQUIRE(row != nullptr);
  CHECK(raw(row->correlation) == 2);
  CHECK(some.next() == nullptr);
  CHECK(file.rows_decoded<kernel_record>() == before + 1);
}

TEST_CASE(
    "a launch that counters have slowed comes last, with the mean of the others of its shape") {
  written_capture made;
  made.rewritten(2);
  made.kernel(0, 100, 1);
  made.kernel(200, 900, 2);
  made.kernel(2000, 300, 3);
  trace_contents trace(made.read());
  summed_kernels kernels(trace);
  std::vector<std::pair<std::uint32_t, std::int64_t>> found;
  std::vector<bool> substituted;
  kernels.add(capture::only(&kernel_record::correlation),
              [&](std::span<kernel_record const> some, bool is_substituted) {
                for (auto const& kernel : some) {
                  found.emplace_back(raw(kernel.correlation), kernel.duration.value);
                  substituted.push_back(is_substituted);
                }
              });
  capture_walk walk(trace.file());
  kernels.join(walk);
  walk.run();
  kernels.finish();
  CHECK(found == std::vector<std::pair<std::uint32_t, std::int64_t>>{{1, 100}, {3, 300}, {2, 200}});
  CHECK(substituted == std::vector<bool>{false, false, true});
  CHECK(trace.file().rows_decoded<kernel_record>() == 3);
}

TEST_CASE("a slowed launch keeps its length if no other of its shape ran") {
  written_capture made;
  made.rewritten(2);
  made.kernel(200, 900, 2);
  trace_contents trace(made.read());
  summed_kernels kernels(trace);
  std::int64_t sum = 0;
  kernels.add({}, [&](std::span<kernel_record const> some, bool is_substituted) {
    CHECK_FALSE(is_substituted);
    for (auto const& kernel : some) sum += kernel.duration.value;
  });
  capture_walk walk(trace.file());
  kernels.join(walk);
  walk.run();
  kernels.finish();
  CHECK(sum == 900);
}

TEST_CASE("after each block of a walk, other tables can be read with the same reader") {
  written_capture made;
  made.call(1);
  made.kernel(10, 1, 1);
  made.kernel(11, 1, 2);
  made.block_ends();
  made.kernel(12, 1, 3);
  made.call(2);
  auto file = made.read();
  std::string order;
  capture_walk walk(file);
  walk.add_each<kernel_record>(capture::only(&kernel_record::correlation), [&](auto const& row) {
    order += std::to_string(raw(row.correlation));
  });
  walk.after_each_block<kernel_record>([&] {
    file.for_each<api_record>([&](auto calls) { order += std::string(calls.size(), 'a'); });
  });
  walk.run();
  CHECK(order == "12aa3aa");
}
