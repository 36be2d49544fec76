// SPDX-License-Identifier: Apache-2.0
// clang-format off
/*
 * Marks regions of a C++17 program with a name, and with the work that they are about to do.
 *
 *   #include <gpuprof/gpuprof.hpp>
 *
 *   void layer(int m, int n, int k) {
 *     double const flops = 2.0 * m * n * k, bytes = 2.0 * (m * k + k * n + m * n);
 *     gpuprof::scoped_range const here("gemm", gpuprof::work{flops, bytes});
 *     gemm<<<grid, block>>>(a, b, c, m, n, k);
 *   }  // the range ends here
 *
 * The marks are NVTX ranges: gpuprof, Nsight Systems, Nsight Compute and every other NVTX tool see
 * them, and no library is linked. Without a tool a mark costs less than a nanosecond: one load and
 * one branch. The NVTX headers of a CUDA toolkit (or of github.com/NVIDIA/NVTX) must be on the
 * include path. If NVTX_DISABLE is defined before, everything is removed at compile time.
 *
 * All functions may be called on any thread at any time and never throw. A tool copies names during
 * the call.
 *
 * gpuprof::metrics tells a program what its ranges achieve while it runs, if gpuprof is in the
 * process. It finds the library by dlsym and links nothing (-ldl before glibc 2.34).
 */
// clang-format on
#ifndef GPUPROF_GPUPROF_HPP
#define GPUPROF_GPUPROF_HPP

#include <gpuprof/gpuprof.h>

#include <nvtx3/nvToolsExt.h>
#if defined(__has_include)
#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtPayload.h>
#endif
#endif

#include <atomic>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <utility>

namespace gpuprof {

/// Work that a range declares to do: reports use it for the rates of the range, and for kernels
/// whose operations cannot be counted. 0: not declared.
struct work {
  double flops = 0;  ///< floating-point operations
  double bytes = 0;  ///< bytes read and written
};

/// Color of a range or mark in viewers, 0xAARRGGBB as in NVTX. With `none` the viewer chooses.
enum class color : std::uint32_t {
  none = 0,
  blue = 0xff4e79a7,
  orange = 0xfff28e2b,
  red = 0xffe15759,
  teal = 0xff76b7b2,
  green = 0xff59a14f,
  yellow = 0xffedc948,
  purple = 0xffb07aa1,
  gray = 0xff9c9c9c,
};

/// Makes an opaque color of its parts, 0 to 255 each.
constexpr color rgb(std::uint8_t red, std::uint8_t green, std::uint8_t blue) noexcept {
  return static_cast<color>(0xff000000u | std::uint32_t{red} << 16 | std::uint32_t{green} << 8 |
                            blue);
}

namespace detail {

/// The layout of the declared work under NVTX's payload extension: {double flops, double bytes}.
constexpr std::uint64_t work_schema = 0x67707701;

// NVTX looks for its tool only once, at the first call, so the answer may be stored.
enum class tool : int { not_asked, absent, present };
inline std::atomic<tool> known_tool{tool::not_asked};

#if defined(__GNUC__)
#define GPUPROF_OUT_OF_LINE __attribute__((noinline))
#define GPUPROF_LIKELY(condition) __builtin_expect((condition), true)
#else
#define GPUPROF_OUT_OF_LINE
#define GPUPROF_LIKELY(condition) (condition)
#endif

GPUPROF_OUT_OF_LINE inline bool ask_for_tool() noexcept {
#if defined(NVTX_DISABLE)
  auto const found = tool::absent;
#elif defined(NVTX3EXT_CBID_nvtxDomainIsEnabled)
  // nvtxDomainIsEnabled returns 1 if a tool is attached that does not know this function, and 0 if
  // there is none. Some tools (nsys 2023.4) that do not know it also give 0, but give strings a
  // handle.
  auto const found =
      nvtxDomainIsEnabled(nullptr) != 0 || nvtxDomainRegisterStringA(nullptr, "gpuprof") != nullptr
          ? tool::present
          : tool::absent;
#else
  auto const found = tool::present;  // older NVTX headers: ask NVTX each time
#endif
  known_tool.store(found, std::memory_order_relaxed);
  return found == tool::present;
}

/// Relaxed, because all threads would find the same answer.
inline bool tool_is_present() noexcept {
  auto const known = known_tool.load(std::memory_order_relaxed);
  if (GPUPROF_LIKELY(known == tool::absent)) return false;
  return known == tool::present || ask_for_tool();
}

/// Tells tools other than gpuprof, which knows it, how to show declared work.
inline void register_work_schema(nvtxDomainHandle_t domain) noexcept {
#if defined(NVTX_PAYLOAD_TYPE_EXT)
  static nvtxPayloadSchemaEntry_t const entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "flops", "floating-point operations", 0, 0, nullptr,
       nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "bytes", "bytes read and written", 0, 8, nullptr,
       nullptr}};
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask =
      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  schema.name = "gpuprof work";
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = 2;
  schema.payloadStaticSize = sizeof(work);
  schema.schemaId = work_schema;
  nvtxPayloadSchemaRegister(domain, &schema);
#else
  (void)domain;
#endif
}

