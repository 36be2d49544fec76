// The manual page and the completions list every option and value of the option table, and no
// other.
#include "session/option_table.hpp"
#include "support/catch.hpp"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

using namespace gpuprof;

namespace {

std::string document(std::string const& path) {
  std::ifstream file(std::string(GPUPROF_DOCUMENTS) + "/" + path);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  REQUIRE_FALSE(text.empty());
  std::erase(text, '\\');  // roff writes \- for a dash
  return text;
}

std::set<std::string> long_options_in(std::string const& text) {
  static std::regex const spelling("--([a-z][a-z-]+)");
  std::set<std::string> found;
  for (std::sregex_iterator i(text.begin(), text.end(), spelling), end; i != end; ++i) {
    found.insert((*i)[1]);
  }
  return found;
}

/// Fish writes "-l output", not "--output".
std::set<std::string> fish_options_in(std::string const& text) {
  static std::regex const spelling(" -l ([a-z][a-z-]+) ");
  std::set<std::string> found;
  for (std::sregex_iterator i(text.begin(), text.end(), spelling), end; i != end; ++i) {
    found.insert((*i)[1]);
  }
  return found;
}

void check_options(std::set<std::string> const& found, std::set<std::string> others) {
  for (auto const& o : options()) {
    INFO(o.name);
    CHECK(found.count(std::string(o.name)) == 1);
    others.insert(std::string(o.name));
  }
  for (auto const& name : found) {
    INFO(name);
    CHECK(others.count(name) == 1);
  }
}

/// Values separated by '|' in a syntax such as "none|repeat[:N]", without their parameters.
std::vector<std::string> words_of(std::string_view syntax) {
  static std::regex const word("[a-zA-Z-]+[a-z]");
  std::string const text(syntax);
  std::vector<std::string> words;
  for (std::sregex_iterator i(text.begin(), text.end(), word), end; i != end; ++i) {
    words.push_back(i->str());
  }
  return words;
}

/// And of the command line alone: profile --peaks.
std::set<std::string> const of_other_commands{
    "help",        "version",     "json",      "report",      "format",       "timeunit",
    "filter-nvtx", "filter-time", "kernel",    "stream",      "quick",        "only",
    "refresh",     "force",       "sustained", "zeros",       "device",       "from",
    "csv",         "list",        "peaks",     "chip",        "query",        "set",
    "passes",      "by",          "limit",     "range-scope", "memory-limit", "wide"};

}  // namespace

TEST_CASE("the manual page has every option with its letter, variable and default") {
  auto const text = document("man/gpuprof.1");
  check_options(long_options_in(text), of_other_commands);
  for (auto const& o : options()) {
    INFO(o.name);
    CHECK(text.find('(' + environment_name(o)) != std::string::npos);
    std::string heading = ".BR ";
    if (o.letter != 0) heading.append("-").append(1, o.letter).append(" \", \" ");
    heading.append("--").append(o.name).append(o.is_switch() ? "\n" : " \" \" ");
    auto const start = text.find(heading);
    REQUIRE(start != std::string::npos);
    auto const paragraph = text.substr(start, text.find(environment_name(o), start) - start);
    if (!o.default_text.empty()) {
      CHECK(paragraph.find("Default: " + std::string(o.default_text)) != std::string::npos);
    }
  }
}

TEST_CASE("each completion has every option and every fixed value") {
  struct completion {
    char const* path;
    std::set<std::string> (*options_in)(std::string const&);
  };
  for (auto const& [path, options_in] : {completion{"completion/gpuprof.bash", long_options_in},
                                         completion{"completion/_gpuprof", long_options_in},
                                         completion{"completion/gpuprof.fish", fish_options_in}}) {
    INFO(path);
    auto const text = document(path);
    check_options(options_in(text), of_other_commands);
    for (auto const& o : options()) {
      if (o.syntax.find('|') == std::string_view::npos || o.repeatable) continue;
      for (auto const& word : words_of(o.syntax)) {
        INFO(word);
        CHECK(text.find(word) != std::string::npos);
      }
    }
  }
}

TEST_CASE("bash completes each word of a list") {
  auto const completed = [](std::string const& words, int last) {
    auto const script = "source " GPUPROF_DOCUMENTS "/completion/gpuprof.bash; COMP_WORDS=(" +
                        words + "); COMP_CWORD=" + std::to_string(last) +
                        "; _gpuprof; echo \"${COMPREPLY[*]}\"";
    auto* const out = popen(("bash -c '" + script + "'").c_str(), "r");
    REQUIRE(out != nullptr);
    char line[4096] = {};
    REQUIRE(fgets(line, sizeof line, out) != nullptr);
    pclose(out);
    return std::string(line);
  };
  CHECK(completed("gpuprof stats -r nvtx_sum,cuda_gpu_mem", 3) ==
        "nvtx_sum,cuda_gpu_mem_time_sum nvtx_sum,cuda_gpu_mem_size_sum\n");
  CHECK(completed("gpuprof profile -t cuda,nv", 3) == "cuda,nvtx\n");
  CHECK(completed("gpuprof stats -f js", 3) == "json\n");
}
