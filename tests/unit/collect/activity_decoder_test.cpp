// SPDX-License-Identifier: Apache-2.0
// Hand-made CUPTI buffers in, model records out: every kind, every field, every loss.
#include "guest/collect/activity_decoder.hpp"

#include "guest/collect/kernel_names.hpp"
#include "guest/nvtx/name_registry.hpp"
#include "support/catch.hpp"
#include "support/fake_cupti.hpp"
#include "support/record_walk.hpp"
#include "support/records.hpp"

#include <cstddef>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

struct kept final : activity_sink {
  std::vector<kernel_shape> shapes;
  std::vector<kernel_record> kernels;
  std::vector<graph_record> graphs;
  std::vector<copy_record> copies;
  std::vector<memset_record> sets;
  std::vector<api_record> calls;
  std::vector<sync_record> syncs;
  std::vector<memory_record> memories;
  std::vector<unified_memory_record> unified;

  void shape(kernel_shape const& r) override { shapes.push_back(r); }
  void kernel(kernel_record const& r) override { kernels.push_back(r); }
  void graph(graph_record const& r) override { graphs.push_back(r); }
  void copy(copy_record const& r) override { copies.push_back(r); }
  void set(memset_record const& r) override { sets.push_back(r); }
  void api(api_record const& r) override { calls.push_back(r); }
  void sync(sync_record const& r) override { syncs.push_back(r); }
  void memory(memory_record const& r) override { memories.push_back(r); }
  void unified_memory(unified_memory_record const& r) override { unified.push_back(r); }
};

/// A decoder with all it needs.
struct bench {
  explicit bench(unsigned version = 130001)
      : cupti(version), decoder(cupti.library.api, version, names, kernels, launches, sink) {}

  template <class... Records>
  void decode(Records const&... records) {
    record_buffer buffer;
    buffer.add_all(records...);
    decoder.decode(buffer.used());
  }

  void launched(std::uint32_t correlation, name_id kernel) {
    launch l;
    l.correlation = correlation_id{correlation};
    l.kernel = kernel;
    launches.insert(l);
  }
  void graph_launched(std::uint32_t correlation, std::uint16_t generation) {
    launch l;
    l.correlation = correlation_id{correlation};
    l.flags = launch_of_graph;
    l.arguments = generation;
    launches.insert(l);
  }

  fake_cupti cupti;
  name_registry names;
  kernel_names kernels{names};
  launch_table launches;
  kept sink;
  activity_decoder decoder;
};

}  // namespace

TEST_CASE("a kernel record gives its shape once, and each launch's time and place") {
  bench b;
  b.decode(kernel_record_of("_Z4gemmv", 42));
  REQUIRE(b.sink.shapes.size() == 1);
  auto const& s = b.sink.shapes[0];
  CHECK(b.names.text(s.name) == "_Z4gemmv");
  CHECK(s.grid == extent3{11, 12, 13});
  CHECK(s.block == extent3{32, 2, 3});
  CHECK(s.cluster == extent3{4, 5, 6});
  CHECK(s.registers_per_thread == 77);
  CHECK(s.static_shared_bytes == 256);
  CHECK(s.dynamic_shared_bytes == 512);
  CHECK(s.local_bytes_per_thread == 16);
  CHECK(s.local_bytes_total == std::uint64_t{1} << 33);
  CHECK(s.launch_type == 1);
  CHECK(s.max_active_clusters == 9);

  REQUIRE(b.sink.kernels.size() == 1);
  auto const& k = b.sink.kernels[0];
  CHECK(k.shape == s.id);
  CHECK(k.start.value == 1000);
  CHECK(k.duration.value == 500);
  CHECK(k.correlation == correlation_id{42});
  CHECK(k.device == device_id{1});
  CHECK(k.context == context_id{2});
  CHECK(k.stream == stream_id{7});
  CHECK(k.graph == graph_id{21});
  CHECK(raw(k.node) == (std::uint64_t{1} << 40) + 5);
  CHECK(k.launched.value == 0);
}

