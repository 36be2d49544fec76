// SPDX-License-Identifier: Apache-2.0
// clang-format off
/**
 * @file
 * Reads a capture that `gpuprof profile` made: kernels, copies, calls, ranges, counters, losses.
 *
 * @code{.cpp}
 * using gpuprof::captured_kernel;
 * gpuprof::capture_file run("run.gpuprof");
 * std::uint64_t busy_ns = 0;
 * for (auto const& kernel : run.read<captured_kernel>(&captured_kernel::duration_ns))
 *   busy_ns += kernel.duration_ns;
 * for (auto const& line : run.losses()) std::cerr << line << '\n';
 * @endcode
 *
 * Link `gpuprof::capture` (libgpuprof-capture.so); libgpuprof.so is not needed. Records come in the
 * order in which they begin. Only a few blocks of the file are in memory at once. If the duration
 * of ranges is asked for, all ranges are (240 bytes each), and so are readings with their values.
 *
 * The version of this interface is part of the names that are linked: a program that was built for
 * another version does not start.
 */
// clang-format on
#ifndef GPUPROF_CAPTURE_HPP
#define GPUPROF_CAPTURE_HPP

#include <gpuprof/capture_records.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/** Version of the interface in this header; `capture_v1` in the names that are linked. */
#define GPUPROF_CAPTURE_API 1

/** Marks what libgpuprof-capture.so exports. */
#define GPUPROF_CAPTURE_EXPORT __attribute__((visibility("default")))

namespace gpuprof {
inline namespace capture_v1 {

/** A part of a capture's time, in ns of CLOCK_REALTIME. */
struct captured_stretch {
  std::uint64_t begin_ns = 0; /**< first moment of the stretch */
  std::uint64_t end_ns = 0;   /**< first moment after the stretch */
};

/** Kind of the records in a batch. Of records that begin at one time, the earlier kind comes first.
 */
enum class captured_kind : std::uint8_t {
  range,
  mark,
  call,
  kernel,
  graph,
  copy,
  fill,
  sync,
  memory,
  reading,
  sample,
  chip_state,
};

/** @cond Of no use to programs. */
namespace captured_detail {

inline constexpr std::size_t captured_kind_count = 12;

template <class Record>
struct kind_of;
#define GPUPROF_CAPTURED(name)                         \
  template <>                                          \
  struct kind_of<captured_##name> {                    \
    static constexpr auto value = captured_kind::name; \
  }
GPUPROF_CAPTURED(range);
GPUPROF_CAPTURED(mark);
GPUPROF_CAPTURED(call);
GPUPROF_CAPTURED(kernel);
GPUPROF_CAPTURED(graph);
GPUPROF_CAPTURED(copy);
GPUPROF_CAPTURED(fill);
GPUPROF_CAPTURED(sync);
GPUPROF_CAPTURED(memory);
GPUPROF_CAPTURED(reading);
GPUPROF_CAPTURED(sample);
GPUPROF_CAPTURED(chip_state);
#undef GPUPROF_CAPTURED

/** One bit for each four bytes of a record: the fields that lie there. 0: the kind is not read. */
using field_bits = std::uint64_t;
inline constexpr field_bits all_fields = ~field_bits{0};

template <class Record, class Base, class Member>
field_bits bit_of(Member Base::*member) noexcept {
  static_assert(sizeof(Record) <= std::size_t{4} * 64, "a field beyond has no bit");
  static Record const whole{};
  auto const* const at = reinterpret_cast<char const*>(&(whole.*member));
  return field_bits{1} << (at - reinterpret_cast<char const*>(&whole)) / 4;
}

/** Gives the command what a capture_file holds. */
struct inside;

}  // namespace captured_detail
/** @endcond */

/** Records of one kind that lie side by side in memory. */
template <class Record>
class captured_span {
 public:
  captured_span() noexcept = default; /**< Empty. */
  /** Does not own the records. */
  captured_span(Record const* first, std::size_t count) noexcept : first_(first), count_(count) {}
  Record const* begin() const noexcept { return first_; }        /**< First record. */
  Record const* end() const noexcept { return first_ + count_; } /**< Behind the last. */
  Record const* data() const noexcept { return first_; }         /**< First record. */
  std::size_t size() const noexcept { return count_; }           /**< Their number. */
  bool empty() const noexcept { return count_ == 0; }            /**< There is none. */
  Record const& operator[](std::size_t at) const noexcept { return first_[at]; } /**< By place. */

