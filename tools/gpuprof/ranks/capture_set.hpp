// SPDX-License-Identifier: Apache-2.0
// Treats several captures as the ranks of a job: which capture belongs to which rank, what does not
// match, and their remarks, each once.
#pragma once

#include "base/result.hpp"
#include "host/reading/trace_contents.hpp"
#include "text/overview.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::command {

/// Facts about the process of a capture.
struct ranked_capture {
  std::string path;
  std::string label;      // "3"; if not unique, "3 (pid 5003)"; without rank: the file name
  std::string file_name;  // base name for outputs: "rank3"; if not unique, from the file
  std::optional<std::uint32_t> rank;
  std::uint32_t world_size = 0;  // 0: not known
  std::string host, program, job;
  std::uint32_t process = 0;
  bool has_gpu_work = true;
  std::map<std::string, std::string> gpus;  // GPUs visible to it: UUID, name
  timestamp_ns begin, end;  // of the captured time, by the host's clock; 0: not known
};

struct capture_set {
  std::vector<ranked_capture> captures;  // sorted by rank; those without a rank come last
  std::vector<std::string> remarks;      // lines on what is missing or does not match
  bool has_unreadable = false;
};

/// Reads the facts of a capture. capture_set_of() adds label and file name.
ranked_capture ranked(trace_contents& trace, std::string const& path);

/// Adds labels and file names, and remarks on what does not match. Opens no files.
capture_set capture_set_of(std::vector<ranked_capture> captures);

/// Opens one capture after the other. The remarks name those that cannot be read; it is an error if
/// none can.
result<capture_set> read_capture_set(std::span<std::string const> paths);

// Collects the remarks of several ranks, each line once, and the first lines of a report on all of
// them.

/// Returns "0, 3 and 5"; if there are many, only the first ones.
inline std::string listed_words(std::vector<std::string> const& words) {
  constexpr std::size_t max_shown = 8;
  std::string text;
  auto const shown = std::min(words.size(), max_shown);
  for (std::size_t i = 0; i < shown; ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  if (words.size() > shown) text += " and " + std::to_string(words.size() - shown) + " more";
  return text;
}

class rank_remarks {
 public:
  void add(std::string const& text, std::string const& rank) {
    auto known =
        std::find_if(said_.begin(), said_.end(), [&](auto const& s) { return s.first == text; });
    if (known == said_.end()) known = said_.insert(said_.end(), {text, {}});
    known->second.push_back(rank);
  }
  bool empty() const noexcept { return said_.empty(); }
  /// Returns "rank 3: ..."; a remark that all `ranks` ranks share has no prefix.
  std::vector<std::string> lines(std::size_t ranks) const {
    std::vector<std::string> lines;
    for (auto const& [text, of] : said_)
      lines.push_back(of.size() == ranks
                          ? text
                          : (of.size() == 1 ? "rank " : "ranks ") + listed_words(of) + ": " + text);
    return lines;
  }

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> said_;
};

/// Collects the first lines of a report on several captures. Records and losses are added up; the
/// time is the longest.
class joined_heading {
 public:
  void add(text::overview const& one, ranked_capture const& capture);
  std::vector<std::string> lines() const;

 private:
  text::overview all_;
  text::overview costliest_;  // of the rank that lost the largest share of its run
  double most_lost_ = 0;
  std::map<std::string, text::overview::gpu> gpus_;  // several ranks may see the same GPU
  rank_remarks losses_, remarks_;
  std::size_t ranks_ = 0;
};

}  // namespace gpuprof::host::command