TEST_CASE("kernels of one shape share it; another grid is another shape") {
  bench b;
  auto wider = kernel_record_of("k", 3);
  wider.gridX = 99;
  b.decode(kernel_record_of("k", 1), kernel_record_of("k", 2), wider);
  CHECK(b.sink.shapes.size() == 2);
  REQUIRE(b.sink.kernels.size() == 3);
  CHECK(b.sink.kernels[0].shape == b.sink.kernels[1].shape);
  CHECK(b.sink.kernels[0].shape != b.sink.kernels[2].shape);
}

TEST_CASE("kernels of CUDA 12.0 are read by the same code") {
  bench b(19);
  // As an older libcupti would walk them: one record to a buffer.
  auto const old = kernel_record_of<CUpti_ActivityKernel9>("old", 5);
  record_buffer buffer;
  buffer.add(old);
  b.decoder.decode(buffer.all());
  REQUIRE(!b.sink.kernels.empty());
  CHECK(b.sink.kernels[0].correlation == correlation_id{5});
  CHECK(raw(b.sink.kernels[0].node) == (std::uint64_t{1} << 40) + 5);
  CHECK(b.sink.shapes[0].max_active_clusters == 9);
}

TEST_CASE("a kernel without times is counted and still passed on, to account for its launch") {
  bench b;
  b.decode(kernel_record_of("k", 1, 0, 0), kernel_record_of("k", 2, 700, 0),
           kernel_record_of("k", 3));
  CHECK(b.decoder.losses().kernels_without_time == 2);
  REQUIRE(b.sink.kernels.size() == 3);
  CHECK(b.sink.kernels[0].start.value == 0);
  CHECK(b.sink.kernels[1].start.value == 0);
  CHECK(b.sink.kernels[1].duration.value == 0);
  CHECK(b.sink.kernels[2].start.value == 1000);
}

TEST_CASE("an end before the start gives duration zero, not a huge one") {
  bench b;
  b.decode(kernel_record_of("k", 1, 1000, 900));
  CHECK(b.sink.kernels.at(0).duration.value == 0);
}

TEST_CASE("negative dimensions, which no driver reports, read as zero") {
  bench b;
  auto odd = kernel_record_of("k", 1);
  odd.gridX = -1;
  b.decode(odd);
  CHECK(b.sink.shapes.at(0).grid.x == 0);
}

TEST_CASE("a kernel without a name has the empty name") {
  bench b;
  b.decode(kernel_record_of(nullptr, 1));
  CHECK(b.sink.shapes.at(0).name == name_id{});
}

TEST_CASE("a new name at an old address is noticed after code was unloaded") {
  bench b;
  char name[16] = "first";
  b.decode(kernel_record_of(name, 1));
  b.kernels.code_unloads();
  std::string("firstly").copy(name, sizeof name);
  name[7] = '\0';
  b.decode(kernel_record_of(name, 2));
  REQUIRE(b.sink.shapes.size() == 2);
  CHECK(b.names.text(b.sink.shapes[0].name) == "first");
  CHECK(b.names.text(b.sink.shapes[1].name) == "firstly");
}

TEST_CASE("the name of a kernel with unloaded code comes from its launch") {
  bench b;
  char name[16] = "first";
  b.launched(1, b.kernels.of_launched(name));
  b.kernels.code_unloads();
  std::string("other").copy(name, sizeof name);  // of code that was loaded next
  auto const other = b.kernels.of_launched(name);
  b.kernels.code_unloads();
  b.decode(kernel_record_of(name, 1));
  REQUIRE(b.sink.shapes.size() == 1);
  CHECK(b.names.text(b.sink.shapes[0].name) == "first");
  b.launched(2, other);
  b.decode(kernel_record_of(name, 2));
  REQUIRE(b.sink.shapes.size() == 2);
  CHECK(b.names.text(b.sink.shapes[1].name) == "other");
}

TEST_CASE("the name of a graph kernel with unloaded code is the one at the graph launch") {
  bench b;
  char name[16] = "first";
  b.kernels.of_launched(name);  // into the graph, on a stream that is captured
  b.graph_launched(1, b.kernels.generation());
  b.kernels.code_unloads();
  std::string("other").copy(name, sizeof name);
  b.decode(kernel_record_of(name, 1));
  CHECK(b.names.text(b.sink.shapes.at(0).name) == "first");
}