/// One event in NVTX's own struct. It lives for one call.
class event {
 public:
  event(nvtxDomainHandle_t domain, char const* name, work declared, color shade) noexcept
      : declared_(declared) {
    attributes_.version = NVTX_VERSION;
    attributes_.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes_.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes_.message.ascii = name;
    if (shade != color::none) {
      attributes_.colorType = NVTX_COLOR_ARGB;
      attributes_.color = static_cast<std::uint32_t>(shade);
    }
    if (declared.flops > 0 || declared.bytes > 0) attach_work(domain);
  }
  event(event const&) = delete;
  event& operator=(event const&) = delete;
  nvtxEventAttributes_t const* attributes() const noexcept { return &attributes_; }

 private:
  void attach_work(nvtxDomainHandle_t domain) noexcept {
#if defined(NVTX_PAYLOAD_TYPE_EXT)
    if (domain == nullptr) {  // for other domains, the schema is registered when they are created
      static bool const registered = [] {
        register_work_schema(nullptr);
        return true;
      }();
      (void)registered;
    }
    payload_ = {work_schema, sizeof declared_, &declared_};
    attributes_.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    attributes_.reserved0 = 1;  // number of payloads
    attributes_.payload.ullValue = NVTX_POINTER_AS_PAYLOAD_ULLVALUE(&payload_);
#else
    (void)domain;
#endif
  }

  nvtxEventAttributes_t attributes_{};
  work declared_;
#if defined(NVTX_PAYLOAD_TYPE_EXT)
  nvtxPayloadData_t payload_{};
#endif
};

/// Returns the argument for pop(), which is never 0.
GPUPROF_OUT_OF_LINE inline std::uintptr_t push(nvtxDomainHandle_t domain, char const* name,
                                               work declared, color shade) noexcept {
  event const e(domain, name, declared, shade);
  nvtxDomainRangePushEx(domain, e.attributes());
  return reinterpret_cast<std::uintptr_t>(domain) + 1;
}
GPUPROF_OUT_OF_LINE inline void pop(std::uintptr_t pushed) noexcept {
  nvtxDomainRangePop(reinterpret_cast<nvtxDomainHandle_t>(pushed - 1));
}
GPUPROF_OUT_OF_LINE inline nvtxRangeId_t start(nvtxDomainHandle_t domain, char const* name,
                                               work declared, color shade) noexcept {
  event const e(domain, name, declared, shade);
  return nvtxDomainRangeStartEx(domain, e.attributes());
}
GPUPROF_OUT_OF_LINE inline void mark(nvtxDomainHandle_t domain, char const* name, work declared,
                                     color shade) noexcept {
  event const e(domain, name, declared, shade);
  nvtxDomainMarkEx(domain, e.attributes());
}

}  // namespace detail

/// An NVTX domain, a namespace for range names: `--nvtx-capture step@trainer` means the range
/// "step" of the domain "trainer". Make one and keep it, for example as a static. The domain is not
/// destroyed with the object, because ranges may outlive it.
class domain {
 public:
  /// Creates the domain if a tool is present; else it costs nothing. The name is copied.
  explicit domain(char const* name) noexcept {
    if (!detail::tool_is_present()) return;
    handle_ = nvtxDomainCreateA(name);
    detail::register_work_schema(handle_);
  }
  /// Returns NVTX's handle; null if no tool was present.
  nvtxDomainHandle_t handle() const noexcept { return handle_; }

