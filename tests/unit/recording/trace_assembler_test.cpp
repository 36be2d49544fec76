// SPDX-License-Identifier: Apache-2.0
// Joining GPU work with its launches: who launched what, what is wanted, what is missing.
#include "guest/recording/trace_assembler.hpp"

#include "capture/reader.hpp"
#include "guest/live/live_sink.hpp"
#include "guest/live/live_totals.hpp"
#include "guest/recording/file_sink.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

template <class Row>
std::vector<Row> capture_rows(std::string const& path) {
  auto in = capture::reader::open(path);
  REQUIRE(in);
  std::vector<Row> rows;
  in->for_each<Row>(
      [&](std::span<Row const> some) { rows.insert(rows.end(), some.begin(), some.end()); });
  return rows;
}

/// An assembler with a file behind it; read() closes the file and gives what is in it.
struct assembler_scene {
  explicit assembler_scene(trace_assembler::kernel_predicate wants = nullptr)
      : path(std::filesystem::temp_directory_path() /
             ("assembler_" + std::to_string(getpid()) + ".gpuprof")),
        file(std::move(*capture::writer::create(path, capture::create_mode::overwrite))),
        totals([this](name_id id) -> std::string_view { return text = names.text(id); }),
        written(*file),
        live({&totals}),
        assembler(records, names, std::move(wants)) {}
  ~assembler_scene() { std::filesystem::remove(path); }

  void open(std::uint64_t start = 1000) { assembler.open_window({1, {start}, {}, {}}); }
  shape_id shape(char const* name) {
    kernel_shape s;
    s.id = static_cast<shape_id>(++shapes);
    s.name = names.intern(name);
    assembler.shape(s);
    return s.id;
  }
  void launch(std::uint32_t correlation, std::uint8_t flags = 0, std::uint64_t range = 0) {
    assembler.launch({thread_index{3},
                      static_cast<correlation_id>(correlation),
                      static_cast<range_id>(range),
                      {1000 + correlation},
                      flags});
  }
  void kernel(std::uint32_t correlation, std::uint64_t start = 2000, shape_id of = {}) {
    kernel_record k;
    k.correlation = static_cast<correlation_id>(correlation);
    k.start = {start};
    k.duration = {100};
    k.shape = of;
    k.context = context_id{1};
    assembler.kernel(k);
  }
  template <class Row>
  std::vector<Row> read() {
    assembler.hand_over();
    REQUIRE(file->close());
    return capture_rows<Row>(path);
  }
  trace_counts const& counts() const { return assembler.counts(); }

  std::string path, text;
  name_registry names;
  std::unique_ptr<capture::writer> file;
  live_totals totals;
  file_sink written;
  live_sink live;
  record_sinks records{{&written, &live}};
  trace_assembler assembler;
  std::uint32_t shapes = 0;
};

template <class Record>
Record gpu_work(std::uint32_t correlation, std::uint64_t start = 2000) {
  Record r;
  r.correlation = static_cast<correlation_id>(correlation);
  r.start = {start};
  r.duration = {50};
  return r;
}

template <class Record>
Record gpu_time(std::uint64_t start) {
  Record r;
  r.start = {start};
  return r;
}

}  // namespace

TEST_CASE("a kernel gets the thread, the range and the time of its launch") {
  assembler_scene s;
  s.open();
  s.launch(7, 0, 99);
  s.kernel(7);
  auto const kernels = s.read<kernel_record>();
  REQUIRE(kernels.size() == 1);
  CHECK(kernels[0].thread == thread_index{3});
  CHECK(kernels[0].range == range_id{99});
  CHECK(kernels[0].launched.value == 1007);
  CHECK(s.counts().launches == 1);
  CHECK(s.counts().launches_matched == 1);
  CHECK(s.counts().kernels == 1);
  CHECK(s.counts().kernels_unattributed == 0);
  CHECK(s.assembler.outstanding() == 0);
}