TEST_CASE("a kernel of a graph keeps its name if another name was loaded at the same address") {
  bench b;
  char name[16] = "first";
  b.kernels.of_launched(name);
  b.graph_launched(1, b.kernels.generation());
  b.kernels.code_unloads();
  std::string("other").copy(name, sizeof name);
  b.kernels.of_launched(name);
  auto node = kernel_record_of(name, 1);
  node.graphId = 5;
  b.decode(node);
  CHECK(b.names.text(b.sink.shapes.at(0).name) == "first");
}

TEST_CASE("a kernel that CUPTI runs with the correlation id of a launch keeps its own name") {
  bench b;
  b.launched(1, b.kernels.of_launched("gemm"));
  auto own = kernel_record_of("WaitNs", 1);
  own.gridX = own.gridY = own.gridZ = own.blockX = own.blockY = own.blockZ = 1;
  b.decode(own);
  CHECK(b.names.text(b.sink.shapes.at(0).name) == "WaitNs");
}

TEST_CASE("a name that cannot be read any more is empty, and nothing crashes") {
  bench b;
  auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const memory = mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  b.decode(kernel_record_of(static_cast<char const*>(memory), 1));
  munmap(memory, page);
  CHECK(b.sink.shapes.at(0).name == name_id{});
}

TEST_CASE("with more kernels than remembered pointers every name is still right") {
  bench b;
  constexpr std::size_t names = 20'000;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < names; ++i) texts.push_back(std::to_string(i).insert(0, 1, 'k'));
  for (auto const& text : texts) b.decode(kernel_record_of(text.c_str(), 1));
  REQUIRE(b.sink.shapes.size() == names);
  auto wrong = 0;
  for (std::size_t i = 0; i < names; ++i) wrong += b.names.text(b.sink.shapes[i].name) != texts[i];
  CHECK(wrong == 0);
  b.decode(kernel_record_of(texts[0].c_str(), 1));  // long forgotten
  CHECK(b.sink.shapes.size() == names);
  CHECK(b.sink.kernels.back().shape == b.sink.shapes[0].id);
}

TEST_CASE(
    "a kernel beyond the limit of shapes keeps its name and loses its grid, which is counted") {
  bench b;
  constexpr std::size_t most = shape_table::default_max_whole;
  auto kernel = kernel_record_of("k", 1);
  for (std::size_t i = 0; i < most; ++i) {
    kernel.gridX = static_cast<std::int32_t>(i + 1);
    b.decode(kernel);
  }
  CHECK(b.decoder.losses().kernels_without_grid == 0);
  kernel.gridX = most + 1;
  auto another = kernel_record_of("another", 1);
  another.gridX = 77;
  b.decode(kernel, kernel, another);
  kernel.gridX = most + 2;
  b.decode(kernel);
  CHECK(b.decoder.losses().kernels_without_grid == 4);
  CHECK(b.decoder.losses().kernels_without_shape == 0);
  REQUIRE(b.sink.shapes.size() == most + 2);
  REQUIRE(b.sink.kernels.size() == most + 4);
  auto const& name_only = b.sink.shapes[most];
  CHECK(b.names.text(name_only.name) == "k");
  CHECK_FALSE(name_only.has_geometry());
  CHECK(b.names.text(b.sink.shapes[most + 1].name) == "another");
  CHECK(b.sink.kernels[most].shape == name_only.id);
  CHECK(b.sink.kernels.back().shape == name_only.id);
  kernel.gridX = 5;  // known ones stay known
  b.decode(kernel);
  CHECK(b.sink.kernels.back().shape == b.sink.shapes[4].id);

  // The launch knows its kernel better: other arguments are not told apart any more, but a name
  // that the record had wrong is put right.
  auto const known = b.sink.shapes[4];
  CHECK(b.decoder.shape_for(known.id, known.name, 4711) == known.id);
  CHECK(b.decoder.shape_for(name_only.id, name_only.name, 4711) == name_only.id);
  CHECK(b.decoder.losses().kernels_without_grid == 4);
  auto const renamed = b.decoder.shape_for(known.id, b.names.intern("third"), 0);
  CHECK(renamed == b.sink.shapes.back().id);
  CHECK(b.names.text(b.sink.shapes.back().name) == "third");
  CHECK(b.decoder.losses().kernels_without_grid == 5);
}

