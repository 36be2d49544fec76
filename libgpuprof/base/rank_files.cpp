// SPDX-License-Identifier: Apache-2.0
#include "base/rank_files.hpp"

#include "base/readable.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

namespace gpuprof {
namespace {

constexpr std::string_view mark = ".rank", capture_extension = ".gpuprof";

struct ranked_name {
  std::string stem;
  std::uint32_t rank = 0;
};

/// Splits "run.rank3.gpuprof". A name with a process id in between belongs to a process that the
/// rank started.
std::optional<ranked_name> split(std::string const& name, std::string_view extension) {
  auto const at = name.rfind(mark);
  if (at == std::string::npos || !name.ends_with(extension)) return std::nullopt;
  auto const begin = at + mark.size();
  if (begin + extension.size() > name.size()) return std::nullopt;
  auto const rank =
      whole_number<std::uint32_t>(name.substr(begin, name.size() - extension.size() - begin));
  if (!rank) return std::nullopt;
  return ranked_name{name.substr(0, at), *rank};
}

}  // namespace

std::string beside_ranked_capture(std::string const& capture, std::string_view extension) {
  auto const name = std::filesystem::path(capture).filename().string();
  if (!split(name, capture_extension)) return {};
  return capture.substr(0, capture.size() - capture_extension.size()).append(extension);
}

std::string file_of_rank(std::string const& capture, std::uint32_t rank,
                         std::string_view extension) {
  std::filesystem::path const own(capture);
  auto const mine = split(own.filename().string(), capture_extension);
  if (!mine) return {};
  auto name = mine->stem + std::string(mark) + std::to_string(rank) + std::string(extension);
  return own.has_parent_path() ? (own.parent_path() / name).string() : name;
}

std::vector<rank_file> files_of_other_ranks(std::string const& capture,
                                            std::string_view extension) {
  std::filesystem::path const own(capture);
  auto const mine = split(own.filename().string(), capture_extension);
  std::vector<rank_file> others;
  if (!mine) return others;
  auto const folder = own.has_parent_path() ? own.parent_path() : std::filesystem::path(".");
  std::error_code none;
  std::filesystem::directory_iterator entry(folder, none);
  for (; entry != std::filesystem::directory_iterator(); entry.increment(none)) {
    auto const other = split(entry->path().filename().string(), extension);
    if (other && other->stem == mine->stem && other->rank != mine->rank)
      others.push_back({other->rank, entry->path().string()});
  }
  std::sort(others.begin(), others.end(),
            [](auto const& a, auto const& b) { return a.rank < b.rank; });
  return others;
}

}  // namespace gpuprof