TEST_CASE("a kernel of a graph has the stack of its node in front of that of the launch") {
  assembler_scene s;
  s.open();
  auto const describe = [&](std::uint16_t number, std::uint32_t line) {
    stack_frame_note const frame{.line = line};
    s.assembler.stack({thread_index{3}, number, {&frame, 1}});
  };
  describe(1, 10);  // makes nodes
  describe(2, 20);  // launches
  s.assembler.graph_node({graph_node_id{101}, {}, thread_index{3}, 1});
  s.assembler.graph_node({graph_node_id{102}, graph_node_id{101}, thread_index{4}});
  s.assembler.launch({thread_index{3}, correlation_id{7}, {}, {1007}, launch_of_graph, {}, {}, 2});
  for (auto const node : {102u, 999u}) {  // nothing is known of the second one
    auto k = gpu_work<kernel_record>(7);
    k.node = graph_node_id{node};
    s.assembler.kernel(k);
  }
  auto const kernels = s.read<kernel_record>();
  auto const stacks = capture_rows<stack_record>(s.path);
  REQUIRE(kernels.size() == 2);
  auto const lines_from = [&](stack_id at) {
    std::vector<std::uint32_t> lines;
    for (; raw(at) != 0; at = stacks.at(raw(at) - 1).caller)
      lines.push_back(stacks.at(raw(at) - 1).line);
    return lines;
  };
  CHECK(lines_from(kernels[0].stack) == std::vector<std::uint32_t>{10, 0, 20});
  CHECK(lines_from(kernels[1].stack) == std::vector<std::uint32_t>{20});
}

TEST_CASE("copies, sets and whole graphs also get the data of their launches") {
  assembler_scene s;
  s.open();
  s.launch(1, launch_is_copy, 11);
  s.launch(2, launch_is_copy, 12);
  s.launch(3, launch_of_graph, 13);
  s.assembler.copy(gpu_work<copy_record>(1));
  s.assembler.set(gpu_work<memset_record>(2));
  s.assembler.graph(gpu_work<graph_record>(3));
  CHECK(s.counts().copies == 1);
  CHECK(s.counts().sets == 1);
  CHECK(s.counts().graphs == 1);
  CHECK(s.counts().launches == 0);  // copies owe no kernel
  CHECK(s.counts().graph_launches == 1);
  CHECK(s.counts().graph_launches_matched == 1);
  CHECK(s.read<copy_record>().at(0).range == range_id{11});
  CHECK(s.read<memset_record>().at(0).range == range_id{12});
  CHECK(s.read<graph_record>().at(0).thread == thread_index{3});
}

TEST_CASE("a record that comes before its launch has been read waits for it") {
  assembler_scene s;
  s.open();
  s.kernel(7);
  CHECK(s.counts().kernels == 0);
  s.launch(7, 0, 99);
  s.assembler.settle_pending();
  CHECK(s.counts().kernels == 1);
  CHECK(s.counts().launches_matched == 1);
  CHECK(s.read<kernel_record>().at(0).range == range_id{99});
}

TEST_CASE("work that ended recently waits longer for its launch, other work gets none") {
  constexpr timestamp_ns long_ago{1};
  assembler_scene s;
  s.open();
  s.kernel(7);
  s.assembler.settle_pending(long_ago);
  s.assembler.settle_pending(long_ago);
  CHECK(s.counts().kernels == 0);
  s.launch(7, 0, 99);
  s.assembler.settle_pending(long_ago);
  CHECK(s.counts().kernels == 1);
  CHECK(s.counts().kernels_unattributed == 0);
  CHECK(s.read<kernel_record>().at(0).range == range_id{99});
  assembler_scene late;
  late.open();
  late.kernel(7);
  late.assembler.settle_pending({1'000'000'000'000});
  CHECK(late.counts().kernels == 1);
  CHECK(late.counts().kernels_unattributed == 1);
}

TEST_CASE("work waits for its launch though later launches were noted first") {
  assembler_scene s;
  s.open(1000);
  s.launch(8, 0, 98);
  s.kernel(7, 1500);
  s.kernel(8, 1600);
  s.assembler.settle_pending({1});
  s.launch(7, 0, 97);  // the window's first, by a thread that was held
  s.assembler.settle_pending({1});
  CHECK(s.counts().kernels == 2);
  CHECK(s.counts().launches_matched == 2);
  CHECK(s.counts().outside == 0);
  CHECK(s.read<kernel_record>().at(1).range == range_id{97});
}

TEST_CASE("too much waiting work is written without launches") {
  assembler_scene s;
  s.open();
  constexpr std::uint32_t most = 10'000;
  for (std::uint32_t i = 0; i <= most; ++i) s.kernel(7 + i);
  s.assembler.settle_pending({1});
  CHECK(s.counts().kernels == most + 1);
}