 private:
  Record const* first_ = nullptr;
  std::size_t count_ = 0;
};

/** What is to be read: kinds of records, some or all of their fields, and stretches of time.
 *
 * @code{.cpp}
 * gpuprof::capture_query query;
 * query.add<captured_kernel>().add<captured_copy>(&captured_copy::bytes);
 * query.within({begin_ns, end_ns});
 * @endcode
 */
class capture_query {
 public:
  /** Adds a kind of records, with the fields that are named; all fields if none is. The beginning
   *  is always read. What other fields need is not decoded: they have their default, or their value
   *  if it comes at no cost, so do not use them. */
  template <class Record, class... Members>
  capture_query& add(Members... fields) noexcept {
    auto& bits = fields_[static_cast<std::size_t>(captured_detail::kind_of<Record>::value)];
    if constexpr (sizeof...(fields) == 0)
      bits = captured_detail::all_fields;
    else
      bits |= (captured_detail::bit_of<Record>(fields) | ...);
    return *this;
  }
  /** Adds a stretch of time: only records that begin in one of the stretches are read, and of parts
   *  of the file that hold none only times are decoded. Without a stretch all records are read. */
  capture_query& within(captured_stretch stretch) {
    stretches_.push_back(stretch);
    return *this;
  }

  /** Returns which fields of a kind are asked for. */
  captured_detail::field_bits fields(captured_kind kind) const noexcept {
    return fields_[static_cast<std::size_t>(kind)];
  }
  /** Returns the stretches; none: no limit. */
  std::vector<captured_stretch> const& stretches() const noexcept { return stretches_; }

 private:
  std::array<captured_detail::field_bits, captured_detail::captured_kind_count> fields_{};
  std::vector<captured_stretch> stretches_;
};

/** Some records of one kind, each beginning no earlier than the one before. */
class capture_batch {
 public:
  capture_batch() noexcept = default; /**< Without records. */
  /** Used by the library. */
  capture_batch(captured_kind kind, void const* first, std::size_t count) noexcept
      : kind_(kind), first_(first), count_(count) {}
  captured_kind kind() const noexcept { return kind_; } /**< Their kind. */
  std::size_t size() const noexcept { return count_; }  /**< Their number, 1 or more. */
  /** Returns the records if they are of this type, else none. */
  template <class Record>
  captured_span<Record> as() const noexcept {
    if (kind_ != captured_detail::kind_of<Record>::value) return {};
    return {static_cast<Record const*>(first_), count_};
  }

 private:
  captured_kind kind_{};
  void const* first_ = nullptr;
  std::size_t count_ = 0;
};

/** All records that a query asks for, earliest first, in batches. A batch and its records are valid
 *  until the next one is read. Its capture_file outlives it; several may be read in turns, on one
 *  thread.
 *
 * @code{.cpp}
 * for (auto const& batch : run.read(query)) {
 *   for (auto const& kernel : batch.as<captured_kernel>()) see(kernel);
 *   for (auto const& copy : batch.as<captured_copy>()) see(copy);
 * }
 * @endcode
 */
class GPUPROF_CAPTURE_EXPORT capture_batches {
 public:
  ~capture_batches();
  capture_batches(capture_batches&&) noexcept; /**< The other one may only be destroyed. */
  capture_batches& operator=(
      capture_batches&&) noexcept; /**< The other one may only be destroyed. */

  /** Reads the next batch. Returns false at the end.
   *  @throws std::bad_alloc */
  bool next(capture_batch& batch);

  /** An input iterator: one pass. */
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag; /**< One pass. */
    using value_type = capture_batch;                  /**< A batch. */
    using difference_type = std::ptrdiff_t;            /**< Not of use. */
    using pointer = capture_batch const*;              /**< To the batch. */
    using reference = capture_batch const&;            /**< Of the batch. */

    iterator() noexcept = default; /**< The end. */
    explicit iterator(capture_batches& of) : of_(&of) {
      ++*this;
    }                                                       /**< At the next batch of `of`. */
    reference operator*() const noexcept { return batch_; } /**< The batch. */
    pointer operator->() const noexcept { return &batch_; } /**< The batch. */
    /** Reads the next batch. */
    iterator& operator++() {
      if (!of_->next(batch_)) of_ = nullptr;
      return *this;
    }
    void operator++(int) { ++*this; } /**< Reads the next batch. */
    /** Compares with the end. */
    friend bool operator==(iterator const& a, iterator const& b) noexcept { return a.of_ == b.of_; }
    /** Compares with the end. */
    friend bool operator!=(iterator const& a, iterator const& b) noexcept { return a.of_ != b.of_; }

   private:
    capture_batches* of_ = nullptr;
    capture_batch batch_;
  };
  iterator begin() { return iterator(*this); }         /**< Reads the next batch. */
  iterator end() const noexcept { return iterator(); } /**< Behind the last batch. */

