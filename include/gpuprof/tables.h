/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/*
 * Tables of a capture as Arrow streams, for Python, R, Julia, Rust and whatever else reads the Arrow C stream interface.
 *
 *   struct ArrowArrayStream kernels;
 *   if (gpuprof_open_table("run.gpuprof", "kernel", &kernels) != 0)
 *     fprintf(stderr, "%s\n", kernels.get_last_error(&kernels));
 *   ...                                   // hand it to a library that imports streams, or call get_schema and get_next
 *   if (kernels.release != NULL) kernels.release(&kernels);
 *
 * Link `gpuprof::capture` (libgpuprof-capture.so); no Arrow library is needed. The two structs of Arrow and that of its
 * streams are those of https://arrow.apache.org/docs/format/CDataInterface.html, which any header may define.
 *
 * Tables and columns are those of docs/capture-format.md, with names in place of their numbers and `kernel_name` beside the
 * shape of a kernel, as `gpuprof export --type csv` has them. The metadata of each field holds its "unit", where it has one,
 * and its "meaning". Three tables are made here: "tables" (table, rows, meaning) says which tables have rows; "missing" (line)
 * says what the capture lacks, a line each; "range" is "range_begin" with `start` for `time`, and with the `duration` of each
 * range and whether it was `still_open` when the capture ended (1).
 *
 * Types are those of the file, but numbers of 64 bits that have a unit (times, bytes) are int64, so that differences may be
 * negative. Real numbers are double, and NaN where there is none. Texts are dictionaries of utf8 with indices of int32.
 * Nothing is null.
 */
#ifndef GPUPROF_TABLES_H
#define GPUPROF_TABLES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @cond The structures of Arrow, which its own documentation describes. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

/** Type of a column or table, as Arrow defines it. */
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

/** Values of a column, or columns of a table, as Arrow defines them. */
struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/** Tables of one type, one after the other, as Arrow defines it. */
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};

#endif /* ARROW_C_STREAM_INTERFACE */
/** @endcond */

/** Marks what libgpuprof-capture.so exports; its C++ interface is in capture.hpp. */
#define GPUPROF_TABLES_API __attribute__((visibility("default")))

/**
 * Opens a table of a capture. Its rows come in the order of the file, and as one array whose columns lie in one block of
 * memory, unless there are more than 64 Mi of them: then as several. They are decoded by the stream's get_next, on up to four
 * threads; until then only the index of the file and its names are read.
 *
 * Returns 0, or an errno value: ENOENT there is no such file, EINVAL it is no capture, is of a newer version, or has no such
 * table, ENOMEM. The stream's get_last_error then says which in one line. Release the stream in that case, too; it has no
 * rows and its other functions return the same error. EINVAL when `stream` is NULL. A table without rows is not an
 * error. A capture that was cut off or is damaged gives the rows that can be read: see "missing".
 *
 * Any thread; a stream is used by one thread at a time. What get_next gave out lives until it is released, also after the
 * stream.
 */
GPUPROF_TABLES_API int gpuprof_open_table(const char* path, const char* table, struct ArrowArrayStream* stream);

/**
 * Opens a table of several captures as one stream: one array or more for each capture, in the order of `paths`. `columns` names
 * the columns that are wanted, in this order, and others are not decoded; NULL: all columns, and if `path_count` is greater than
 * 1 a last column `rank` (int64), the rank of the process in its job, else the place of its path. An unknown column is EINVAL.
 * The first capture is opened at once, the others at their turn: then get_next returns their errors. The rest is as for
 * gpuprof_open_table().
 */
GPUPROF_TABLES_API int gpuprof_open_table_of_all(const char* const* paths, size_t path_count, const char* table, const char* const* columns,
                                                 size_t column_count, struct ArrowArrayStream* stream);

#ifdef __cplusplus
}
#endif

#endif /* GPUPROF_TABLES_H */