TEST_CASE("a waiting record is written once, even if settled twice") {
  assembler_scene s;
  s.open();
  s.assembler.copy(gpu_work<copy_record>(1));
  s.assembler.set(gpu_work<memset_record>(2));
  s.assembler.graph(gpu_work<graph_record>(3));
  s.kernel(4);
  s.assembler.settle_pending();
  s.assembler.settle_pending();
  CHECK(s.counts().copies == 1);
  CHECK(s.counts().sets == 1);
  CHECK(s.counts().graphs == 1);
  CHECK(s.counts().kernels == 1);
}

TEST_CASE("work without a seen launch is kept, without thread, if it ran inside a window") {
  assembler_scene s;
  s.open(1000);
  s.kernel(7, 1500);
  s.kernel(8, 999);
  s.assembler.settle_pending();
  CHECK(s.counts().kernels == 1);
  CHECK(s.counts().kernels_unattributed == 1);
  CHECK(s.counts().outside == 1);
  CHECK(s.read<kernel_record>().at(0).thread == thread_index{});
}

TEST_CASE("work launched inside a window is kept though it runs after the window's end") {
  assembler_scene s;
  s.open(1000);
  s.launch(5);
  s.assembler.close_window({3000});
  s.kernel(5, 9000);
  s.kernel(6, 9000);
  s.assembler.settle_pending();
  CHECK(s.counts().kernels == 1);
  CHECK(s.counts().outside == 1);
}

TEST_CASE("only work of windows counts as progress") {
  assembler_scene s;
  s.open(1000);
  s.launch(5);
  s.launch(6);
  s.kernel(5, 1500);
  s.assembler.close_window({3000});
  auto before = s.assembler.progress();
  s.kernel(6, 9000);
  CHECK(s.assembler.progress() > before);
  before = s.assembler.progress();
  s.kernel(7, 2500);  // nobody was seen to launch it
  CHECK(s.assembler.progress() > before);
  s.assembler.settle_pending();
  before = s.assembler.progress();
  s.kernel(8, 9000);
  s.assembler.copy(gpu_work<copy_record>(9, 9500));
  sync_record after;
  after.start = {9900};
  s.assembler.sync(after);
  s.assembler.settle_pending();
  CHECK(s.assembler.progress() == before);
  CHECK(s.counts().outside == 2);
}

TEST_CASE("windows are written when they open and again when they close") {
  assembler_scene s;
  CHECK_FALSE(s.assembler.window_open());
  s.open(1000);
  CHECK(s.assembler.window_open());
  s.assembler.close_window({3000});
  CHECK_FALSE(s.assembler.window_open());
  s.assembler.close_window({4000});  // nothing is open: nothing happens
  s.assembler.open_window({2, {5000}, {}, {}});
  auto const windows = s.read<window_record>();
  REQUIRE(windows.size() == 3);
  CHECK(windows[0].end.value == 0);
  CHECK(windows[1].index == 1);
  CHECK(windows[1].end.value == 3000);
  CHECK(windows[2].index == 2);
}

TEST_CASE("a launch without a record gets the record of its pattern, up to its own end") {
  auto const unrecorded = [](std::uint32_t correlation) {
    return launch_note{.thread = thread_index{3},
                       .correlation = static_cast<correlation_id>(correlation),
                       .range = static_cast<range_id>(7),
                       .time = {1000 + correlation},
                       .alike = correlation_id{1},
                       .ran_from = {5000 + correlation},
                       .ran_to = {5300 + correlation}};
  };
  auto const pattern_comes_late = GENERATE(false, true);
  assembler_scene s;
  s.open(1000);
  auto const shape = s.shape("kernel");
  s.launch(1, launch_is_pattern);
  if (!pattern_comes_late) s.kernel(1, 2000, shape);
  s.assembler.launch(unrecorded(2));
  s.assembler.launch(unrecorded(3));
  s.assembler.settle_pending();
  CHECK(s.assembler.outstanding() == (pattern_comes_late ? 3 : 0));
  if (pattern_comes_late) s.kernel(1, 2000, shape);
  s.assembler.settle_pending();
  CHECK(s.assembler.outstanding() == 0);
  CHECK(s.counts().kernels == 3);
  auto const kernels = s.read<kernel_record>();
  REQUIRE(kernels.size() == 3);
  CHECK(kernels[0].start.value == 2000);
  CHECK(kernels[2].correlation == correlation_id{3});
  CHECK(kernels[2].shape == shape);
  CHECK(kernels[2].start.value == 5203);  // as long as its pattern, until its thread saw it end
  CHECK(kernels[2].duration.value == 100);
  CHECK(kernels[2].range == range_id{7});
  CHECK(kernels[2].launched.value == 1003);
}

