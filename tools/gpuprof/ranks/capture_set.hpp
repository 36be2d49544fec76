// SPDX-License-Identifier: Apache-2.0
// Several captures as the ranks of a job: which is whose, what does not fit together, and what they
// have to say, each line once.
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

/// What a capture says about the process that it is of.
struct ranked_capture {
  std::string path;
  std::string label;  // "3"; where that would be of several, "3 (pid 5003)"; of no rank: its file
  std::string
      file_name;  // for outputs, without extension: "rank3"; where that is not enough, its file
  std::optional<std::uint32_t> rank;
  std::uint32_t world_size = 0;  // 0: not known
  std::string host, program, job;
  std::uint32_t process = 0;
  bool has_gpu_work = true;
  std::map<std::string, std::string> gpus;  // that it could see: UUID, name
  timestamp_ns begin, end;  // of what was captured, by the host's clock; 0: not known
};

struct capture_set {
  std::vector<ranked_capture> captures;  // by rank; those without one behind
  std::vector<std::string> remarks;      // a line each: what is missing or does not fit
  bool has_unreadable = false;
};

/// What this capture says; its label and file name are for capture_set_of to give.
ranked_capture ranked(trace_contents& trace, std::string const& path);

/// Gives labels and file names, says what does not fit. Pure.
capture_set capture_set_of(std::vector<ranked_capture> captures);

/// Opens each for a moment. Those that cannot be read are named in the remarks; an error when that
/// is all of them.
result<capture_set> read_capture_set(std::span<std::string const> paths);

// What the captures of several ranks have to say, each line once, and the first lines of a report
// of all of them.

/// "0, 3 and 5"; of many the first ones.
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
  /// "rank 3: ..."; what all of so many ranks say stands alone.
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

/// The first lines of a report of several captures. Records and losses are added up; the time is
/// that of the longest.
class joined_heading {
 public:
  void add(text::overview const& one, ranked_capture const& capture);
  std::vector<std::string> lines() const;

 private:
  text::overview all_;
  std::map<std::string, std::string> gpus_;  // several ranks may see one
  rank_remarks losses_, remarks_;
  std::size_t ranks_ = 0;
};

}  // namespace gpuprof::host::command
