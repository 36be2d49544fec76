// SPDX-License-Identifier: Apache-2.0
// The first lines of a report of several captures.
#pragma once

#include "ranks/capture_set.hpp"
#include "ranks/rank_remarks.hpp"
#include "text/overview.hpp"

#include <map>
#include <string>
#include <vector>

namespace gpuprof {

/// Records and losses are added up; the time is that of the longest.
class joined_heading {
 public:
  void add(report::overview const& one, ranked_capture const& capture);
  std::vector<std::string> lines() const;

 private:
  report::overview all_;
  std::map<std::string, std::string> gpus_;  // several ranks may see one
  rank_remarks losses_, remarks_;
  std::size_t ranks_ = 0;
};

}  // namespace gpuprof