TEST_CASE(
    "a launch without a record is as long as its pattern if the clock was set back meanwhile") {
  assembler_scene s;
  s.open(1000);
  auto const shape = s.shape("kernel");
  s.launch(1, launch_is_pattern);
  s.kernel(1, 2000, shape);
  s.assembler.launch({.correlation = correlation_id{2},
                      .time = {1002},
                      .alike = correlation_id{1},
                      .ran_from = {5000},
                      .ran_to = {3000}});
  s.assembler.settle_pending();
  auto const kernels = s.read<kernel_record>();
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[1].duration.value == 100);
  CHECK(kernels[1].start.value == 2900);
}

TEST_CASE("a kernel without a time counts as lost if it was launched in a window") {
  assembler_scene s;
  s.open(1000);
  s.launch(1);
  s.kernel(1, 0);
  s.assembler.close_window({3000});
  s.kernel(2, 0);  // launched later: cut off when the program ended
  s.assembler.settle_pending();
  CHECK(s.counts().kernels_without_time == 1);
  CHECK(s.counts().kernels == 0);
  CHECK(s.assembler.outstanding() == 0);
}

TEST_CASE("a launch whose pattern is not in this capture stays without a record") {
  assembler_scene s;
  s.open(1000);
  s.assembler.launch({.correlation = correlation_id{2},
                      .time = {1002},
                      .alike = correlation_id{1},
                      .ran_from = {5000},
                      .ran_to = {5300}});
  s.assembler.settle_pending();
  CHECK(s.counts().kernels == 0);
  CHECK(s.assembler.outstanding() == 1);
}

TEST_CASE("records between two windows are dropped, those inside either are kept") {
  assembler_scene s;
  s.open(1000);
  s.assembler.close_window({2000});
  s.assembler.open_window({2, {3000}, {}, {}});
  for (auto const start : {1000, 2000, 2500, 3000, 9000}) s.kernel(0, start);
  s.assembler.settle_pending();
  CHECK(s.counts().kernels == 4);
  CHECK(s.counts().outside == 1);
}

TEST_CASE(
    "work launched between two windows belongs to neither, though it runs inside the second") {
  assembler_scene s;
  s.open(1000);
  s.launch(1);
  s.assembler.close_window({2000});
  s.launch(2100);  // in the second window, and read from its ring before that is opened here
  s.assembler.open_window({2, {3000}, {}, {}});
  s.kernel(1500, 3050);
  s.kernel(2101, 3150);  // by a call we do not know, after the window's first launch
  s.assembler.settle_pending();
  CHECK(s.counts().outside == 1);
  CHECK(s.counts().kernels_unattributed == 1);
}

TEST_CASE("launches that failed or went into a graph need no record") {
  assembler_scene s;
  s.open();
  s.launch(1, launch_failed);
  s.launch(2, launch_captured);
  s.launch(3, launch_failed | launch_of_graph);
  CHECK(s.counts().launches == 0);
  CHECK(s.counts().graph_launches == 0);
  CHECK(s.assembler.outstanding() == 0);
}

TEST_CASE("each launch without a record counts as missing, until the record arrives") {
  assembler_scene s;
  s.open();
  for (std::uint32_t c = 1; c <= 10; ++c) s.launch(c);
  for (std::uint32_t c = 1; c <= 7; ++c) s.kernel(c);
  CHECK(s.assembler.outstanding() == 3);
  CHECK(s.counts().launches - s.counts().launches_matched == 3);
  for (std::uint32_t c = 8; c <= 10; ++c) s.kernel(c);
  CHECK(s.assembler.outstanding() == 0);
}

TEST_CASE("a graph launch is matched by its first node's record, and gives all nodes its range") {
  assembler_scene s;
  s.open();
  s.launch(5, launch_of_graph, 42);
  CHECK(s.assembler.outstanding() == 1);
  for (int node = 0; node < 10; ++node) s.kernel(5);
  CHECK(s.assembler.outstanding() == 0);
  CHECK(s.counts().graph_launches_matched == 1);
  CHECK(s.counts().launches_matched == 0);
  CHECK(s.counts().kernels == 10);
  for (auto const& k : s.read<kernel_record>()) CHECK(k.range == range_id{42});
}