TEST_CASE("a copy record has bytes, kinds and whether the call waited") {
  bench b;
  auto waiting = copy_record_of(9, 77);
  waiting.flags = 0;
  b.decode(copy_record_of(8), waiting);
  REQUIRE(b.sink.copies.size() == 2);
  auto const& c = b.sink.copies[0];
  CHECK(c.start.value == 2000);
  CHECK(c.duration.value == 600);
  CHECK(c.bytes == 4096);
  CHECK(c.kind == copy_kind::host_to_device);
  CHECK(c.source_kind == memory_kind::pinned);
  CHECK(c.destination_kind == memory_kind::device);
  CHECK(c.asynchronous);
  CHECK(c.device == device_id{1});
  CHECK(c.source_device == device_id{1});
  CHECK(c.destination_device == device_id{1});
  CHECK(c.context == context_id{2});
  CHECK(c.stream == stream_id{7});
  CHECK(c.correlation == correlation_id{8});
  CHECK(c.graph == graph_id{3});
  CHECK(c.node == graph_node_id{4});
  CHECK_FALSE(b.sink.copies[1].asynchronous);
}

TEST_CASE("a record of a batch has its number of copies from CUDA 12.8 on") {
  auto batch = copy_record_of(8);
  batch.copyCount = 16;
  auto endless = copy_record_of(9);
  endless.copyCount = ~std::uint64_t{0};
  {
    bench older(25);
    older.decode(batch);  // the place is padding there
    CHECK(older.sink.copies.at(0).copies() == 1);
  }
  bench b;
  b.decode(batch, endless);
  CHECK(b.sink.copies.at(0).batch == 16);
  CHECK(b.sink.copies.at(1).batch == 1 << 16);
  b.decode(copy_record_of(10));
  CHECK(b.sink.copies.at(2).copies() == 1);
}

TEST_CASE("a copy of an older CUPTI is read by the same code") {
  bench b(19);
  record_buffer buffer;
  buffer.add(copy_record_of<CUpti_ActivityMemcpy5>(8));
  b.decoder.decode(buffer.all());
  REQUIRE(!b.sink.copies.empty());
  CHECK(b.sink.copies[0].graph == graph_id{3});
}

TEST_CASE("a peer copy record names both devices") {
  bench b;
  CUpti_ActivityMemcpyPtoP4 p{};
  p.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  p.start = 10, p.end = 30;
  p.bytes = 123;
  p.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  p.srcKind = p.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  p.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
  p.deviceId = 2, p.srcDeviceId = 3, p.dstDeviceId = 4;
  p.contextId = 5, p.streamId = 6;
  p.correlationId = 7;
  p.graphId = 8, p.graphNodeId = 9;
  b.decode(p);
  auto const& c = b.sink.copies.at(0);
  CHECK(c.kind == copy_kind::peer_to_peer);
  CHECK(c.bytes == 123);
  CHECK(c.duration.value == 20);
  CHECK(c.device == device_id{2});
  CHECK(c.source_device == device_id{3});
  CHECK(c.destination_device == device_id{4});
  CHECK(c.context == context_id{5});
  CHECK(c.stream == stream_id{6});
  CHECK(c.correlation == correlation_id{7});
  CHECK(c.graph == graph_id{8});
  CHECK(c.node == graph_node_id{9});
  CHECK(c.asynchronous);
}

TEST_CASE("a memset record has bytes, value and kind of memory") {
  bench b;
  b.decode(set_record_of(6));
  auto const& m = b.sink.sets.at(0);
  CHECK(m.start.value == 3000);
  CHECK(m.duration.value == 100);
  CHECK(m.bytes == 1 << 20);
  CHECK(m.value == 0xab);
  CHECK(m.kind == memory_kind::device);
  CHECK(m.asynchronous);
  CHECK(m.correlation == correlation_id{6});
  CHECK(m.stream == stream_id{7});
  CHECK(m.graph == graph_id{3});
  CHECK(m.node == graph_node_id{4});
}

