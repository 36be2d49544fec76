// SPDX-License-Identifier: Apache-2.0
// A table of a capture file is a specialization of table<Row> with its number, its name and
// its columns.
#pragma once

#include "capture/member_path.hpp"

namespace gpuprof::capture {

// A table's number, a column's place in its list and the meaning of both are for ever. New columns
// go to the end of a list, new tables get a new number; nothing is removed or reordered.

template <class Row>
struct table;

}  // namespace gpuprof::capture