TEST_CASE("kernels that the GPU launches inside a graph have no correlation id and are kept") {
  assembler_scene s;
  s.open(1000);
  launch_note note{};
  note.correlation = correlation_id{5};
  note.time = {1005};
  note.flags = launch_of_graph;
  s.assembler.launch(note);
  s.kernel(5);
  auto body = gpu_work<kernel_record>(0, 2100);
  body.node = graph_node_id{7};
  for (int turn = 0; turn < 3; ++turn) s.assembler.kernel(body);
  body.start = {900};  // before the window
  s.assembler.kernel(body);
  s.assembler.settle_pending();
  CHECK(s.counts().kernels == 4);
}

TEST_CASE("kernels that can launch work from the GPU are counted as they are written") {
  assembler_scene s;
  s.assembler.find_launching_kernels([](std::string_view mangled) { return mangled == "parent"; });
  auto const parent = s.shape("parent"), child = s.shape("child");
  s.open();
  for (std::uint32_t launched = 1; launched <= 3; ++launched) s.launch(launched);
  s.kernel(1, 2000, parent);
  s.kernel(2, 2000, child);
  s.kernel(3, 2000, parent);
  CHECK(s.counts().launching_kernels == 2);
}

TEST_CASE("a kernel without a time matches its launch and is not written") {
  assembler_scene s;
  s.open();
  s.launch(1);
  s.kernel(1, 0);
  CHECK(s.assembler.outstanding() == 0);
  CHECK(s.counts().kernels == 0);
  s.kernel(2, 0);  // its launch is read later
  s.launch(2);
  s.assembler.settle_pending();
  CHECK(s.assembler.outstanding() == 0);
  CHECK(s.counts().kernels == 0);
}

TEST_CASE("a launch outside the launch filters drops its kernel, without a loss") {
  assembler_scene s;
  s.open();
  s.launch(1, launch_not_selected);
  s.kernel(1);
  CHECK(s.counts().launches == 0);
  CHECK(s.counts().kernels == 0);
  CHECK(s.counts().kernels_filtered == 1);
  CHECK(s.assembler.outstanding() == 0);
}

TEST_CASE(
    "the trace is complete up to the oldest launch without a record, and not beyond the flush") {
  assembler_scene s;
  s.open();
  auto const until = [&](std::uint64_t flushed) {
    return s.assembler.complete_until({flushed}).value;
  };
  CHECK(until(5000) == 5000);
  for (std::uint32_t c = 1; c <= 4; ++c) s.launch(c);  // at 1001 to 1004
  s.launch(5, launch_not_selected);
  s.launch(6, launch_is_copy);
  s.launch(7, launch_of_graph);
  CHECK(until(5000) == 1000);
  s.kernel(1);
  s.kernel(3);
  CHECK(until(5000) == 1001);
  CHECK(until(900) == 900);
  s.kernel(2);
  s.kernel(4);
  CHECK(until(5000) == 1006);
  s.kernel(7);
  CHECK(until(5000) == 5000);
}

TEST_CASE("a launch without a record holds back the others for ten seconds, and is counted") {
  assembler_scene s;
  s.open();
  s.launch(1);
  s.launch(2);
  constexpr std::uint64_t limit = 10'000'000'000;
  CHECK(s.assembler.complete_until({1001 + limit}).value == 1000);
  CHECK(s.counts().launches_given_up == 0);
  CHECK(s.assembler.complete_until({1002 + limit}).value == 1001);
  CHECK(s.counts().launches_given_up == 1);
  s.kernel(2);
  CHECK(s.assembler.complete_until({1002 + limit}).value == 1002 + limit);
  CHECK(s.assembler.outstanding() == 1);
}