 private:
  friend class capture_file;
  struct state;
  explicit capture_batches(std::unique_ptr<state> made) noexcept;
  std::unique_ptr<state> state_;
};

/** All records of one kind that are asked for, earliest first. A record is valid until the next one
 * is read. */
template <class Record>
class captured_records {
 public:
  /** Takes what is left of these batches. */
  explicit captured_records(capture_batches batches) noexcept : batches_(std::move(batches)) {}

  /** Reads the next records, some hundred at a time. They are valid until the next call. Returns an
   *  empty span at the end. */
  captured_span<Record> next() {
    capture_batch batch;
    return batches_.next(batch) ? batch.as<Record>() : captured_span<Record>{};
  }

  /** An input iterator: one pass. */
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag; /**< One pass. */
    using value_type = Record;                         /**< A record. */
    using difference_type = std::ptrdiff_t;            /**< Not of use. */
    using pointer = Record const*;                     /**< To the record. */
    using reference = Record const&;                   /**< Of the record. */

    iterator() noexcept = default; /**< The end. */
    explicit iterator(captured_records& of) : of_(&of) {
      read();
    }                                                     /**< At the next record of `of`. */
    reference operator*() const noexcept { return *at_; } /**< The record. */
    pointer operator->() const noexcept { return at_; }   /**< The record. */
    /** Goes to the next record. */
    iterator& operator++() {
      if (++at_ == end_) read();
      return *this;
    }
    void operator++(int) { ++*this; } /**< Goes to the next record. */
    /** Compares with the end. */
    friend bool operator==(iterator const& a, iterator const& b) noexcept { return a.at_ == b.at_; }
    /** Compares with the end. */
    friend bool operator!=(iterator const& a, iterator const& b) noexcept { return a.at_ != b.at_; }

   private:
    void read() {
      auto const batch = of_->next();
      at_ = batch.empty() ? nullptr : batch.begin();
      end_ = batch.empty() ? nullptr : batch.end();
    }

    captured_records* of_ = nullptr;
    Record const* at_ = nullptr;
    Record const* end_ = nullptr;
  };
  iterator begin() { return iterator(*this); }         /**< Reads the next record. */
  iterator end() const noexcept { return iterator(); } /**< Behind the last record. */

 private:
  capture_batches batches_;
};

/** A capture that is read. One thread at a time. */
class GPUPROF_CAPTURE_EXPORT capture_file {
 public:
  /** Opens a capture. One that was cut off or is damaged is read as far as it goes; losses() says
   * what is missing.
   *  @throws std::runtime_error with one line that says what is wrong: there is no such file, it is
   * no capture, or it is of a newer version. */
  explicit capture_file(std::string path);
  ~capture_file();
  capture_file(capture_file&&) noexcept;            /**< The other one may only be destroyed. */
  capture_file& operator=(capture_file&&) noexcept; /**< The other one may only be destroyed. */

  /** Reads the records that a query asks for, of several kinds in one order of time. */
  capture_batches read(capture_query const& query);

  /** Reads the records of one kind, with the fields that are named; all fields if none is.
   *
   * @code{.cpp}
   * for (auto const& range : run.read<captured_range>()) see(range);
   * @endcode
   */
  template <class Record, class... Members>
  captured_records<Record> read(Members... fields) {
    return captured_records<Record>(read(capture_query().add<Record>(fields...)));
  }

  /** Reads the records of one kind that begin within a stretch of time. */
  template <class Record, class... Members>
  captured_records<Record> read_within(captured_stretch stretch, Members... fields) {
    return captured_records<Record>(read(capture_query().add<Record>(fields...).within(stretch)));
  }

  /** Returns what is known of host, process, settings and driver: pairs of a key, which
   *  docs/capture-format.md lists, and its value. */
  std::vector<std::pair<std::string_view, std::string_view>> facts();
  /** Returns the GPUs that were used or could be seen. */
  std::vector<captured_device> devices();
  /** Returns the peaks that were measured on these GPUs. */
  std::vector<captured_peak> peaks();
  /** Returns what was seen, lost and spent: pairs of a name, which docs/capture-format.md lists,
   * and its last value. */
  std::vector<std::pair<std::string_view, std::uint64_t>> counters();
  /** Returns what the capture lacks, a line each; empty: nothing. Damage inside the file shows once
   *  the records there have been read. */
  std::vector<std::string> losses();

 private:
  friend struct captured_detail::inside;
  struct contents;
  std::unique_ptr<contents> contents_;
};

}  // namespace capture_v1
}  // namespace gpuprof

#endif