TEST_CASE("a whole graph is one record") {
  bench b;
  CUpti_ActivityGraphTrace2 g{};
  g.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  g.start = 100, g.end = 190;
  g.correlationId = 5;
  g.deviceId = 1, g.contextId = 2, g.streamId = 7, g.graphId = 31;
  b.decode(g);
  auto const& out = b.sink.graphs.at(0);
  CHECK(out.start.value == 100);
  CHECK(out.duration.value == 90);
  CHECK(out.graph == graph_id{31});
  CHECK(out.correlation == correlation_id{5});
  CHECK(out.device == device_id{1});
  CHECK(out.context == context_id{2});
  CHECK(out.stream == stream_id{7});
}

TEST_CASE("copies, sets and graphs without times are counted and left out") {
  bench b;
  auto copy = copy_record_of(1);
  copy.end = 0;
  auto set = set_record_of(2);
  set.start = set.end = 0;
  CUpti_ActivityGraphTrace2 graph{};
  graph.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  CUpti_ActivityMemcpyPtoP4 peer{};
  peer.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  b.decode(copy, set, graph, peer);
  CHECK(b.decoder.losses().others_without_time == 4);
  CHECK(b.sink.copies.empty());
  CHECK(b.sink.sets.empty());
  CHECK(b.sink.graphs.empty());
}

TEST_CASE("API calls have names, threads and results, in both domains") {
  bench b;
  b.decode(api_record_of(true, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 1, 700),
           api_record_of(false, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020, 2));
  REQUIRE(b.sink.calls.size() == 2);
  auto const& launch = b.sink.calls[0];
  CHECK(launch.domain == api_domain::driver);
  CHECK(b.names.text(launch.name) == "cuLaunchKernel");
  CHECK(launch.start.value == 900);
  CHECK(launch.duration.value == 50);
  CHECK(launch.os_thread == 4321);
  CHECK(launch.correlation == correlation_id{1});
  CHECK(launch.result == 700);
  CHECK(b.sink.calls[1].domain == api_domain::runtime);
  CHECK(b.names.text(b.sink.calls[1].name) == "cudaMalloc_v3020");
}

TEST_CASE("the name of an API call is asked for once") {
  bench b;
  for (std::uint32_t i = 0; i < 5; ++i)
    b.decode(api_record_of(true, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, i));
  CHECK(b.cupti.count("cuptiGetCallbackName") == 1);
}

TEST_CASE("API calls without a name in this CUPTI are named by their number, however large") {
  bench b;
  b.decode(api_record_of(true, 5000, 1), api_record_of(true, 0xffffffff, 2));
  CHECK(b.names.text(b.sink.calls.at(0).name) == "API call 5000");
  CHECK(b.names.text(b.sink.calls.at(1).name) == "API call 4294967295");
}

TEST_CASE("the result of a synchronization is read from CUDA 13.0 on, where the field exists") {
  CUpti_ActivitySynchronization2 s{};
  s.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  s.start = 50, s.end = 80;
  s.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  s.correlationId = 3, s.contextId = 2, s.streamId = 7, s.cudaEventId = 12;
  s.returnValue = 719;
  for (auto const version : {28u, 130000u}) {
    bench b(version);
    b.decode(s);
    auto const& out = b.sink.syncs.at(0);
    CHECK(out.start.value == 50);
    CHECK(out.duration.value == 30);
    CHECK(out.type == 3);
    CHECK(out.correlation == correlation_id{3});
    CHECK(out.context == context_id{2});
    CHECK(out.stream == stream_id{7});
    CHECK(out.event == 12);
    CHECK(out.result == (version == 130000 ? 719 : 0));
  }
}

TEST_CASE("device memory records: place, size, pool and stream") {
  CUpti_ActivityMemory4 m{};
  m.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  m.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  m.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  m.timestamp = 77;
  m.address = 0xabc000;
  m.bytes = 4096;
  m.deviceId = 1, m.contextId = 2, m.streamId = 7;
  m.correlationId = 5;
  m.isAsync = 1;
  m.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  m.memoryPoolConfig.address = 0xdef000;
  auto without_pool = m;
  without_pool.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID;
  without_pool.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  bench b;
  b.decode(m, without_pool);
  REQUIRE(b.sink.memories.size() == 2);
  auto const& out = b.sink.memories[0];
  CHECK(out.time.value == 77);
  CHECK(out.operation == memory_operation::allocate);
  CHECK(out.kind == memory_kind::device);
  CHECK(out.address == 0xabc000);
  CHECK(out.bytes == 4096);
  CHECK(out.pool_address == 0xdef000);
  CHECK(out.device == device_id{1});
  CHECK(out.context == context_id{2});
  CHECK(out.stream == stream_id{7});
  CHECK(out.correlation == correlation_id{5});
  CHECK(out.asynchronous);
  CHECK(b.sink.memories[1].operation == memory_operation::release);
  CHECK(b.sink.memories[1].pool_address == 0);
}

