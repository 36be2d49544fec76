// SPDX-License-Identifier: Apache-2.0
// gpuprof profile PROGRAM: runs a program with libgpuprof.so inside, then prints the path of the
// capture.
#include "analyze/analyze_output.hpp"
#include "base/nearest_name.hpp"
#include "base/process.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "chip_at_hand.hpp"
#include "guest/options/option_table.hpp"
#include "guest/options/output_name.hpp"
#include "guest/options/run_notes.hpp"
#include "guest/options/settings.hpp"
#include "library_file.hpp"
#include "peaks_beforehand.hpp"
#include "profile/found_program.hpp"
#include "profile/run_captures.hpp"
#include "run_program.hpp"
#include "subcommands.hpp"
#include "text/overview.hpp"
#include "texts.hpp"
#include "word_option.hpp"
#include "words_of_others.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <variant>
#include <vector>

namespace gpuprof::host::command {

using namespace guest;

namespace {

std::string with_percents_doubled(std::string const& text) {
  std::string doubled;
  for (char const c : text) doubled.append(c == '%' ? 2 : 1, c);
  return doubled;
}

/// Returns the pattern of --output as an absolute path.
std::string absolute_output(std::string const& pattern) {
  if (pattern.starts_with('/')) return pattern;
  std::error_code failed;
  auto const here = std::filesystem::current_path(failed);
  if (failed) return pattern;
  return with_percents_doubled(here.string()) + "/" + pattern;
}

/// Checks if the capture can be written, as far as that is known before the program runs.
result<void> check_output(settings const& s) {
  auto const chosen = choose_capture_path(s, naming_facts_of_this_process());
  if (!chosen) return error{chosen.message()};
  auto const& path = chosen->path;
  auto folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) folder = ".";
  struct stat info {};
  std::string const advice = ". Choose another --output";
  if (stat(folder.c_str(), &info) != 0) {
    return error{"the capture cannot be written to " + folder + ": " + std::strerror(errno) +
                 ". Create the folder or choose another --output"};
  }
  if (!S_ISDIR(info.st_mode)) {
    return error{"the capture cannot be written to " + folder + ": it is not a folder" + advice};
  }
  bool const is_there = lstat(path.c_str(), &info) == 0;
  if (is_there && !S_ISREG(info.st_mode)) {
    return error{"the capture cannot be written: " + path + " is a " +
                 (S_ISLNK(info.st_mode) ? "link, which is not followed" : "folder") + advice};
  }
  // A new file replaces the existing one, so its folder must be writable, too.
  auto const file_is_kept = is_there && access(path.c_str(), W_OK) != 0;
  if (file_is_kept || access(folder.c_str(), W_OK | X_OK) != 0) {
    return error{"the capture cannot be written to " + (file_is_kept ? path : folder) + ": " +
                 std::strerror(errno) + advice};
  }
  return {};
}

/// Returns a time that can be compared with the times of files written later.
std::uint64_t file_clock_ns() noexcept {
  return read_clock(CLOCK_REALTIME_COARSE);  // the clock of the kernel's file times
}

constexpr int wrong_usage = 2;
constexpr int nothing_recorded = 125;  // used if the program itself ended with 0

/// The texts given on the command line by option, not yet parsed.
struct profile_arguments {
  std::map<std::string_view, std::vector<std::string>> given;
  std::vector<std::string> command;
  std::string peaks = "auto";
  bool analyze = false;
};

enum class peaks_mode { automatic, on, off };
constexpr word_value<peaks_mode> peaks_modes[] = {
    {"auto", peaks_mode::automatic}, {"on", peaks_mode::on}, {"off", peaks_mode::off}};

int fail(int code, std::string const& message) {
  say(message);
  return code;
}

/// A file through which the processes of the run report to this one; removed at the end.
class run_notes_file {
 public:
  run_notes_file() {
    std::error_code none;
    auto name = (std::filesystem::temp_directory_path(none) / "gpuprof-run-XXXXXX").string();
    auto const made = none ? -1 : mkostemp(name.data(), O_CLOEXEC);
    if (made < 0) return;
    close(made);
    path_ = std::move(name);
  }
  ~run_notes_file() {
    if (is_there()) unlink(path_.c_str());
  }
  run_notes_file(run_notes_file const&) = delete;
  run_notes_file& operator=(run_notes_file const&) = delete;

  std::string const& path() const noexcept { return path_; }
  bool is_there() const noexcept { return !path_.empty(); }