 private:
  nvtxDomainHandle_t handle_ = nullptr;
};

/// A range from here to the end of the scope. Ranges of one thread nest; kernels launched inside
/// belong to the innermost. It must end on the thread that opened it: use `range` otherwise.
///
///   gpuprof::scoped_range const here;          // named after the function
///   gpuprof::scoped_range const step("step");  // one line, no macro
class scoped_range {
 public:
  /// Opens a range on this thread, in the default domain.
  explicit scoped_range(char const* name = __builtin_FUNCTION(), work declared = {},
                        color shade = color::none) noexcept {
    if (detail::tool_is_present()) open_ = detail::push(nullptr, name, declared, shade);
  }
  /// Opens a range on this thread, in the given domain.
  scoped_range(domain const& in, char const* name, work declared = {},
               color shade = color::none) noexcept {
    if (detail::tool_is_present()) open_ = detail::push(in.handle(), name, declared, shade);
  }
  ~scoped_range() {
    if (open_ != 0) detail::pop(open_);
  }
  scoped_range(scoped_range const&) = delete;
  scoped_range& operator=(scoped_range const&) = delete;

 private:
  // The handle of the domain plus 1; 0: nothing was pushed. Mutable for speed: GCC keeps members of
  // a const object in memory, and without a tool that store and load would be most of the cost.
  mutable std::uintptr_t open_ = 0;
};

/// A range that may end elsewhere: in another function, on another thread, out of order. Movable.
/// It ends when it is destroyed or at end(), whichever comes first. While it is open, the launches
/// of all threads count in it; it is never the innermost range of a kernel.
class range {
 public:
  /// Makes an object without a range.
  range() noexcept = default;
  /// Begins a range in the default domain.
  explicit range(char const* name, work declared = {}, color shade = color::none) noexcept {
    if (detail::tool_is_present()) id_ = detail::start(nullptr, name, declared, shade);
  }
  /// Begins a range in the given domain.
  range(domain const& in, char const* name, work declared = {}, color shade = color::none) noexcept
      : domain_(in.handle()) {
    if (detail::tool_is_present()) id_ = detail::start(domain_, name, declared, shade);
  }
  /// Takes over the range of `other`, which has none afterwards.
  range(range&& other) noexcept
      : id_(std::exchange(other.id_, nvtxRangeId_t{})), domain_(other.domain_) {}
  /// Ends the range of this object, then takes over that of `other`.
  range& operator=(range&& other) noexcept {
    if (this != &other) {
      end();
      id_ = std::exchange(other.id_, nvtxRangeId_t{});
      domain_ = other.domain_;
    }
    return *this;
  }
  ~range() { end(); }

  /// Ends the range now. Does nothing if there is none.
  void end() noexcept {
    if (id_ == nvtxRangeId_t{}) return;
    nvtxDomainRangeEnd(domain_, std::exchange(id_, nvtxRangeId_t{}));
  }

 private:
  nvtxRangeId_t id_{};  // 0: none
  nvtxDomainHandle_t domain_ = nullptr;
};

/// Marks this moment on this thread, in the default domain.
inline void mark(char const* name, color shade = color::none) noexcept {
  if (detail::tool_is_present()) detail::mark(nullptr, name, {}, shade);
}
/// Marks this moment on this thread, in the given domain.
inline void mark(domain const& in, char const* name, color shade = color::none) noexcept {
  if (detail::tool_is_present()) detail::mark(in.handle(), name, {}, shade);
}

/// Calls `f` inside a range of the default domain and returns what `f` returns:
///
///   auto const loss = gpuprof::in_range("forward", [&] { return model(x); });
template <class Function>
decltype(auto) in_range(char const* name, Function&& f) {
  scoped_range const here(name);
  return std::forward<Function>(f)();
}

namespace detail {

/// Returns nullptr if the library is not in this process. Looks for the library but never loads it.
template <class Function>
Function* library_function(char const* name) noexcept {
  void* found = dlsym(RTLD_DEFAULT, name);
  if (found == nullptr) {
    // If CUDA has loaded the library, its names are not visible to the program.
    if (void* const library = dlopen("libgpuprof.so.0", RTLD_LAZY | RTLD_NOLOAD)) {
      found = dlsym(library, name);
      dlclose(library);
    }
  }
  return reinterpret_cast<Function*>(found);
}

}  // namespace detail

