// SPDX-License-Identifier: Apache-2.0
#include "guest/stacks/child_python.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

namespace gpuprof::guest {
namespace {

/// A line of /proc/PROCESS/maps.
struct mapping {
  std::uintptr_t begin = 0, end = 0;
  std::string file;  // device and inode
};

/// Calls use(mapping) for each line until it returns true.
template <class Use>
void any_mapping(char const* process, Use use) {
  auto const path = std::string("/proc/") + process + "/maps";
  auto* const maps = std::fopen(path.c_str(), "re");
  if (maps == nullptr) return;
  char line[512];
  for (auto begins = true; std::fgets(line, sizeof line, maps) != nullptr;) {
    mapping one;
    char device[16], inode[24];
    if (begins && std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %15s %23s", &one.begin,
                              &one.end, device, inode) == 4) {
      one.file = std::string(device) + ' ' + inode;
      if (use(one)) break;
    }
    begins = std::strchr(line, '\n') != nullptr;  // else the rest of a long line comes next
  }
  std::fclose(maps);
}

/// The file that is mapped at an address of this process; empty: none.
std::string file_at(std::uintptr_t address) {
  std::string file;
  any_mapping("self", [&](mapping const& one) {
    if (address >= one.begin && address < one.end) file = one.file;
    return address < one.end;
  });
  return file;
}

/// Where the first part of a file lies.
std::optional<std::uintptr_t> begin_of(char const* process, std::string const& file) {
  std::optional<std::uintptr_t> begin;
  any_mapping(process, [&](mapping const& one) {
    if (one.file == file) begin = one.begin;
    return begin.has_value();
  });
  return begin;
}

}  // namespace

std::unique_ptr<child_python> find_python_of_child(python_runtime const& own,
                                                   std::uint32_t process) {
  // There is one CPython in a process.
  static auto const file = file_at(reinterpret_cast<std::uintptr_t>(own.some_code()));
  static auto const here = begin_of("self", file);
  auto const there = begin_of(std::to_string(process).c_str(), file);
  if (!here || !there) return nullptr;
  return std::make_unique<child_python>(own, static_cast<std::ptrdiff_t>(*there - *here), process);
}

}  // namespace gpuprof::guest