 private:
  std::string path_;
};

/// Splits "none|repeat[:N]|regex:EXPRESSION" into none, repeat, regex:. Placeholders are not words.
std::vector<std::string> words_of(std::string_view syntax, char separator) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < syntax.size();) {
    auto const end = std::min(syntax.find(separator, begin), syntax.size());
    auto const part = syntax.substr(begin, end - begin);
    std::size_t length = 0;
    while (length < part.size() && part[length] != '[' && length_of_placeholder(part, length) == 0)
      ++length;
    if (length > 0) words.emplace_back(part.substr(0, length));
    begin = end + 1;
  }
  return words;
}

value_words completion_of_value(option const& o) {
  bool const is_list = !o.words.empty();
  return {.words = is_list ? words_of(o.words, ',') : words_of(o.syntax, '|'),
          .is_list = is_list,
          .is_file = o.syntax == "FILE"};
}

/// Declares the options of the table as command-line options. Their values are parsed later by the
/// same code that parses the environment.
void declare_options(CLI::App& command, std::shared_ptr<profile_arguments> const& arguments) {
  for (auto const& o : options()) {
    auto names = "--" + std::string(o.name);
    if (o.letter != 0) names += ",-" + std::string(1, o.letter);
    auto const name = o.name;
    if (o.is_switch()) {
      command.add_flag_callback(
          names, [arguments, name] { arguments->given[name] = {"1"}; }, std::string(o.help));
      continue;
    }
    auto const keep = [arguments, name](std::vector<std::string> const& values) {
      arguments->given[name] = values;
      return true;
    };
    auto help = std::string(o.help);
    if (!o.default_text.empty()) help += " Default: " + std::string(o.default_text) + ".";
    auto* const made = command.add_option(names, keep, help);
    complete_with(made, completion_of_value(o));
    made->type_name(std::string(o.syntax))
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(o.repeatable ? CLI::MultiOptionPolicy::TakeAll
                                           : CLI::MultiOptionPolicy::TakeLast);
  }
  // An option of this command only, because a program that already runs is using the GPU.
  auto* const of_peaks = command.add_option(
      "--peaks", arguments->peaks,
      "Have the peaks of the GPUs measured first, unless they are stored, so that the "
      "capture holds them: 3 s a GPU, once. auto: where counters are asked for, and the "
      "program is not one of several ranks. Default: auto.");
  of_peaks->type_name("auto|on|off");
  complete_with(of_peaks, {.words = {"auto", "on", "off"}});
  command.add_flag("--analyze", arguments->analyze,
                   "When the program has ended, print what held it back to stderr, as gpuprof "
                   "analyze does");
}

/// A word with a dash in the place of the program is a misspelled option.
std::string unknown_option(std::string const& word) {
  std::vector<std::string> names{"--peaks", "--analyze"};
  for (auto const& o : options()) names.push_back("--" + std::string(o.name));
  auto const spelled = word.substr(0, word.find('='));
  if (auto const here = in_place_of_option(std::string_view(spelled).substr(
          std::min(spelled.find_first_not_of('-'), spelled.size())));
      !here.empty())
    return "unknown option " + spelled + "; " + std::string(here);
  auto const nearest = nearest_name(spelled, names);
  return "unknown option " + spelled +
         (nearest.empty() ? "; gpuprof profile --help lists the known ones"
                          : "; did you mean " + nearest + "?");
}

/// Reads the environment first, then the command line; `chosen` receives the settings for the
/// program.
result<settings> read_arguments(profile_arguments const& arguments, variables& chosen) {
  auto s = read_settings(environ).values;
  for (auto const& [name, values] : arguments.given) {
    auto const& o = *find_option(name);
    auto const value = joined(values, ";");
    if (auto const read = set_option(s, o, value, "--" + std::string(name)); !read) {
      auto const here = in_place_of_values(name, value);
      return error{read.message() + (here.empty() ? "" : ". " + here)};
    }
    chosen[environment_name(o)] = value;
  }
  if (auto const lines = contradictions(s); !lines.empty()) return error{"--" + lines.front()};
  s.output = absolute_output(s.output);
  chosen["GPUPROF_OUTPUT"] = s.output;
  return s;
}

/// Ranks start together: each would measure while the others work.
bool wants_peaks(peaks_mode mode, settings const& s) {
  if (mode != peaks_mode::automatic) return mode == peaks_mode::on;
  return s.metrics.mode != metrics_mode::none && !s.rank;
}

