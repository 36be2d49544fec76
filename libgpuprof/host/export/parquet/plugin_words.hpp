// SPDX-License-Identifier: Apache-2.0
// The words that the command and its program export-parquet exchange.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host {

/// First words of the lines that the program writes to stdout; a text follows.
namespace plugin_words {
inline constexpr std::string_view rows = "rows";        // this many more rows are done
inline constexpr std::string_view missing = "missing";  // what the capture lacks
inline constexpr std::string_view error = "error";      // why nothing was written
inline constexpr int needs_more_memory = 3;             // an exit code
}  // namespace plugin_words

/// The order that the program gets when it starts.
struct plugin_order {
  static constexpr char capture_tables[] = "capture";    // OUT/<table>/rank=N of a capture
  static constexpr char database_tables[] = "database";  // OUT/<table>.parquet of an SQLite file
  std::string what;
  std::string input;
  std::string output;
  std::string run;
  bool overwrite = false;

  std::vector<std::string> words() const {
    return {what, input, output, run, overwrite ? "replace" : "keep"};
  }
  static std::optional<plugin_order> from_words(std::vector<std::string> const& words) {
    if (words.size() != 5) return std::nullopt;
    return plugin_order{words[0], words[1], words[2], words[3], words[4] == "replace"};
  }
};

}  // namespace gpuprof::host
