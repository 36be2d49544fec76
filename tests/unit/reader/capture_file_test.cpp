// SPDX-License-Identifier: Apache-2.0
// gpuprof::capture_file: records as the rows of the file have them, in order of time, with the
// fields and in the stretches that are asked for.
#include <gpuprof/capture.hpp>

#include "host/reading/exported_names.hpp"
#include "host/reading/time_merge.hpp"
#include "support/test_data.hpp"
#include "unit/reader/imported_table.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

// The header repeats enums of the model, with their values.
static_assert(int(captured_copy_kind::peer_to_peer) == int(copy_kind::peer_to_peer));
static_assert(int(captured_copy_kind::array_to_device) == int(copy_kind::array_to_device));
static_assert(int(captured_memory_kind::managed_static) == int(memory_kind::managed_static));
static_assert(int(captured_memory_operation::release) == int(memory_operation::release));
static_assert(int(captured_api::driver) == int(api_domain::driver));
static_assert(int(captured_range_style::start_end) == int(range_style::start_end));

std::vector<std::string> const compared_captures{
    "h200/counted_auto.gpuprof", "h200/mixed_exact.gpuprof", "h200/mixed_sampled.gpuprof",
    "h100/ddp.rank1.gpuprof", "capture_v1.gpuprof"};

capture_query everything() {
  capture_query query;
  query.add<captured_range>().add<captured_mark>().add<captured_call>().add<captured_kernel>();
  query.add<captured_graph>().add<captured_copy>().add<captured_fill>().add<captured_sync>();
  query.add<captured_memory>().add<captured_reading>().add<captured_sample>();
  query.add<captured_chip_state>();
  return query;
}

/// Of rows and of records: kind, time, and what tells them apart.
struct seen {
  captured_kind kind{};
  std::uint64_t time = 0, value = 0;
  std::string text;
  bool operator==(seen const&) const = default;
};

/// What the reader of rows says, in the order that the interface promises.
struct row_listener {
  exported_names& names;
  std::vector<seen> all;
  void operator()(range_begin const& r) {
    add(captured_kind::range, r.time, raw(r.range), names.text(r.name) + names.text(r.domain));
  }
  void operator()(mark_record const& r) {
    add(captured_kind::mark, r.time, 0, names.text(r.name) + names.text(r.domain));
  }
  void operator()(api_record const& r) {
    add(captured_kind::call, r.start, raw(r.correlation), names.text(r.name));
  }
  void operator()(kernel_record const& r) {
    add(captured_kind::kernel, r.start, raw(r.correlation), names.kernel_of(r.shape).demangled);
  }
  void operator()(graph_record const& r) { add(captured_kind::graph, r.start, raw(r.graph), {}); }
  void operator()(copy_record const& r) {
    add(captured_kind::copy, r.start, r.bytes, std::to_string(int(r.kind)));
  }
  void operator()(memset_record const& r) { add(captured_kind::fill, r.start, r.bytes, {}); }
  void operator()(sync_record const& r) {
    add(captured_kind::sync, r.start, raw(r.correlation), std::to_string(r.type));
  }
  void operator()(memory_record const& r) { add(captured_kind::memory, r.time, r.bytes, {}); }
  void operator()(read_launch_record const& r) {
    add(captured_kind::reading, r.opened, raw(r.correlation), {});
  }
  void operator()(sample_record const& r) {
    add(captured_kind::sample, r.start, std::bit_cast<std::uint64_t>(r.value), {});
  }
  void operator()(chip_state_record const& r) {
    add(captured_kind::chip_state, r.time, raw(r.device), {});
  }
  void add(captured_kind kind, timestamp_ns time, std::uint64_t value, std::string text) {
    all.push_back({kind, time.value, value, std::move(text)});
  }
};

std::vector<seen> rows_in_time(std::string const& path, time_stretches const& stretches = {}) {
  trace_contents trace(std::move(*capture::reader::open(path)));
  exported_names names(trace);
  row_listener listener{names, {}};
  for_each_in_time<range_begin, mark_record, api_record, kernel_record, graph_record, copy_record,
                   memset_record, sync_record, memory_record, read_launch_record, sample_record,
                   chip_state_record>(trace.file(), listener, stretches);
  return listener.all;
}