/// Returns the library's name of a value, as the ..._name() functions of gpuprof.h do:
/// "tensor_bf16". Returns "" if gpuprof is not in the process.
inline char const* name_of(gpuprof_precision value) noexcept {
  auto* const name =
      detail::library_function<decltype(gpuprof_precision_name)>("gpuprof_precision_name");
  return name != nullptr ? name(value) : "";
}
/// Returns the library's name of a source of FLOP: "counted". "" if gpuprof is not in the process.
inline char const* name_of(gpuprof_flops_source value) noexcept {
  auto* const name =
      detail::library_function<decltype(gpuprof_flops_source_name)>("gpuprof_flops_source_name");
  return name != nullptr ? name(value) : "";
}
/// Returns the library's name of a bound: "tensor BF16". "" if it is unknown, or if gpuprof is not
/// in the process.
inline char const* name_of(gpuprof_bound value) noexcept {
  auto* const name = detail::library_function<decltype(gpuprof_bound_name)>("gpuprof_bound_name");
  return name != nullptr ? name(value) : "";
}

/// Rates that the kernels and ranges of this process achieve in the last 10 seconds, as of the
/// profiler's last flush: see gpuprof_take_metrics(). Empty if no profiler is in the process, or if
/// it reads no counters (GPUPROF_METRICS=auto reads them). A number that was not measured is NaN.
/// Movable. Any thread.
///
///   if (auto const now = gpuprof::metrics::take())
///     if (auto const* const step = now.range("step"))
///       log("%.0f TFLOPS, %.0f GB/s", step->flops / 1e12, step->dram_bytes_per_second / 1e9);
class metrics {
 public:
  /// Makes an empty object.
  metrics() noexcept = default;
  /// Takes a snapshot. It is empty if gpuprof is not in the process or has no data.
  static metrics take() noexcept {
    metrics taken;
    auto* const take =
        detail::library_function<decltype(gpuprof_take_metrics)>("gpuprof_take_metrics");
    taken.release_ =
        detail::library_function<decltype(gpuprof_release_metrics)>("gpuprof_release_metrics");
    if (take != nullptr && taken.release_ != nullptr) take(&taken.held_);
    return taken;
  }
  /// Takes over the snapshot of `other`, which is empty afterwards.
  metrics(metrics&& other) noexcept
      : held_(std::exchange(other.held_, nullptr)), release_(other.release_) {}
  /// Swaps the snapshots of both objects.
  metrics& operator=(metrics&& other) noexcept {
    std::swap(held_, other.held_);
    std::swap(release_, other.release_);
    return *this;
  }
  ~metrics() {
    if (held_ != nullptr) release_(held_);
  }

  /// Returns true if there is a snapshot.
  explicit operator bool() const noexcept { return held_ != nullptr; }
  /// Gives access to the fields of the snapshot. Undefined if the object is empty.
  gpuprof_metrics const* operator->() const noexcept { return held_; }

  /// Returns the figures of the ranges of this name, "domain:name" or only the name in the default
  /// domain; nullptr if no kernel was launched in one, or if the object is empty. Valid as long as
  /// this object holds the snapshot.
  gpuprof_achieved const* range(char const* name) const noexcept {
    return held_ == nullptr ? nullptr : find(held_->ranges, held_->range_name_count, name);
  }
  /// Returns the figures of the kernel of this mangled name; nullptr if it has not run, or if the
  /// object is empty. Valid as long as this object holds the snapshot.
  gpuprof_achieved const* kernel(char const* name) const noexcept {
    return held_ == nullptr ? nullptr : find(held_->kernels, held_->kernel_name_count, name);
  }

 private:
  static gpuprof_achieved const* find(gpuprof_achieved const* const* lines, std::size_t count,
                                      char const* name) noexcept {
    for (std::size_t i = 0; i < count; ++i)
      if (std::strcmp(lines[i]->name, name) == 0) return lines[i];
    return nullptr;
  }

  gpuprof_metrics const* held_ = nullptr;
  void (*release_)(gpuprof_metrics const*) = nullptr;
};

}  // namespace gpuprof

#undef GPUPROF_LIKELY
#undef GPUPROF_OUT_OF_LINE
#endif  // GPUPROF_GPUPROF_HPP
