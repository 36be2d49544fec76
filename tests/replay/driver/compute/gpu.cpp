// SPDX-License-Identifier: Apache-2.0
#include "replay/driver/compute/gpu.hpp"

#include "replay/driver/compute/gpu_kernels.hpp"
#include "replay/driver/compute/gpu_options.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

namespace gpuprof::replay {
namespace {

constexpr double mib = 1024 * 1024;

thread_local std::vector<CUcontext> current_contexts;

CUcontext context_of(int ordinal) {
  return reinterpret_cast<CUcontext>(std::uintptr_t{0xC0000} + static_cast<unsigned>(ordinal) * 16);
}
int device_of(CUcontext context) {
  return static_cast<int>((reinterpret_cast<std::uintptr_t>(context) - 0xC0000) / 16);
}

fake_device with_options(fake_device device) {
  auto const& w = options();
  if (w.compute_major != 0) {
    device.compute_major = w.compute_major;
    device.compute_minor = w.compute_minor;
  }
  if (w.sm_count != 0) device.sm_count = w.sm_count;
  if (w.l2_mib != 0) device.l2_bytes = static_cast<std::uint64_t>(w.l2_mib) * 1024 * 1024;
  return device;
}

unsigned chip_of(fake_device const& d) {
  return static_cast<unsigned>(d.compute_major * 10 + d.compute_minor);
}

std::string text_of(peaks::kernel_arguments const& a) {
  char text[160];
  std::snprintf(text, sizeof text, " %p %p %llu %u %u %llu", a.input, a.output,
                static_cast<unsigned long long>(a.bytes), a.seed, a.zeros,
                static_cast<unsigned long long>(a.iterations));
  return text;
}

}  // namespace

fake_device const& computing_device(int ordinal) {
  static auto const* const devices = [] {
    auto* const all = new std::vector<fake_device>;
    for (auto const& device : this_machine().devices) all->push_back(with_options(device));
    return all;
  }();
  return devices->at(static_cast<std::size_t>(ordinal));
}

fake_gpu& fake_gpu::get() {
  static auto* const one = [] {
    std::atexit([] { get().write_ledger(); });
    return new fake_gpu;
  }();
  return *one;
}

// Contexts -------------------------------------------------------------------

CUresult fake_gpu::retain(CUcontext* context, int ordinal) {
  ++contexts_[ordinal];
  *context = context_of(ordinal);
  return CUDA_SUCCESS;
}

CUresult fake_gpu::release(int ordinal) {
  if (contexts_[ordinal] == 0) {
    misuse("a context that nobody holds was released");
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  --contexts_[ordinal];
  return CUDA_SUCCESS;
}

CUresult fake_gpu::push(CUcontext context) {
  if (context == nullptr || contexts_[device_of(context)] == 0) {
    misuse("a context that nobody holds was made current");
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  current_contexts.push_back(context);
  ++pushed_;
  return CUDA_SUCCESS;
}

CUresult fake_gpu::pop(CUcontext* context) {
  if (context == nullptr || current_contexts.empty()) {
    misuse("a pop of no context, or to nowhere");
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  *context = current_contexts.back();
  current_contexts.pop_back();
  --pushed_;
  return CUDA_SUCCESS;
}

bool fake_gpu::has_context() const {
  return !current_contexts.empty();
}

int fake_gpu::current_device() const {
  return current_contexts.empty() ? 0 : device_of(current_contexts.back());
}

// Handles --------------------------------------------------------------------

CUresult fake_gpu::drop(void* handle, char const* kind) {
  auto const found = alive_.find(handle);
  if (found == alive_.end() || found->second.kind != kind) {
    misuse(std::string(kind) + " that is not there was released");
    return CUDA_ERROR_INVALID_HANDLE;
  }
  std::erase_if(functions_, [&](auto const& f) { return f.first.first == handle; });
  alive_.erase(found);
  return CUDA_SUCCESS;
}

fake_function* fake_gpu::function_of(fake_module* module, std::string const& name) {
  if (!chip_has_kernel(name, chip_of(computing_device(current_device())))) return nullptr;
  auto& function = functions_[{module, name}];
  if (function == nullptr) function = std::make_shared<fake_function>(fake_function{module, name});
  return function.get();
}

fake_function* fake_gpu::find_function(CUfunction handle) {
  auto const found = std::find_if(functions_.begin(), functions_.end(), [&](auto const& f) {
    return static_cast<void*>(f.second.get()) == static_cast<void*>(handle);
  });
  if (found != functions_.end()) return found->second.get();
  misuse("a function that is not there");
  return nullptr;
}

fake_stream* fake_gpu::stream_of(CUstream handle) {
  return handle == nullptr ? &null_stream_ : find<fake_stream>(handle, "stream");
}

// Memory ---------------------------------------------------------------------

CUresult fake_gpu::allocate(void** to, std::uint64_t bytes, bool is_pinned) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  auto const limit = options().limit_mib * mib;
  if (!is_pinned && limit != 0 && static_cast<double>(device_bytes_ + bytes) > limit)
    return CUDA_ERROR_OUT_OF_MEMORY;
  void* const made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  memory_[reinterpret_cast<std::uintptr_t>(made)] = {bytes, ++versions_, is_pinned, {}};
  if (!is_pinned) device_bytes_ += bytes;
  *to = made;
  return CUDA_SUCCESS;
}

CUresult fake_gpu::free(void* address, bool is_pinned) {
  auto const found = memory_.find(reinterpret_cast<std::uintptr_t>(address));
  if (found == memory_.end() || found->second.is_pinned != is_pinned) {
    misuse("memory that is not there was freed");
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!is_pinned) device_bytes_ -= found->second.bytes;
  munmap(address, found->second.bytes);
  memory_.erase(found);
  return CUDA_SUCCESS;
}

std::uint64_t fake_gpu::free_bytes() const {
  auto const all = options().free_mib != 0 ? static_cast<std::uint64_t>(options().free_mib * mib)
                                           : computing_device(current_device()).memory_bytes;
  return all - std::min(all, device_bytes_);
}

std::map<std::uintptr_t, fake_gpu::allocation>::iterator fake_gpu::holding(void const* address,
                                                                           std::uint64_t bytes) {
  auto const at = reinterpret_cast<std::uintptr_t>(address);
  auto after = memory_.upper_bound(at);
  if (after == memory_.begin()) return memory_.end();
  --after;
  return at + bytes <= after->first + after->second.bytes ? after : memory_.end();
}

bool fake_gpu::is_ours(void const* address, std::uint64_t bytes) const {
  auto& self = const_cast<fake_gpu&>(*this);
  return self.holding(address, bytes) != self.memory_.end();
}

/// Memory as it is now; what lies in the memory that is written to is the same for as long as that
/// has not been written to otherwise.
std::string fake_gpu::name_of(void const* address, std::uint64_t bytes, void const* unless_in) {
  auto const found = holding(address, bytes);
  if (found == memory_.end()) return " unknown " + std::to_string(++versions_);
  auto const same = holding(unless_in, 1) == found;
  return " " + std::to_string(reinterpret_cast<std::uintptr_t>(address)) + " " +
         (same ? "self" : std::to_string(found->second.version));
}

bool fake_gpu::repeats(void* to, std::uint64_t bytes, std::string const& what) {
  auto const found = holding(to, bytes);
  if (found == memory_.end()) return false;
  if (found->second.last_write == what) return true;
  found->second.last_write = what;
  found->second.version = ++versions_;
  return false;
}

CUresult fake_gpu::copy(void* to, void const* from, std::uint64_t bytes, double bytes_per_ns,
                        fake_stream* on, std::string const& kind) {
  auto const what = kind + std::to_string(reinterpret_cast<std::uintptr_t>(to)) + " " +
                    std::to_string(bytes) + name_of(from, bytes, to);
  if (!repeats(to, bytes, what)) {
    std::memcpy(to, from, bytes);
    constexpr std::uint64_t large = 64 * 1024;
    if (bytes >= large && options().is_wrong("copy")) static_cast<unsigned char*>(to)[64] += 1;
  }
  if (on != nullptr)
    occupy(*on, static_cast<double>(bytes) / (bytes_per_ns * options().share_of("copy")));
  return CUDA_SUCCESS;
}

CUresult fake_gpu::set(void* to, unsigned char value, std::uint64_t bytes) {
  if (!is_ours(to, bytes)) {
    misuse("memset of memory that is not there");
    return CUDA_ERROR_INVALID_VALUE;
  }
  repeats(to, bytes, "set " + std::to_string(++versions_));
  std::memset(to, value, bytes);
  return CUDA_SUCCESS;
}

// Work -----------------------------------------------------------------------

void fake_gpu::occupy(fake_stream& stream, double ns) {
  now_ns_ += 1000;  // what a call takes
  stream.busy_until_ns = std::max(stream.busy_until_ns, now_ns_) + ns;
}

void fake_gpu::wait_for(fake_stream const& stream) {
  now_ns_ = std::max(now_ns_, stream.busy_until_ns);
  while (std::chrono::steady_clock::now() < stream.really_until) {
  }
}

CUresult fake_gpu::launch(fake_function const& function, unsigned blocks, unsigned threads,
                          unsigned shared_bytes, fake_stream* on,
                          peaks::kernel_arguments const& arguments) {
  constexpr unsigned shared_without_asking = 48 * 1024;
  auto const allowed = static_cast<unsigned>(function.module->functions[function.name]);
  if (blocks == 0 || threads == 0 || threads > 1024 ||
      shared_bytes > std::max(allowed, shared_without_asking)) {
    misuse("a launch of " + function.name + " that the device does not allow");
    return CUDA_ERROR_INVALID_VALUE;
  }
  grid const what{function.name, blocks, threads, arguments};
  auto const touched = footprint_of(what);
  for (auto const& [address, bytes] :
       {std::pair<void const*, std::uint64_t>{arguments.spans, touched.spans},
        {arguments.input, touched.input},
        {arguments.output, touched.output}}) {
    if (bytes == 0 || is_ours(address, bytes)) continue;
    misuse(function.name + " reaches beyond its memory");
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  }
  auto const& device = computing_device(current_device());
  auto const sms = static_cast<unsigned>(device.sm_count);
  auto ns = nanoseconds_of(what, device.compute_major, device.compute_minor, sms);
  if (++launches_ % 2 == 0) ns *= 1 + options().noise;
  bool same = false;
  if (touched.output != 0) {
    auto const input =
        touched.input != 0 ? name_of(arguments.input, touched.input, arguments.output) : "";
    same = repeats(arguments.output, touched.output,
                   what.kernel + std::to_string(blocks) + text_of(arguments) + input +
                       (arguments.check != 0 ? std::to_string(launches_) : ""));
  }
  auto const folds = run(what, same);
  occupy(*on, ns + 1000);
  write_spans(what, folds, on->busy_until_ns - ns, on->busy_until_ns, sms);
  return CUDA_SUCCESS;
}

// At the end -----------------------------------------------------------------

void fake_gpu::misuse(std::string const& what) {
  misuses_.push_back(what);
}

void fake_gpu::write_ledger() {
  std::lock_guard const locked(lock);
  if (options().ledger.empty()) return;
  std::string text;
  for (auto const& [ordinal, times] : contexts_) {
    if (times == 0) continue;
    text +=
        "context of GPU " + std::to_string(ordinal) + " held " + std::to_string(times) + " times\n";
  }
  if (pushed_ != 0) text += std::to_string(pushed_) + " contexts current\n";
  for (auto const& [handle, what] : alive_) text += std::string(what.kind) + " alive\n";
  for (auto const& [address, a] : memory_)
    text += std::string(a.is_pinned ? "pinned" : "device") + " memory of " +
            std::to_string(a.bytes) + " bytes\n";
  for (auto const& line : misuses_) text += "misuse: " + line + "\n";
  text += "launches " + std::to_string(launches_) + "\n";
  if (auto* const out = std::fopen(options().ledger.c_str(), "we")) {
    std::fwrite(text.data(), 1, text.size(), out);
    std::fclose(out);
  }
}

}  // namespace gpuprof::replay
