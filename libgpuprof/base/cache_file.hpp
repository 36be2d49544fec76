// SPDX-License-Identifier: Apache-2.0
// Files that are kept for later runs: where they lie, read whole, replaced whole; and the lock on
// such a file that says that a process runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <unistd.h>

namespace gpuprof {

/// $XDG_CACHE_HOME/gpuprof/`kind`, else ~/.cache/gpuprof/`kind`; empty when neither is known.
/// Reads the environment: not on our own threads, beside a program that changes it.
std::string cache_folder(std::string_view kind);

/// `text` with what may not stand in the name of a file replaced.
std::string as_file_name(std::string text);

/// FNV-1a, 64 bits: the same in every build, which std::hash does not promise.
std::uint64_t stable_hash(std::string_view text) noexcept;

struct text_or_errno {
  std::string text;
  int failure = 0;
};
/// The whole of a file of at most `limit` bytes.
text_or_errno read_whole_file(std::string const& path, std::size_t limit);

/// The same, if it is a regular file of this user that no other user may write; else EPERM. Links
/// are not followed.
text_or_errno read_own_file(std::string const& path, std::size_t limit);

/// Makes the folder. Written beside and renamed, so that no reader sees half a file; only its owner
/// may read it. 0, or the errno; nothing is left behind then.
int replace_file(std::string const& folder, std::string const& path, std::string_view text);

// A lock on a whole file that says that a process runs: it goes with the process.

/// For fcntl. A lock of this kind belongs to the process and not to the open file, which forked
/// children have too. It also goes when the process closes any other descriptor of the file.
inline flock whole_file() noexcept {
  flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace gpuprof
