// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/timeline/time_bucket.hpp"

namespace gpuprof::host {
namespace {

struct bucket_words {
  std::string_view name, meaning;
};

constexpr std::array<bucket_words, time_bucket_count> words_of_buckets = {{
    {"compute", "kernels ran"},
    {"compute and communication", "kernels ran beside communication"},
    {"communication alone", "communication ran and no other kernel"},
    {"copy or fill alone", "copies or fills ran and no kernel"},
    {"idle: back to back", "the GPU's own pause between two pieces of work that were both queued"},
    {"idle: dependency",
     "the next work was queued and waited for an event, another stream or another device"},
    {"idle: synchronization", "the program waited for the GPU, and issued more only after that"},
    {"idle: allocation", "the program was inside a call that allocates or frees memory"},
    {"idle: module load", "the program was inside a call that loads kernels"},
    {"idle: graph build", "the program was inside a call that makes a CUDA graph ready"},
    {"idle: launch-bound", "the program launched as fast as it does, and the GPU was faster"},
    {"idle: data loading", "the program was in a range that loads data"},
    {"idle: between steps", "the program was between two steps"},
    {"idle: CPU work", "the program did something else than CUDA calls"},
    {"idle: host", "the program had not launched anything; its calls were not recorded"},
    {"idle: start-up", "before the first work on this GPU"},
    {"idle: nothing to do", "after the last work on this GPU"},
    {"this profiler", "counters were set up or read"},
}};

}  // namespace

std::string_view name_of(time_bucket bucket) noexcept {
  return words_of_buckets[static_cast<std::size_t>(bucket)].name;
}

std::string_view meaning_of(time_bucket bucket) noexcept {
  return words_of_buckets[static_cast<std::size_t>(bucket)].meaning;
}

}  // namespace gpuprof::host
