// SPDX-License-Identifier: Apache-2.0
// What it costs a C++ program to read a capture with <gpuprof/capture.hpp>: processor time for ten
// million kernels. reader_benchmark [KERNELS]
#include <gpuprof/capture.hpp>

#include "long_capture.hpp"

#include <ctime>
#include <string_view>
#include <unistd.h>
#include <unordered_map>

using namespace gpuprof;

namespace {

template <class Read>
void measure(char const* what, std::string const& path, Read&& read) {
  auto const before = std::clock();
  capture_file run(path);
  auto const records = read(run);
  auto const seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  std::printf("%-40s %7.2f s  %llu records\n", what, seconds,
              static_cast<unsigned long long>(records));
}

std::uint64_t by_name(captured_records<captured_kernel> kernels) {
  std::unordered_map<std::string_view, std::uint64_t> ns;
  std::uint64_t count = 0;
  for (auto const& kernel : kernels) {
    ns[kernel.name] += kernel.duration_ns;
    ++count;
  }
  return count;
}

template <class Records>
std::uint64_t count_of(Records&& records) {
  std::uint64_t count = 0;
  for (auto const& one : records) count += one.start_ns != 0;
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  auto const kernels = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
  auto const* const folder = std::getenv("TMPDIR");
  auto const path = std::string(folder != nullptr ? folder : "/tmp") +
                    "/gpuprof_reader_benchmark_" + std::to_string(getpid()) + ".gpuprof";
  long_capture::write_capture(path, kernels);
  measure("kernels, all fields", path,
          [](capture_file& run) { return count_of(run.read<captured_kernel>()); });
  measure("kernels, duration", path, [](capture_file& run) {
    return count_of(run.read<captured_kernel>(&captured_kernel::duration_ns));
  });
  measure("kernels, summed by name", path, [](capture_file& run) {
    return by_name(
        run.read<captured_kernel>(&captured_kernel::duration_ns, &captured_kernel::name));
  });
  measure("kernels and ranges, all fields", path, [](capture_file& run) {
    std::uint64_t count = 0;
    auto query = capture_query().add<captured_kernel>().add<captured_range>();
    for (auto const& batch : run.read(query)) count += batch.size();
    return count;
  });
  measure("kernels of 1 % of the time", path, [&](capture_file& run) {
    auto const begin = long_capture::at(kernels * 1500).value;
    return count_of(run.read_within<captured_kernel>({begin, begin + kernels * 30}));
  });
  unlink(path.c_str());
  return 0;
}