seen seen_of(captured_range const& r) {
  return {captured_kind::range, r.start_ns, r.id, std::string(r.name) + std::string(r.domain)};
}
seen seen_of(captured_mark const& r) {
  return {captured_kind::mark, r.time_ns, 0, std::string(r.name) + std::string(r.domain)};
}
seen seen_of(captured_call const& r) {
  return {captured_kind::call, r.start_ns, r.correlation, std::string(r.name)};
}
seen seen_of(captured_kernel const& r) {
  return {captured_kind::kernel, r.start_ns, r.correlation, std::string(r.name)};
}
seen seen_of(captured_graph const& r) {
  return {captured_kind::graph, r.start_ns, r.graph, {}};
}
seen seen_of(captured_copy const& r) {
  return {captured_kind::copy, r.start_ns, r.bytes, std::to_string(int(r.kind))};
}
seen seen_of(captured_fill const& r) {
  return {captured_kind::fill, r.start_ns, r.bytes, {}};
}
seen seen_of(captured_sync const& r) {
  return {captured_kind::sync, r.start_ns, r.correlation, std::to_string(int(r.kind))};
}
seen seen_of(captured_memory const& r) {
  return {captured_kind::memory, r.time_ns, r.bytes, {}};
}
seen seen_of(captured_reading const& r) {
  return {captured_kind::reading, r.opened_ns, r.correlation, {}};
}
seen seen_of(captured_sample const& r) {
  return {captured_kind::sample, r.start_ns, std::bit_cast<std::uint64_t>(r.value), {}};
}
seen seen_of(captured_chip_state const& r) {
  return {captured_kind::chip_state, r.time_ns, r.device, {}};
}

template <class... Records>
void add_batch(std::vector<seen>& to, capture_batch const& batch) {
  auto const add = [&](auto const& records) {
    for (auto const& record : records) to.push_back(seen_of(record));
  };
  (add(batch.as<Records>()), ...);
}

std::vector<seen> records_of(std::string const& path, capture_query const& query) {
  capture_file run(path);
  std::vector<seen> all;
  for (auto const& batch : run.read(query)) {
    auto const before = all.size();
    REQUIRE(batch.size() > 0);
    add_batch<captured_range, captured_mark, captured_call, captured_kernel, captured_graph,
              captured_copy, captured_fill, captured_sync, captured_memory, captured_reading,
              captured_sample, captured_chip_state>(all, batch);
    REQUIRE(all.size() - before == batch.size());
  }
  return all;
}

}  // namespace

TEST_CASE("records of all kinds equal the rows of the file, in one order of time") {
  for (auto const& name : compared_captures) {
    INFO(name);
    auto const rows = rows_in_time(test_data(name));
    CHECK(rows.size() > 40);
    CHECK(records_of(test_data(name), everything()) == rows);
  }
}

TEST_CASE("a stretch of time gives the records that begin in it, including its ends") {
  for (auto const& name : compared_captures) {
    INFO(name);
    auto const all = rows_in_time(test_data(name));
    // The first record of the second stretch begins just where that begins.
    time_stretches const stretches{{{all[all.size() / 8].time}, {all[all.size() / 4].time}},
                                   {{all[all.size() / 2].time}, {all[all.size() / 2].time + 1000}}};
    auto query = everything();
    for (auto const& one : stretches) query.within({one.begin.value, one.end.value});
    auto const rows = rows_in_time(test_data(name), stretches);
    CHECK(!rows.empty());
    CHECK(rows.size() < all.size());
    CHECK(records_of(test_data(name), query) == rows);
  }
}

TEST_CASE("chosen fields have the same values as with all fields, and others keep their default") {
  capture_file run(test_data("h100/ddp.rank1.gpuprof"));
  std::vector<captured_kernel> whole;
  for (auto const& kernel : run.read<captured_kernel>()) whole.push_back(kernel);
  REQUIRE(whole.size() > 500);
  auto const count_of = [&](auto kernels, auto is_as_expected) {
    std::size_t at = 0, right = 0;
    for (auto const& kernel : kernels) right += is_as_expected(kernel, whole.at(at++));
    return right;
  };
  CHECK(count_of(run.read<captured_kernel>(&captured_kernel::duration_ns, &captured_kernel::stream),
                 [](captured_kernel const& part, captured_kernel const& all) {
                   return part.start_ns == all.start_ns && part.duration_ns == all.duration_ns &&
                          part.stream == all.stream && part.correlation == 0 &&
                          part.launched_ns == 0 && part.os_thread == 0 && part.name.empty() &&
                          part.grid.x == 0;
                 }) == whole.size());
  CHECK(count_of(run.read<captured_kernel>(&captured_kernel::base_name),
                 [](captured_kernel const& part, captured_kernel const& all) {
                   return part.base_name == all.base_name && part.duration_ns == 0;
                 }) == whole.size());
}

