// SPDX-License-Identifier: Apache-2.0
#include "process/stats/cli.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

using namespace gpuprof;
using namespace gpuprof::test;

namespace {

/// One line on stderr, nothing on stdout.
void check_refusal(outcome const& r, int code, std::string const& words) {
  INFO("stderr: " << r.err << "stdout: " << r.out);
  CHECK(r.code == code);
  CHECK(r.out.empty());
  CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
  CHECK(r.err.find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("a wrong command line ends with 2 and one line that names what is accepted") {
  scratch_folder const folder;
  write_capture(folder / "app.gpuprof", two_steps());
  auto const stats = [&](std::string const& arguments) {
    return run_cli(folder, "stats app.gpuprof " + arguments);
  };
  check_refusal(run_cli(folder, "stats"), 2, "FILE");
  check_refusal(run_cli(folder, "nonsense"), 2, "nonsense");
  check_refusal(run_cli(folder, "stast app.gpuprof"), 2, "did you mean stats?; see gpuprof --help");
  check_refusal(run_cli(folder, "timeline app.gpuprof"), 2,
                "there is no command 'timeline'; gpuprof report writes a page with the timeline");
  check_refusal(run_cli(folder, "--versoin"), 2, "did you mean --version?; see gpuprof --help");
  check_refusal(stats("-o ''"), 2, "--output: is empty");
  check_refusal(stats("-o kernels.xlsx"), 2,
                "--output: .xlsx is not written; spreadsheets open NAME.csv");
  check_refusal(stats("--filter-nvtx ''"), 2, "--filter-nvtx: is empty");
  check_refusal(run_cli(folder, "metrics --set roofine"), 2, "did you mean roofline?");
  check_refusal(stats("--fromat csv"), 2, "did you mean --format?; see gpuprof stats --help");
  check_refusal(stats("-r nvtx_smu"), 2, "did you mean nvtx_sum?");
  check_refusal(stats("-f cvs"), 2, "did you mean csv?");
  check_refusal(stats("--limit abc"), 2, "--limit takes a number, not 'abc'; see gpuprof stats");
  check_refusal(run_cli(folder, "export app.gpuprof"), 2,
                "--type is required: choose from chrome, csv, ");
  check_refusal(stats("--nonsense"), 2, "--nonsense");
  check_refusal(stats("-r kern_sum"), 2,
                "there is no report 'kern_sum'; choose from cuda_gpu_kern_sum");
  check_refusal(stats("-r memory"), 2,
                "there is no report 'memory'; cuda_gpu_mem_size_sum has the bytes that copies");
  check_refusal(stats("-r gpukernsum"), 2, "cuda_gpu_kern_sum has the kernels");
  check_refusal(stats("-r nvtx_sum:short"), 2, "choose from :base, :mangled");
  check_refusal(stats("-f yaml"), 2, "choose from table, csv, tsv, json");
  check_refusal(stats("--timeunit days"), 2, "choose from ns, us, ms, s");
  check_refusal(stats("--filter-time yesterday"), 2, "START/END");
  check_refusal(stats("--filter-nvtx @x"), 2, "NAME[@DOMAIN][/INDEX]");
}

TEST_CASE("gpuprof without arguments shows its help, as does gpuprof help") {
  scratch_folder const folder;
  auto const alone = run_cli(folder, "");
  CHECK(alone.code == 0);
  CHECK(alone.err.empty());
  CHECK(alone.out.starts_with("Usage: gpuprof COMMAND [OPTION]...\n"));
  CHECK(alone.out.find("gpuprof profile -o run python3 train.py") != std::string::npos);
  CHECK(run_cli(folder, "help").out == alone.out);
  CHECK(run_cli(folder, "--help").out == alone.out);
  auto const stats = run_cli(folder, "stats --help");
  CHECK(stats.code == 0);
  CHECK(stats.out.starts_with("Usage: gpuprof stats [OPTION]... FILE...\n"));
  CHECK(run_cli(folder, "help stats").out == stats.out);
  CHECK(run_cli(folder, "help profile")
            .out.starts_with("Usage: gpuprof profile [OPTION]... [--] PROGRAM [ARGUMENT]...\n"));
  for (std::string const of : {"", " profile", " stats", " roofline", " peaks", " metrics"}) {
    std::istringstream lines(run_cli(folder, "help" + of).out);
    for (std::string line; std::getline(lines, line);) {
      auto const text = line.substr(std::min(line.find_first_not_of(' '), line.size()));
      if (text.find(' ') != text.npos) CHECK(line.size() <= 100);  // one word stays whole
    }
  }
  auto const version = run_cli(folder, "-V");
  CHECK(version.code == 0);
  CHECK(version.out.starts_with("gpuprof 0."));
  CHECK(version.out.find("\nCUPTI here: ") != std::string::npos);
}

TEST_CASE("a capture is found by the name that was given to -o") {
  scratch_folder const folder;
  write_capture(folder / "app.gpuprof", two_steps());
  CHECK(run_cli(folder, "stats app -r nvtx_sum").out ==
        run_cli(folder, "stats app.gpuprof -r nvtx_sum").out);
  check_refusal(run_cli(folder, "stats ap"), 1, "'ap'");
}

TEST_CASE("a file that cannot be read ends with 1 and one line that says why") {
  scratch_folder const folder;
  check_refusal(run_cli(folder, "stats missing.gpuprof"), 1, "missing.gpuprof");
  std::ofstream(folder / "text.txt") << "hello, this is not a capture, whatever its name may be\n";
  check_refusal(run_cli(folder, "stats text.txt"), 1, "not a gpuprof capture");
  std::ofstream(folder / "empty.gpuprof").flush();
  check_refusal(run_cli(folder, "stats empty.gpuprof"), 1, "empty");
  check_refusal(run_cli(folder, "stats ."), 1, "empty.gpuprof");
}

TEST_CASE("records missing from the file are part of the line of losses") {
  scratch_folder const folder;
  write_capture(folder / "app.gpuprof", two_steps());
  auto const lost = [&](std::string const& file) {
    auto const out = run_cli(folder, "stats -r cuda_gpu_kern_sum " + file).out;
    auto const at = out.find("lost: ");
    return out.substr(at, out.find('\n', at) - at);
  };
  CHECK(lost("app") == "lost: nothing");
  auto const whole = read_file(folder / "app.gpuprof");
  std::ofstream(folder / "cut.gpuprof") << whole.substr(0, whole.size() - 40);
  CHECK(lost("cut").find("whatever came last") != std::string::npos);
  bool kernels_are_missed = false;
  for (std::size_t at = 40; at < whole.size(); at += 23) {
    auto flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x55);
    std::ofstream(folder / "flipped.gpuprof") << flipped;
    auto const r = run_cli(folder, "stats -r cuda_gpu_kern_sum flipped");
    if (r.out.find("rows of table 'kernel' lost") == std::string::npos) continue;
    CHECK(lost("flipped").find("kernels (100.0%) in damaged parts of the file") !=
          std::string::npos);
    kernels_are_missed = true;
    break;
  }
  CHECK(kernels_are_missed);
}

TEST_CASE(
    "a range that is not in the capture ends with 1 and the line says where the names are listed") {
  scratch_folder const folder;
  write_capture(folder / "app.gpuprof", two_steps());
  check_refusal(run_cli(folder, "stats app.gpuprof --filter-nvtx stepp"), 1,
                "nvtx_sum lists all range names");
  check_refusal(run_cli(folder, "stats app.gpuprof --filter-nvtx step/2"), 1, "occurs 2 times");
}

TEST_CASE("output that cannot be written ends with 1") {
  scratch_folder const folder;
  write_capture(folder / "app.gpuprof", two_steps());
  auto const r = run_cli(folder, "stats app.gpuprof -r nvtx_sum -o no_such_folder/x");
  CHECK(r.code == 1);
  CHECK(r.err.find("cannot write no_such_folder/x_nvtx_sum.txt: No such file or directory") !=
        std::string::npos);
  auto const full = std::system(
      ("'" GPUPROF_CLI "' stats '" + (folder / "app.gpuprof") + "' >/dev/full 2>/dev/null")
          .c_str());
  CHECK(WEXITSTATUS(full) == 1);
}

TEST_CASE("a capture cut at any place is read up to the cut or refused in one line") {
  scratch_folder const folder;
  write_capture(folder / "app.gpuprof", two_steps());
  auto const whole = read_file(folder / "app.gpuprof");
  for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 60) {
    std::ofstream(folder / "cut.gpuprof", std::ios::binary) << whole.substr(0, length);
    auto const r = run_cli(
        folder,
        "stats cut.gpuprof -r cuda_gpu_kern_sum,nvtx_kern_sum,nvtx_gpu_proj_sum,cuda_gpu_trace");
    INFO("cut at " << length << " of " << whole.size() << ": " << r.err);
    CHECK((r.code == 0 || r.code == 1));
    if (r.code == 1) CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
  }
}