TEST_CASE("unified-memory counters: kind, value and both devices") {
  CUpti_ActivityUnifiedMemoryCounter3
      u{};  // the newest; read through the oldest that has the fields
  u.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER;
  u.counterKind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH;
  u.value = 65536;
  u.start = 10, u.end = 25;
  u.address = 0x7000;
  u.srcId = 1, u.dstId = 2, u.streamId = 7;
  bench b;
  b.decode(u);
  auto const& out = b.sink.unified.at(0);
  CHECK(out.counter == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH);
  CHECK(out.value == 65536);
  CHECK(out.start.value == 10);
  CHECK(out.duration.value == 15);
  CHECK(out.address == 0x7000);
  CHECK(out.source_device == device_id{1});
  CHECK(out.destination_device == device_id{2});
  CHECK(out.stream == stream_id{7});
}

TEST_CASE("records of unknown kinds are counted and skipped") {
  CUpti_ActivityName other{};
  other.kind = CUPTI_ACTIVITY_KIND_NAME;
  bench b;
  b.decode(other, kernel_record_of("k", 1));
  CHECK(b.decoder.losses().unknown_kinds == 1);
  CHECK(b.sink.kernels.size() == 1);
  CHECK(b.decoder.records() == 2);
}

TEST_CASE("a buffer cut inside a record keeps the records before the cut, and is counted") {
  bench b;
  b.cupti.library.api.cuptiActivityGetNextRecord = &next_record_by_size;
  record_buffer buffer;
  buffer.add_all(kernel_record_of("k", 1), kernel_record_of("k", 2));
  buffer.cut(100);
  b.decoder.decode(buffer.used());
  CHECK(b.sink.kernels.size() == 1);
  CHECK(b.decoder.losses().broken_buffers == 1);
}

TEST_CASE("an invalid kind ends only that buffer") {
  bench b;
  auto odd = kernel_record_of("k", 2);
  odd.kind = static_cast<CUpti_ActivityKind>(9999);
  b.decode(kernel_record_of("k", 1), odd, kernel_record_of("k", 3));
  b.decode(kernel_record_of("k", 4));
  CHECK(b.sink.kernels.size() == 2);
  CHECK(b.decoder.losses().broken_buffers == 1);
}

TEST_CASE("an empty buffer holds nothing and is no loss") {
  bench b;
  record_buffer buffer;
  b.decoder.decode(buffer.used());
  CHECK(b.decoder.records() == 0);
  CHECK(b.decoder.losses().broken_buffers == 0);
}

TEST_CASE("a place CUPTI has not written yet ends the buffer, and is counted") {
  bench b;
  record_buffer buffer;
  buffer.add(kernel_record_of("k", 1));
  b.decoder.decode(buffer.all());
  CHECK(b.decoder.records() == 1);
  CHECK(b.decoder.losses().broken_buffers == 1);
}

TEST_CASE("the walk by record sizes gives the same records as the real library") {
  auto const real = real_walker();
  if (real == nullptr) {
    WARN("no libcupti.so.13 here: nothing to compare with");
    return;
  }
  record_buffer buffer;
  buffer.add_all(kernel_record_of("k", 1), copy_record_of(2), set_record_of(3),
                 api_record_of(true, 307, 4), kernel_record_of("k", 5));
  for (auto const bytes : {buffer.all(), buffer.used()}) {
    CUpti_Activity *a = nullptr, *b = nullptr;
    for (;;) {
      auto const there = real(bytes.data(), bytes.size(), &a);
      CHECK(next_record_by_size(bytes.data(), bytes.size(), &b) == there);
      if (there != CUPTI_SUCCESS) break;
      CHECK(a == b);
    }
  }
}
