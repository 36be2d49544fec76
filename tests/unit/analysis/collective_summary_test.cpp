// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/collective_summary.hpp"

#include "model/name_table.hpp"
#include "support/catch.hpp"

#include <string>

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

/// What NCCL 2.24 and newer writes, and kernels of 3 us in its ranges.
struct nccl_run {
  name_table names;
  collective_times times{[this](name_id id) { return names.text(id); }};
  std::uint64_t ranges = 0;

  template <class Record>
  Record of_nccl(std::string_view name, std::string_view payload) {
    Record row;
    row.name = names.intern(name);
    row.domain = names.intern(nccl_domain);
    row.payload = payload_kind::text;
    row.payload_bits = raw(names.intern(payload));
    return row;
  }
  void mark(std::string_view name, std::string_view payload) {
    auto mark = of_nccl<mark_record>(name, payload);
    mark.thread = thread_index{1};
    times.add(mark);
  }
  void collective(std::string_view name, std::string_view payload) {
    auto range = of_nccl<range_begin>(name, payload);
    range.range = range_id{++ranges};
    times.add(range);
  }
  collective_rate_row only_row() {
    for (std::uint64_t id = 1; id <= ranges; ++id) {
      kernel_record kernel;
      kernel.range = range_id{id};
      kernel.duration = {3'000};
      times.add(kernel);
    }
    auto const rows = times.rows();
    REQUIRE(rows.size() == 1);
    return rows.front();
  }
};

constexpr std::string_view all_reduce =
    R"({"NCCL communicator ID":77,"Message size [bytes]":6000,"Reduction operation":"Sum"})";

}  // namespace

TEST_CASE("the group of a collective is as large as NCCL said when it made the communicator") {
  nccl_run run;
  SECTION("at the end of ncclCommInitRank, as a mark") {
    run.mark("ncclCommInitRank",
             R"({"NCCL communicator ID":78,"No. of ranks":2,"Rank":0,"CUDA device":0})");
    run.mark("ncclCommInitRank",
             R"({"NCCL communicator ID":77,"No. of ranks":4,"Rank":1,"CUDA device":1})");
    run.collective("ncclAllReduce", all_reduce);
  }
  SECTION("when it destroys it, after the collective") {
    run.collective("ncclAllReduce", all_reduce);
    run.mark("ncclCommDestroy",
             R"({"NCCL communicator ID":77,"No. of ranks":4,"Rank":1,"CUDA device":1})");
  }
  SECTION("for all devices of one process") {
    run.mark("ncclCommInitAll", R"({"NCCL communicator ID":77,"No. of devices":4})");
    run.collective("ncclAllReduce", all_reduce);
  }
  auto const row = run.only_row();
  CHECK(row.arguments.group_size == 4);
  CHECK(row.message_rate == Approx(2e9));
  CHECK(row.bus_rate == Approx(1.5 * 2e9));
}

TEST_CASE("the size of a group stays unknown if no range tells it") {
  nccl_run run;
  run.collective("ncclAllReduce", all_reduce);
  SECTION("of another communicator it is known") {
    run.mark("ncclCommInitRank",
             R"({"NCCL communicator ID":78,"No. of ranks":2,"Rank":0,"CUDA device":0})");
  }
  SECTION("a communicator that is not made yet has no ID") {
    run.mark("ncclCommInitRank",
             R"({"NCCL communicator ID":0,"No. of ranks":4,"Rank":1,"CUDA device":1})");
  }
  SECTION("no number of ranks is possible") {
    run.mark("ncclCommInitRank", R"({"NCCL communicator ID":77,"No. of ranks":-4})");
    run.mark("ncclCommInitRank", R"({"NCCL communicator ID":77,"No. of ranks":99999999999})");
  }
  auto const row = run.only_row();
  CHECK(row.arguments.group_size == 0);
  CHECK(row.message_rate);
  CHECK(!row.bus_rate);
}