TEST_CASE("launches have been seen up to the oldest without a record") {
  assembler_scene s;
  s.open();
  CHECK(s.assembler.launches_seen_until({5000}).value == 5000);
  s.launch(1);
  s.launch(2, launch_of_graph);
  CHECK(s.assembler.launches_seen_until({5000}).value == 1000);
  CHECK(s.assembler.launches_seen_until({900}).value == 900);
  s.kernel(1);
  CHECK(s.assembler.launches_seen_until({5000}).value == 1001);
  s.kernel(2);
  CHECK(s.assembler.launches_seen_until({5000}).value == 5000);
  s.launch(3);  // a kernel that lasts for a minute
  constexpr std::uint64_t minute = 60'000'000'000;
  CHECK(s.assembler.launches_seen_until({minute}).value < 5000);
  CHECK(s.counts().launches_given_up == 0);
}

TEST_CASE("the trace is complete only up to a record that waits for its launch") {
  assembler_scene s;
  s.open();
  s.kernel(9, 2000);
  CHECK(s.assembler.complete_until({5000}).value == 1999);
  s.assembler.settle_pending();
  CHECK(s.assembler.complete_until({5000}).value == 5000);
}

TEST_CASE("graph nodes are filtered by name, each name asked for once") {
  std::vector<std::string> asked;
  assembler_scene s([&](std::string_view name) {
    asked.emplace_back(name);
    return name == "wanted";
  });
  s.open();
  auto const wanted = s.shape("wanted"), other = s.shape("other");
  s.launch(1, launch_of_graph);
  for (int i = 0; i < 3; ++i) {
    s.kernel(1, 2000, wanted);
    s.kernel(1, 2000, other);
  }
  CHECK(s.counts().kernels == 3);
  CHECK(s.counts().kernels_filtered == 3);
  CHECK(asked == std::vector<std::string>{"wanted", "other"});
}

TEST_CASE(
    "API calls, synchronizations and memory are kept only inside windows, without own calls") {
  assembler_scene s;
  s.open(1000);
  note_own_thread(77);
  api_record call;
  call.start = {1500};
  call.os_thread = 5;
  s.assembler.api(call);
  call.os_thread = 77;
  s.assembler.api(call);
  forget_own_thread(77);
  call.os_thread = 5;
  call.start = {500};
  s.assembler.api(call);
  CHECK(s.counts().calls == 1);
  s.assembler.sync(gpu_time<sync_record>(1500));
  s.assembler.sync(gpu_time<sync_record>(500));
  s.assembler.memory({.time = {1500}});
  s.assembler.memory({.time = {500}});
  s.assembler.unified_memory(gpu_time<unified_memory_record>(1500));
  s.assembler.unified_memory(gpu_time<unified_memory_record>(500));
  CHECK(s.read<api_record>().size() == 1);
  CHECK(s.read<sync_record>().size() == 1);
  CHECK(s.read<memory_record>().size() == 1);
  CHECK(s.read<unified_memory_record>().size() == 1);
}

TEST_CASE("a call noted by its thread becomes a row like one from CUPTI, only in windows") {
  assembler_scene s;
  s.assembler.name_calls([&](std::uint32_t id) { return s.names.intern(std::to_string(id)); });
  auto const call = [&](std::uint64_t start, std::uint32_t correlation) {
    s.assembler.call({{start},
                      {250},
                      5,
                      static_cast<correlation_id>(correlation),
                      126,
                      correlation == 2 ? 3 : 0});
  };
  call(900, 9);  // before what was captured
  s.assembler.windows_are_known();
  call(500, 8);
  call(1500, 1);  // rings are read beside the queue of windows
  s.open(1000);
  s.assembler.windows_are_known();
  call(1600, 2);
  call(700, 7);
  s.assembler.close_window({1700});
  call(1650, 3);  // it returned before the end, its ring was read later
  call(1800, 6);
  CHECK(s.counts().calls == 3);
  auto const rows = s.read<api_record>();
  REQUIRE(rows.size() == 3);
  CHECK(raw(rows[0].correlation) == 1);
  CHECK(rows[0].start.value == 1500);
  CHECK(raw(rows[1].correlation) == 2);
  CHECK(rows[1].duration.value == 250);
  CHECK(rows[1].domain == api_domain::driver);
  CHECK(rows[1].os_thread == 5);
  CHECK(rows[1].result == 3);
  CHECK(s.names.text(rows[1].name) == "126");
  CHECK(raw(rows[2].correlation) == 3);
}

