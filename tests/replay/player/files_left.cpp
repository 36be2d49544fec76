// SPDX-License-Identifier: Apache-2.0
#include "replay/player/files_left.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <numeric>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace gpuprof::replay {
namespace {

constexpr std::chrono::milliseconds pause{10};

void wait_for_file(char const* file) {
  for (int tries = 0; tries < 3000 && !std::filesystem::exists(file); ++tries)
    std::this_thread::sleep_for(pause);
}

rlim_t highest_descriptor() {
  rlim_t highest = 0;
  for (auto const& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    highest = std::max<rlim_t>(highest, std::stoul(entry.path().filename()));
  return highest;
}

}  // namespace

std::unique_ptr<files_left> files_left::count_if_wanted() {
  char const* const wanted = std::getenv("REPLAY_FILES_LEFT");
  if (wanted == nullptr) return nullptr;
  if (char const* const first = std::getenv("REPLAY_FILES_AFTER")) wait_for_file(first);
  return std::make_unique<files_left>(std::strtoul(wanted, nullptr, 10));
}

// Gaps below the highest are filled, for good: then so many numbers are free and no others.
files_left::files_left(std::size_t wanted) : wanted_(wanted) {
  auto const highest = highest_descriptor();  // or that of the listing, which is free again
  auto next = dup(0);
  while (next >= 0 && static_cast<rlim_t>(next) < highest) next = dup(0);
  close(next);
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = static_cast<rlim_t>(next) + wanted;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) std::abort();
  thread_ = std::thread([this] { count(); });
}

files_left::~files_left() {
  ends_ = true;
  if (thread_.joinable()) thread_.join();
}

void files_left::count() {
  while (!ends_) {
    std::vector<int> files;
    for (std::size_t i = 0; i < wanted_; ++i)
      if (auto const file = open("/dev/null", O_RDONLY | O_CLOEXEC); file >= 0)
        files.push_back(file);
    opened_.push_back(files.size());
    for (auto const file : files) close(file);
    std::this_thread::sleep_for(pause);
  }
}

void files_left::print() {
  ends_ = true;
  thread_.join();
  auto const later = opened_.begin() + static_cast<std::ptrdiff_t>(opened_.size() / 2);
  std::printf("gpuprof-play: files_tried=%zu files_opened=%zu\n",
              static_cast<std::size_t>(opened_.end() - later) * wanted_,
              std::accumulate(later, opened_.end(), std::size_t{0}));
  std::fflush(stdout);
}

}  // namespace gpuprof::replay
