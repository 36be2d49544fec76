// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/range_paths.hpp"
#include "support/catch.hpp"
#include "support/trace_of.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

trace with_numbers(std::string const& name, int count, std::string const& domain = "") {
  std::vector<event> events;
  for (int i = 0; i < count; ++i)
    events.push_back(range(numbered(name, i), {i * 1000}, {i * 1000 + 500}).in_domain(domain));
  events.push_back(range("forward", 1_ms, 2_ms));
  return trace_of(events);
}

struct lines_of {
  explicit lines_of(trace const& t, std::string_view step = "no such step")
      : tree(t.begins, t.ends, t.last),
        steps(number_steps(tree, t.text(), step)),
        lines(tree, t.text(), steps) {}
  range_key of(trace const& t, std::string_view name) const {
    return lines.line_of(key_of(tree[tree.index_of(t.id_of(name))]));
  }
  range_tree tree;
  step_ranges steps;
  numbered_ranges lines;
};

}  // namespace

TEST_CASE("very many names that differ only in a number share a line") {
  auto const t = with_numbers("aten::mm, seq = ", 65);
  lines_of const made(t);
  CHECK(made.of(t, "aten::mm, seq = 0") == made.of(t, "aten::mm, seq = 64"));
  CHECK(made.lines.name_of_line(made.of(t, "aten::mm, seq = 7")) == "aten::mm #");
  CHECK(made.lines.name_of_line(made.of(t, "forward")).empty());
}

TEST_CASE("the layers of a model keep a line each") {
  auto const t = with_numbers("layer ", 64);
  lines_of const made(t);
  CHECK(made.of(t, "layer 0") != made.of(t, "layer 1"));
  CHECK(made.lines.name_of_line(made.of(t, "layer 0")).empty());
}

TEST_CASE("steps are one line, even if they are few") {
  auto const t = with_numbers("step ", 4);
  lines_of const made(t, "step");
  CHECK(made.of(t, "step 0") == made.of(t, "step 3"));
  CHECK(made.lines.name_of_line(made.of(t, "step 3")) == "step");
}
