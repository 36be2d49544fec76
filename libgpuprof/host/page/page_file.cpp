// SPDX-License-Identifier: Apache-2.0
#include "host/page/page_file.hpp"

#include "host/export/unfinished_output.hpp"

namespace gpuprof::host::page {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (auto const c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Allows no source except the page itself, so that the browser guarantees that no network is used.
constexpr std::string_view head_before_title =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
    "'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<link rel=\"icon\" href=\"data:,\">\n<title>";

class page_writer {
 public:
  page_writer(unfinished_file& file, page_contents const& contents)
      : file_(file), contents_(contents) {}

  void write() {
    file_.put(head_before_title);
    file_.put(escaped(contents_.title));
    file_.put("</title>\n");
    styles();
    file_.put("</head>\n<body>\n");
    file_.put(asset(page_asset::body));
    data(true);
    script(page_asset::program);
    data(false);
    for (auto const library : {page_asset::charts, page_asset::tables}) script(library);
    file_.put("</body>\n</html>\n");
  }

 private:
  void styles() {
    for (auto const which : {page_asset::table_style, page_asset::style}) {
      file_.put("<style>\n");
      file_.put(asset(which));
      file_.put("</style>\n");
    }
  }
  // The summary comes before all other data, so that a browser shows it before it has read the
  // rest.
  void data(bool of_summary) {
    for (auto const& [name, bytes] : contents_.blocks) {
      if ((name == "facts" || name == "analyze") != of_summary) continue;
      file_.put("<script type=\"application/octet-stream\" id=\"data-" + name + "\">");
      file_.put(bytes);
      file_.put("</script>\n");
    }
  }
  // The libraries do not contain "</script": gpuprof_report_js.cmake checks it.
  void script(page_asset which) {
    file_.put("<script>\n");
    file_.put(asset(which));
    file_.put("\n</script>\n");
  }

  unfinished_file& file_;
  page_contents const& contents_;
};

}  // namespace

bool can_be_made() noexcept {
  return !asset(page_asset::charts).empty();
}

result<std::uint64_t> write_page(page_contents const& contents, std::string const& path,
                                 bool overwrite) {
  auto file = unfinished_file::create(path, overwrite);
  if (!file) return error{file.message()};
  page_writer(*file, contents).write();
  auto const size = file->size();
  if (auto const done = file->finish(); !done) return error{done.message()};
  return size;
}

}  // namespace gpuprof::host::page