TEST_CASE("calls that the profiler makes on threads of the program are not part of the trace") {
  assembler_scene s;
  s.open(1000);
  auto const call = [&](std::uint32_t thread, std::uint64_t start, std::int64_t length) {
    api_record made;
    made.os_thread = thread;
    made.start = {start};
    made.duration = {length};
    s.assembler.api(made);
  };
  s.assembler.own_calls_made({5, {1500}, {}});  // under way
  call(5, 1510, 10);
  call(5, 1490, 50);  // the call of the program in which it happens
  call(6, 1510, 10);
  CHECK(s.counts().calls == 2);
  s.assembler.own_calls_made({5, {1500}, {1530}});
  s.assembler.own_calls_made({5, {1700}, {1720}});
  call(5, 1521, 9);
  call(5, 1701, 9);
  CHECK(s.counts().calls == 2);
  call(5, 1535, 10);
  call(5, 1525, 100);
  CHECK(s.counts().calls == 4);
}

TEST_CASE("a context is written once, before the first work in it") {
  assembler_scene s;
  s.open();
  for (std::uint32_t c = 1; c <= 3; ++c) {
    s.launch(c);
    s.kernel(c);
  }
  CHECK(s.read<context_record>().size() == 1);
}

TEST_CASE("ranges and marks are written to the file, and ranges to the totals with their work") {
  assembler_scene s;
  s.open();
  s.shape("gemm");
  s.assembler.begin({.time = {1000}, .range = range_id{9}, .name = s.names.intern("step")});
  s.launch(1, 0, 9);
  s.kernel(1, 2000, shape_id{1});
  s.assembler.end({.time = {3000}, .range = range_id{9}});
  s.assembler.mark({.time = {3500}});
  CHECK(s.counts().ranges == 1);
  CHECK(s.counts().marks == 1);
  s.assembler.settle_pending();
  auto const totals = s.totals.snapshot();
  REQUIRE(totals.ranges.size() == 1);
  CHECK(totals.ranges[0].name == "step");
  CHECK(totals.ranges[0].cpu_ns == 2000);
  CHECK(totals.ranges[0].gpu_ns == 100);
  REQUIRE(totals.kernels.size() == 1);
  CHECK(totals.kernels[0].name == "gemm");
  CHECK(s.read<range_begin>().size() == 1);
  CHECK(s.read<range_end>().size() == 1);
  CHECK(s.read<mark_record>().size() == 1);
}

TEST_CASE("totals are kept even if there is no file") {
  name_registry names;
  std::string text;
  live_totals totals([&](name_id id) -> std::string_view { return text = names.text(id); });
  record_sinks to({&totals});
  trace_assembler assembler(to, names, nullptr);
  assembler.open_window({1, {1000}, {}, {}});
  assembler.launch({thread_index{1}, correlation_id{1}, {}, {1500}, 0});
  assembler.kernel(gpu_work<kernel_record>(1));
  assembler.settle_pending();
  CHECK(totals.snapshot().kernel_count == 1);
}

TEST_CASE("launches dropped for lack of room are counted, and their kernels are not lost") {
  constexpr std::uint32_t launches = (1u << 20) + 5;
  assembler_scene s;
  s.open();
  for (std::uint32_t c = 1; c <= launches; ++c) s.launch(c);
  CHECK(s.assembler.launches_forgotten() == 5);
  CHECK(s.assembler.table_bytes() <= std::size_t{64} << 20);
  for (std::uint32_t c = 1; c <= launches; ++c) s.kernel(c);
  s.assembler.settle_pending();
  CHECK(s.counts().kernels == launches);
  CHECK(s.counts().kernels_unattributed == 5);
  CHECK(s.assembler.outstanding() == 0);
}

