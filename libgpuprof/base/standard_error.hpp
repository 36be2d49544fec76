// SPDX-License-Identifier: Apache-2.0
// Writes to the standard error of the process, and to nothing else that has its number.
#pragma once

#include <span>
#include <sys/uio.h>

namespace gpuprof {

/// When the library is loaded: from now on descriptor 2 is written to only while it is the file
/// that it is now. Later calls change nothing; without any the first write remembers.
void remember_standard_error() noexcept;

/// Any thread, without a lock, without memory of the heap. Neither a full nor a broken pipe is a
/// matter for the program: no SIGPIPE, and what cannot be written is dropped. Writes nothing when
/// the program has closed descriptor 2, or has another file there: its data files get that number
/// once it has closed its standard streams. Passes a point where threads are canceled; changes
/// errno.
void write_to_standard_error(std::span<iovec> pieces) noexcept;

}  // namespace gpuprof
