// SPDX-License-Identifier: Apache-2.0
#include "guest/options/run_notes.hpp"

#include "support/catch.hpp"
#include "support/scratch_folder.hpp"

#include <fstream>
#include <thread>

using namespace gpuprof;
using namespace gpuprof::guest;

TEST_CASE("notes of several processes are read completely, each reason once") {
  test::scratch_folder const folder;
  auto const file = folder / "notes";
  std::ofstream(file).flush();
  CHECK(note_capture(file, "/a b\n.gpuprof"));
  CHECK(note_no_capture(file, "no range"));
  CHECK(note_no_capture(file, "no range"));
  CHECK(note_no_capture(file, ""));
  CHECK(note_capture(file, "/c.gpuprof"));
  auto const notes = read_run_notes(file);
  CHECK(notes.captures == std::vector<std::string>{"/a b\n.gpuprof", "/c.gpuprof"});
  CHECK(notes.no_captures == std::vector<std::string>{"no range", ""});
}

TEST_CASE("without a reader nothing is noted, and no file is made") {
  test::scratch_folder const folder;
  CHECK_FALSE(note_capture(std::nullopt, "/a.gpuprof"));
  CHECK_FALSE(note_capture("", "/a.gpuprof"));
  CHECK_FALSE(note_capture(folder / "gone", "/a.gpuprof"));
  CHECK(read_run_notes(folder / "gone").captures.empty());
}
