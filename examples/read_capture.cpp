// SPDX-License-Identifier: Apache-2.0
// Reads a capture with the C++ interface: time by kernel, time by range, what was lost.
//
//   g++ -std=c++17 read_capture.cpp -IPREFIX/include -LPREFIX/lib -lgpuprof-capture -o read_capture
//   ./read_capture run.gpuprof
#include <gpuprof/capture.hpp>

#include <cstdio>
#include <exception>
#include <map>
#include <string>

using gpuprof::captured_call;
using gpuprof::captured_copy;
using gpuprof::captured_kernel;
using gpuprof::captured_range;

namespace {

struct line {
  unsigned long long count = 0, ns = 0;
  void add(std::uint64_t duration_ns) {
    ++count;
    ns += duration_ns;
  }
};

void print(char const* what, std::map<std::string, line> const& lines) {
  for (auto const& [name, sum] : lines)
    std::printf("%s\t%llu\t%llu\t%s\n", what, sum.count, sum.ns, name.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: read_capture FILE\n");
    return 2;
  }
  try {
    gpuprof::capture_file run(argv[1]);
    std::map<std::string, line> kernels, ranges, calls;
    line copies;
    std::uint64_t last = 0;
    bool in_order = true;
    auto const see = [&](std::uint64_t at) {
      in_order = in_order && at >= last;
      last = at;
    };
    // Four kinds of records in one order of time, with two fields of each beside the beginning.
    gpuprof::capture_query query;
    query.add<captured_kernel>(&captured_kernel::name, &captured_kernel::duration_ns);
    query.add<captured_copy>(&captured_copy::duration_ns);
    query.add<captured_range>(&captured_range::name, &captured_range::duration_ns);
    query.add<captured_call>(&captured_call::name, &captured_call::duration_ns);
    for (auto const& batch : run.read(query)) {
      for (auto const& kernel : batch.as<captured_kernel>()) {
        see(kernel.start_ns);
        kernels[std::string(kernel.name)].add(kernel.duration_ns);
      }
      for (auto const& copy : batch.as<captured_copy>()) {
        see(copy.start_ns);
        copies.add(copy.duration_ns);
      }
      for (auto const& range : batch.as<captured_range>()) {
        see(range.start_ns);
        ranges[std::string(range.name)].add(range.duration_ns);
      }
      for (auto const& call : batch.as<captured_call>()) {
        see(call.start_ns);
        calls[std::string(call.name)].add(call.duration_ns);
      }
    }
    print("kernel", kernels);
    print("copy", {{"all", copies}});
    print("range", ranges);
    print("call", calls);
    for (auto const& loss : run.losses()) std::printf("lost\t%s\n", loss.c_str());
    std::printf("in order\t%s\n", in_order ? "yes" : "no");
    return 0;
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "read_capture: %s\n", failure.what());
    return 1;
  }
}
