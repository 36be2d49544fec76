// SPDX-License-Identifier: Apache-2.0
// Files kept for later runs: finds their folder, and reads and replaces them as a whole. Also a
// lock on a file which shows that a process is running.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <unistd.h>

namespace gpuprof {

/// Returns $XDG_CACHE_HOME/gpuprof/`kind`, else ~/.cache/gpuprof/`kind`; empty if neither is known.
/// It reads the environment, which the program may be changing, so do not call it on gpuprof's own
/// threads.
std::string cache_folder(std::string_view kind);

/// Replaces the characters of `text` that a file name may not contain.
std::string as_file_name(std::string text);

/// 64-bit FNV-1a. It is the same in every build, which std::hash does not guarantee.
std::uint64_t stable_hash(std::string_view text) noexcept;

struct text_or_errno {
  std::string text;
  int failure = 0;
};
/// Reads a whole file of at most `limit` bytes.
text_or_errno read_whole_file(std::string const& path, std::size_t limit);

/// Does the same for a regular file of this user that no other user may write; else returns EPERM.
/// Does not follow links.
text_or_errno read_own_file(std::string const& path, std::size_t limit);

/// Creates the folder if needed. The file is written under another name and renamed, so that no
/// reader sees half of it; only its owner may read it. Returns 0 or errno; on failure no file
/// remains.
int replace_file(std::string const& folder, std::string const& path, std::string_view text);

// A lock on a whole file which shows that a process is running. It ends with the process.

/// For fcntl. This kind of lock belongs to the process and not to the open file, which forked
/// children share. It is also released when the process closes any other descriptor of the file.
inline flock whole_file() noexcept {
  flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace gpuprof
