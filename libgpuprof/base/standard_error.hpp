// SPDX-License-Identifier: Apache-2.0
// Writes to the standard error of the process, and never to another file with the same descriptor.
#pragma once

#include <span>
#include <sys/uio.h>

namespace gpuprof {

/// Called when the library is loaded: from then on descriptor 2 is written to only while it refers
/// to the same file. Later calls change nothing. If it is never called, the first write remembers
/// the file.
void remember_standard_error() noexcept;

/// Any thread, without a lock or heap memory. A full or broken pipe does not affect the program:
/// there is no SIGPIPE, and lines that cannot be written are dropped. Writes nothing if the program
/// has closed descriptor 2 or has another file there, such as a data file that got this number
/// after the standard streams were closed. Contains a cancellation point; changes errno.
void write_to_standard_error(std::span<iovec> pieces) noexcept;

}  // namespace gpuprof