TEST_CASE("each field of a record can be read alone") {
  auto const alone = []<class Record, class Field>(capture_file& run, Field Record::*field) {
    std::vector<Field> all, chosen;
    for (auto const& record : run.template read<Record>()) all.push_back(record.*field);
    for (auto const& record : run.template read<Record>(field)) chosen.push_back(record.*field);
    CHECK(!all.empty());
    CHECK(chosen == all);
  };
  capture_file run(test_data("h100/ddp.rank1.gpuprof"));
  alone(run, &captured_range::duration_ns);
  alone(run, &captured_range::id);
  alone(run, &captured_range::parent);
  alone(run, &captured_range::name);
  alone(run, &captured_range::domain);
  alone(run, &captured_range::os_thread);
  alone(run, &captured_range::style);
  alone(run, &captured_range::color);
  alone(run, &captured_range::payload);
  alone(run, &captured_kernel::mangled_name);
  alone(run, &captured_kernel::registers_per_thread);
  alone(run, &captured_kernel::dynamic_shared_bytes);
  alone(run, &captured_copy::bytes);
  alone(run, &captured_copy::kind);
  alone(run, &captured_copy::destination_kind);
  alone(run, &captured_copy::copy_count);
  capture_file counted(test_data("h200/counted_auto.gpuprof"));
  alone(counted, &captured_reading::values);
  alone(counted, &captured_reading::closed_ns);
  capture_file sampled(test_data("h200/mixed_sampled.gpuprof"));
  alone(sampled, &captured_sample::metric);
  alone(sampled, &captured_sample::value);
  alone(sampled, &captured_sample::device);
}

TEST_CASE("readings have the counted values, with CUPTI's names") {
  capture_file run(test_data("h200/counted_auto.gpuprof"));
  std::size_t values = 0;
  for (auto const& reading : run.read<captured_reading>())
    for (auto const& value : reading.values)
      values += value.first.find("__") != std::string_view::npos;
  CHECK(values > 100);
}

TEST_CASE("two readers of one file can be used alternately, in batches") {
  capture_file run(test_data("h100/ddp.rank1.gpuprof"));
  std::vector<std::uint64_t> expected;
  for (auto const& kernel : run.read<captured_kernel>()) expected.push_back(kernel.start_ns);
  auto a = run.read<captured_kernel>(), b = run.read<captured_kernel>();
  std::vector<std::uint64_t> of_a, of_b;
  for (bool more = true; more;) {
    more = false;
    for (auto* const turn : {&a, &b}) {
      auto const batch = turn->next();
      for (auto const& kernel : batch) (turn == &a ? of_a : of_b).push_back(kernel.start_ns);
      more = more || !batch.empty();
    }
  }
  CHECK(of_a == expected);
  CHECK(of_b == expected);
}

TEST_CASE("an empty query gives nothing, and a kind without records ends at once") {
  capture_file run(test_data("h100/ddp.rank1.gpuprof"));
  capture_batch batch;
  CHECK_FALSE(run.read(capture_query{}).next(batch));
  std::size_t records = 0;
  for (auto const& one : run.read<captured_graph>()) records += one.graph != 0;
  CHECK(records == 0);
}

TEST_CASE("units of peaks are distinguished") {
  capture_file run(test_data("h100/ddp.rank1.gpuprof"));
  auto const peaks = run.peaks();
  CHECK(!peaks.empty());
  for (auto const& peak : peaks) {
    CHECK(peak.unit != captured_unit::unknown);
    if (peak.test.substr(0, 4) == "dram") CHECK(name_of(peak.unit) == "B/s");
    if (peak.test.substr(0, 7) == "tensor_" && peak.test != "tensor_int8")
      CHECK(name_of(peak.unit) == "FLOP/s");
  }
}
