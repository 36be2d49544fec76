// SPDX-License-Identifier: Apache-2.0
// Stores made-up peaks under the key of this machine's first GPU: make_stored_peaks FOLDER
#include "guest/peaks/measure.hpp"
#include "guest/peaks/store/store.hpp"
#include "guest/peaks/theory/test_list.hpp"
#include "support/pretended_gpu.hpp"

#include <cstdio>
#include <cstring>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

/// Of each test, with round numbers; FP4 is what this GPU does not have.
gpu_peaks peaks_of_every_test() {
  gpu_peaks made;
  made.name = "Pretended GPU";
  made.measured_at = "2026-01-01T12:00:00Z";
  made.remarks = {"first line", "second line"};
  for (auto const& test : peaks::all_tests()) {
    auto r = test::with_sustained(
        test::with_clock(test::measured(std::string(test.name), std::string(test.group),
                                        std::string(test.title), std::string(test.unit), 100, 128),
                         "SM clock per SM", 50, 64),
        test::figure(80, 0.02, 0x4));
    r.burst.chip.limiters = 0x20;
    r.method = "wgmma m64n256k16";
    if (test.id == peaks::test_id::l2_read) r.remark = "one line on what lessens it";
    if (test.id == peaks::test_id::tensor_fp4)
      r = test::without_figure(r, peak_outcome::unavailable, "this chip has no such units");
    if (test.id == peaks::test_id::dram_read) r.measured_at = "2026-02-01T12:00:00Z";
    made.results.push_back(std::move(r));
  }
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto const key = peaks::key_of(0);
  if (!key) return std::fprintf(stderr, "%s\n", key.message().c_str()), 1;
  auto made = peaks_of_every_test();
  made.key = *key;
  if (auto const saved = peaks::save_peaks(argv[1], made); !saved)
    return std::fprintf(stderr, "%s\n", saved.message().c_str()), 1;
  std::puts(peaks::store_path(argv[1], *key).c_str());
  return 0;
}
