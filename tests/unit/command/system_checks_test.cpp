// SPDX-License-Identifier: Apache-2.0
// The lines of `gpuprof status` that come from files, against made-up machines.
#include "status_checks.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::host::command;

namespace {

/// A folder with the files a machine would have.
class imagined_machine {
 public:
  imagined_machine() {
    char name[] = "/tmp/gpuprof-machine-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    root_ = name;
    file("proc/sys/kernel/osrelease", "6.1.0-test\n");
    file("proc/version", "Linux version 6.1.0\n");
  }
  imagined_machine(imagined_machine const&) = delete;
  imagined_machine& operator=(imagined_machine const&) = delete;
  ~imagined_machine() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  imagined_machine& file(std::string const& path, std::string const& text) {
    auto const whole = std::filesystem::path(root_) / path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
    return *this;
  }
  check line(std::string const& name, std::vector<char const*> environment = {}) const {
    environment.push_back(nullptr);
    auto const checks = system_checks(root_, environment.data());
    auto const found =
        std::find_if(checks.begin(), checks.end(), [&](check const& c) { return c.name == name; });
    REQUIRE(found != checks.end());
    return *found;
  }

 private:
  std::string root_;
};

bool has(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("counter rights follow RmProfilingAdminOnly and the rights of the process") {
  imagined_machine machine;
  CHECK(machine.line("counters").state == check_state::unknown);
  machine.file("proc/driver/nvidia/params", "Other: 1\nRmProfilingAdminOnly: 0\n");
  CHECK(machine.line("counters").state == check_state::ok);
  machine.file("proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
  machine.file("proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\n");
  CHECK(machine.line("counters").state == check_state::limited);
  CHECK(has(machine.line("counters").fix, "SYS_ADMIN"));
  machine.file("proc/self/status", "CapEff:\t0000000000200000\n");  // CAP_SYS_ADMIN
  CHECK(machine.line("counters").state == check_state::ok);
  machine.file("proc/self/status", "CapEff:\t0000004000000000\n");  // CAP_PERFMON
  CHECK(machine.line("counters").state == check_state::ok);
}

TEST_CASE("MPS is detected by its process or its variable") {
  imagined_machine machine;
  CHECK(machine.line("mps").state == check_state::ok);
  CHECK(machine.line("mps", {"CUDA_MPS_PIPE_DIRECTORY=/tmp/mps"}).state == check_state::limited);
  machine.file("proc/17/comm", "nvidia-cuda-mps\n");  // as the kernel cuts it
  CHECK(machine.line("mps").state == check_state::limited);
}

TEST_CASE("a process that ends during the check is skipped") {
  imagined_machine machine;
  auto const before = machine.line("mps").state;
  machine.file("proc/77/comm/not_text", "");  // reading a folder fails as that does
  CHECK(machine.line("mps").state == before);
}

TEST_CASE("other tools are named") {
  imagined_machine machine;
  machine.file("proc/17/comm", "bash\n").file("proc/18/comm", "sleep\n");
  CHECK(machine.line("other tools").state == check_state::ok);
  machine.file("proc/19/comm", "nv-hostengine\n").file("proc/20/comm", "nsys\n");
  auto const line = machine.line("other tools");
  CHECK(line.state == check_state::limited);
  CHECK(has(line.text, "DCGM"));
  CHECK(has(line.text, "Nsight Systems"));
}

TEST_CASE("a container without GPU devices gets a line on how to add them") {
  imagined_machine machine;
  CHECK(machine.line("container").text == "none");
  machine.file(".dockerenv", "");
  CHECK(has(machine.line("container").fix, "--gpus all"));
  machine.file("dev/nvidiactl", "");
  CHECK(machine.line("container").state == check_state::ok);
  machine.file("proc/version", "Linux version 5.15 (Microsoft)\n");
  CHECK(has(machine.line("container").text, "Windows Subsystem"));
}

TEST_CASE("another tool's injection and wrong settings are named") {
  imagined_machine const machine;
  CHECK(machine.line("environment").state == check_state::ok);
  CHECK(machine.line("environment", {"CUDA_INJECTION64_PATH=/x/libgpuprof.so"}).state ==
        check_state::ok);
  auto const foreign = machine.line("environment", {"CUDA_INJECTION64_PATH=/opt/tool.so"});
  CHECK(foreign.state == check_state::limited);
  CHECK(has(foreign.text, "/opt/tool.so"));
  CHECK(machine.line("settings").state == check_state::ok);
  CHECK(has(machine.line("settings", {"GPUPROF_TRACE=x"}).text, "cuda-memory"));
}

TEST_CASE("the versions of the system are shown") {
  CHECK(has(imagined_machine().line("system").text, "Linux 6.1.0-test"));
}

TEST_CASE("a gpuprof of another project that is first on PATH is named, with the remedy") {
  imagined_machine machine;
  CHECK(machine.line("command", {"PATH=/bin:/usr/bin"}).state == check_state::ok);
  machine.file("venv/bin/gpuprof", "#!/venv/bin/python\nimport re\nfrom gpuprof.cli import main\n");
  auto const line = machine.line("command", {"PATH=/bin:/venv/bin"});
  CHECK(line.state == check_state::limited);
  CHECK(has(line.text, "/venv/bin/gpuprof"));
  CHECK(has(line.fix, "libgpuprof"));
}

TEST_CASE("our own gpuprof on PATH is fine, as a program or as a script of our package") {
  imagined_machine machine;
  machine.file("usr/bin/gpuprof", "\177ELF from gpuprof import");
  CHECK(has(machine.line("command", {"PATH=/usr/bin"}).text, "/usr/bin/gpuprof"));
  machine.file("venv/bin/gpuprof", "#!/venv/bin/python\nfrom libgpuprof._command import main\n");
  auto const line = machine.line("command", {"PATH=/venv/bin:/usr/bin"});
  CHECK(line.state == check_state::ok);
  CHECK(has(line.text, "/venv/bin/gpuprof"));
}

TEST_CASE(
    "only the first gpuprof counts, and a word in a program's text is not taken for a module") {
  imagined_machine machine;
  machine.file("a/gpuprof", "#!/bin/sh\n# from gpuprof\nexec gpuprof-old\n");
  machine.file("b/gpuprof", "#!/usr/bin/python3\nfrom gpuprof import cli\n");
  CHECK(machine.line("command", {"PATH=/a:/b"}).state == check_state::ok);
  CHECK(machine.line("command", {"PATH=/b:/a"}).state == check_state::limited);
}
