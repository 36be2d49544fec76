// SPDX-License-Identifier: Apache-2.0
// What the captures of several ranks have to say, each line once, and the first lines of a report
// of all of them.
#pragma once

#include "ranks/capture_set.hpp"
#include "text/overview.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::command {

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
  std::map<std::string, text::overview::gpu> gpus_;  // several ranks may see one
  rank_remarks losses_, remarks_;
  std::size_t ranks_ = 0;
};

}  // namespace gpuprof::host::command
