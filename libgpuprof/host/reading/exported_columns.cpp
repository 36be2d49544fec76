// SPDX-License-Identifier: Apache-2.0
#include "host/reading/exported_columns.hpp"

#include "capture/column_notes.hpp"

#include <algorithm>
#include <array>

namespace gpuprof::host {

bool is_exported(capture::table_layout const& table) noexcept {
  constexpr std::array about_the_file{capture::table<capture::schema_row>::number,
                                      capture::table<capture::name_row>::number,
                                      capture::table<capture::end_row>::number};
  return std::find(about_the_file.begin(), about_the_file.end(), table.number) ==
         about_the_file.end();
}

std::vector<exported_column> exported_columns(capture::table_layout const& table) {
  using content = exported_column::content;
  std::vector<exported_column> made;
  exported_column kernel{"kernel_name", "", "the kernel's name, demangled, with its arguments"};
  for (std::size_t place = 0; place < table.columns.size(); ++place) {
    auto const& column = table.columns[place];
    exported_column about{column.name, "", "", &column, place, content::number};
    if (auto const* const note = capture::note_of(table.name, column.name)) {
      about.unit = note->unit;
      about.meaning = note->meaning;
      if (note->refers_to == "name.id") about.holds = content::text_of_name;
      if (note->refers_to == "shape.id") {
        kernel.source = &column;
        kernel.place = place;
        kernel.holds = content::kernel_of_shape;
      }
    }
    made.push_back(about);
  }
  if (kernel.source != nullptr) made.push_back(kernel);
  return made;
}

}  // namespace gpuprof::host