TEST_CASE("copies that never have a record, as from host to host, are not lost and use no memory") {
  assembler_scene s;
  s.open();
  for (std::uint32_t c = 1; c <= 3'000'000; ++c)
    s.assembler.launch({.correlation = static_cast<correlation_id>(c),
                        .time = {1000 + std::uint64_t{c} * 5'000},
                        .flags = launch_is_copy});
  CHECK(s.assembler.launches_forgotten() == 0);
  CHECK(s.assembler.table_bytes() <= (std::size_t{1} << 19) * sizeof(guest::launch));
}

TEST_CASE("all kernels of a graph get its thread and range, whatever is launched meanwhile") {
  assembler_scene s;
  s.open();
  s.launch(1, launch_of_graph, 77);
  s.kernel(1);
  for (std::uint32_t c = 2; c <= 100'000; ++c) {
    s.launch(c);
    s.kernel(c);
    if (c % 10'000 == 0) s.kernel(1);
  }
  CHECK(s.counts().kernels_unattributed == 0);
  CHECK(s.counts().graph_launches_matched == 1);
  auto const kernels = s.read<kernel_record>();
  CHECK(std::count_if(kernels.begin(), kernels.end(), [](kernel_record const& k) {
          return k.range == range_id{77} && k.thread == thread_index{3};
        }) == 11);
}

TEST_CASE("copies of a graph that was recorded as a whole are computed and counted") {
  assembler_scene s;
  s.assembler.compute_graphs();
  s.open();
  s.launch(7, launch_of_graph, 99);
  s.launch(8, launch_of_graph, 77);
  auto copy = gpu_work<copy_record>(7);
  copy.graph = graph_id{5};
  copy.node = graph_node_id{6};
  copy.bytes = 64;
  s.assembler.copy(copy);
  auto whole = gpu_work<graph_record>(8, 3000);
  whole.graph = graph_id{5};
  s.assembler.graph(whole);
  CHECK(s.counts().copies == 0);
  s.assembler.settle_pending();
  CHECK(s.counts().copies == 2);
  CHECK(s.counts().graphs == 0);
  CHECK(s.counts().graphs_computed == 1);
  auto const copies = s.read<copy_record>();
  REQUIRE(copies.size() == 2);
  CHECK(copies[0].range == range_id{99});
  CHECK(copies[0].time_of == correlation_id{0});
  CHECK(copies[1].start == timestamp_ns{3000});
  CHECK(copies[1].bytes == 64);
  CHECK(copies[1].range == range_id{77});
  CHECK(copies[1].time_of == correlation_id{7});
}

TEST_CASE("a correlation id that recurs hours later belongs to another launch") {
  constexpr std::uint64_t hours = 2 * 3'600'000'000'000;
  assembler_scene s;
  s.open();
  s.launch(7, 0, 99);
  s.launch(8, launch_is_copy, 99);  // from host to host
  s.launch(9, 0, 99);
  s.kernel(7);
  s.kernel(7, 2000 + hours);
  s.assembler.copy(gpu_work<copy_record>(8, 2000 + hours));
  s.kernel(9, 2000 + hours);  // this one has waited all the time
  s.assembler.settle_pending();
  CHECK(s.counts().kernels == 3);
  CHECK(s.counts().kernels_unattributed == 1);
  CHECK(s.counts().copy_calls_matched == 0);
  CHECK(s.assembler.outstanding() == 0);
  CHECK(s.read<copy_record>().at(0).range == range_id{});
}

TEST_CASE("work without a seen launch is kept if correlation ids wrap around in the window") {
  assembler_scene s;
  s.open(1000);
  s.assembler.launch({.correlation = correlation_id{0xffff'fff0}, .time = {1500}});
  s.kernel(0xffff'ff00, 1600);  // launched before the window
  s.kernel(3, 1700);
  s.assembler.settle_pending();
  CHECK(s.counts().kernels == 1);
  CHECK(s.counts().outside == 1);
  s.assembler.launch({.correlation = correlation_id{5}, .time = {1800}});
  s.kernel(0xffff'ff01, 1900);
  s.assembler.settle_pending();
  CHECK(s.counts().outside == 2);
  // So long after the window's first launch ids tell nothing.
  constexpr std::uint64_t hour = 3'600'000'000'000;
  s.kernel(0xffff'ff02, 1900 + hour);
  s.assembler.settle_pending();
  CHECK(s.counts().kernels == 2);
}

TEST_CASE("totals count launches of a thread without ranges in the range that waits for it") {
  assembler_scene s;
  s.open();
  range_begin step;
  step.time = {1002};
  step.range = range_id{99};
  step.thread = thread_index{1};
  step.name = s.names.intern("step");
  s.live.main_thread_is(thread_index{1});
  s.assembler.begin(step);
  s.launch(1);  // before it began
  s.launch(7);
  s.kernel(1);
  s.kernel(7);
  auto const kernels = s.read<kernel_record>();
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[1].range == range_id{});  // the file has what was seen
  auto const ranges = s.totals.snapshot().ranges;
  REQUIRE(ranges.size() == 1);
  CHECK(ranges[0].gpu_operations == 1);
  CHECK(ranges[0].gpu_ns == 100);
}