int profile(profile_arguments const& arguments) {
  auto command = arguments.command;
  if (!command.empty() && command.front().starts_with('-')) {
    return fail(wrong_usage, unknown_option(command.front()));
  }
  if (command.empty()) {
    return fail(wrong_usage,
                "there is no program to profile: gpuprof profile [OPTION]... PROGRAM "
                "[ARGUMENT]...");
  }
  auto const peaks = choose("--peaks", arguments.peaks, peaks_modes);
  if (!peaks) return fail(wrong_usage, peaks.message());
  variables chosen;
  auto const s = read_arguments(arguments, chosen);
  if (!s) return fail(wrong_usage, s.message());
  auto const looked_for = find_program(command.front());
  if (auto const* const missing = std::get_if<no_program>(&looked_for)) {
    return fail(missing->exit_code, missing->message);
  }
  auto const& program = std::get<program_file>(looked_for);
  auto const library = find_library_file();
  if (!library) return fail(1, library.message());
  if (auto const writable = check_output(*s); !writable) {
    return fail(wrong_usage, writable.message());
  }
  if (auto const unknown = unknown_metric(s->metrics.words); !unknown.empty())
    return fail(wrong_usage, unknown + " The program was not started");
  if (!program.preload_obstacle.empty()) say(program.preload_obstacle);

  if (wants_peaks(*peaks, *s))
    store_peaks_beforehand(s->log_level, *peaks == peaks_mode::on ? telling::all : telling::news);
  chosen["GPUPROF_RUN_STARTED"] = std::to_string(file_clock_ns());
  run_notes_file const notes_file;
  chosen[run_notes_variable] = notes_file.path();
  if (program.has_address_sanitizer)
    say(program.path +
        " is built with AddressSanitizer, which ends programs into which another library is "
        "preloaded: gpuprof is loaded at the first call of CUDA or NVTX instead. Profilers in the "
        "program (torch.profiler) cannot use CUPTI beside it");
  auto const environment = make_launch_environment(
      environ, chosen, *library, program.has_address_sanitizer ? "" : preload_file(*library));
  for (auto const& remark : environment.remarks) say(remark);
  auto const outcome = run_program(program.path, command, environment.entries);
  if (!outcome.message.empty()) return fail(outcome.exit_code, outcome.message);
  if (outcome.signal != 0 && s->log_level < log_level::error)
    say("the program was ended by signal " + std::to_string(outcome.signal) + " (" +
        strsignal(outcome.signal) + ")");
  auto const notes = read_run_notes(notes_file.path());
  auto const captures = without_idle_processes(notes.captures, s->log_level >= log_level::error);
  if (s->log_level < log_level::error) say_which_have_no_end(captures);
  if (arguments.analyze) analyze_at_end(captures);
  if (!notes.captures.empty() || !notes_file.is_there()) return outcome.exit_code;
  if (s->log_level < log_level::error) say_why_there_is_none(notes.no_captures);
  return outcome.exit_code != 0 ? outcome.exit_code : nothing_recorded;
}

/// True if the value of this option is the next word: "-o FILE", "--output FILE", but not
/// "--output=FILE".
bool takes_next_word(std::string const& word) {
  if (word == "--peaks") return true;
  for (auto const& o : options()) {
    if (o.is_switch()) continue;
    if (word == "--" + std::string(o.name)) return true;
    if (o.letter != 0 && word == std::string("-") + o.letter) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> words_to_parse(int argc, char const* const* argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words.front() == "profile") {
    std::size_t i = 1;
    while (i < words.size() && words[i].starts_with('-') && words[i] != "--") {
      i += takes_next_word(words[i]) ? 2 : 1;
    }
    if (i < words.size() && words[i] == "--") {
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  std::reverse(words.begin(), words.end());
  return words;
}

void add_profile(CLI::App& app, int& exit_code) {
  auto const arguments = std::make_shared<profile_arguments>();
  auto* const command = app.add_subcommand("profile", "Run a program and record what it does");
  command->footer(
      "Every option but --peaks and --analyze is "
      "also an environment variable, GPUPROF_OUTPUT for --output, for programs run with "
      "LD_PRELOAD=libgpuprof_preload.so.\nJobs of several ranks: gpuprof profile -o job torchrun "
      "..., srun gpuprof profile -o job ./train, mpirun -n 8 gpuprof profile -o job ./train. Each "
      "rank writes a capture of its own, job.rank0.gpuprof.\nEnds as the program did; with 125 "
      "where that is 0 and "
      "nothing "
      "was "
      "recorded, with 2 where an option is wrong, with 126 or 127 where the program cannot be "
      "started, with 128 and the signal that ended it.");
  declare_options(*command, arguments);
  command->prefix_command();  // everything from the first word that is not an option
  command->callback([command, arguments, &exit_code] {
    arguments->command = command->remaining();
    exit_code = profile(*arguments);
  });
}

}  // namespace gpuprof::host::command
