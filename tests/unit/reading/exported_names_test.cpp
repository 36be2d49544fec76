// SPDX-License-Identifier: Apache-2.0
// Names leave a capture as UTF-8.
#include "host/reading/exported_names.hpp"

#include "base/utf8.hpp"
#include "capture/writer.hpp"
#include "support/catch.hpp"
#include "support/scratch_folder.hpp"

using namespace gpuprof;
using namespace gpuprof::host;

TEST_CASE("bytes that are not UTF-8 are replaced one by one, and the rest stays") {
  CHECK(valid_utf8("plain") == "plain");
  CHECK(valid_utf8("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80") ==
        "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  CHECK(valid_utf8("a\xff\x80z") == "a\xef\xbf\xbd\xef\xbf\xbdz");
  CHECK(valid_utf8("\xc3") == "\xef\xbf\xbd");                  // cut off
  CHECK(valid_utf8("\xc0\xaf") == "\xef\xbf\xbd\xef\xbf\xbd");  // a slash, written too long
  CHECK(valid_utf8("\xed\xa0\x80").size() == 9);                // half a surrogate pair
  CHECK(valid_utf8("") == "");
}

TEST_CASE("kernel names are made once for all shapes, and are valid") {
  test::scratch_folder scratch;
  auto out =
      std::move(*capture::writer::create(scratch / "a.gpuprof", capture::create_mode::overwrite));
  out->add_name(name_id{1}, "_Z5scaleIfEvPT_i");
  out->add_name(name_id{2}, "bad\xff");
  for (std::uint32_t i = 1; i <= 3; ++i) {
    kernel_shape shape;
    shape.id = static_cast<shape_id>(i);
    shape.name = i < 3 ? name_id{1} : name_id{2};
    shape.grid = {i, 1, 1};
    out->add(shape);
  }
  REQUIRE(out->close());
  trace_contents trace(std::move(*capture::reader::open(scratch / "a.gpuprof")));
  exported_names names(trace);
  CHECK(names.kernel_of(shape_id{1}).demangled == "void scale<float>(float*, int)");
  CHECK(names.kernel_of(shape_id{1}).base == "scale");
  CHECK(&names.kernel_of(shape_id{1}) == &names.kernel_of(shape_id{2}));
  CHECK(names.kernel_of(shape_id{3}).demangled == "bad\xef\xbf\xbd");
  CHECK(names.text(name_id{2}) == "bad\xef\xbf\xbd");
  CHECK(names.shape(shape_id{2}).grid.x == 2);
  CHECK(names.kernel_of(shape_id{99}).base == "(unknown)");
  CHECK(names.shape(shape_id{99}).grid.x == 0);
}
