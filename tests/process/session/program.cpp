// SPDX-License-Identifier: Apache-2.0
// A program without CUDA that uses NVTX and the C API in the way its first argument names.
#include <gpuprof/peaks.h>

#include <nvtx3/nvToolsExt.h>

#include <atomic>
#include <cerrno>
#include <cfenv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

template <class Function>
Function* find(char const* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}
template <class Function>
struct first_parameter;
template <class Return, class Parameter>
struct first_parameter<Return (*)(Parameter)> {
  using type = Parameter;
};
#define CALL(name) find<decltype(name)>(#name)

void ranges(int count, char const* name = "step") {
  for (int i = 0; i < count; ++i) {
    nvtxRangePushA(name);
    nvtxRangePop();
  }
}

void say(char const* what, long value) {
  std::printf("%s=%ld\n", what, value);
  std::fflush(stdout);
}

int api(char const* library) {
  if (dlopen(library, RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    std::printf("%s\n", dlerror());
    return 1;
  }
  gpuprof_totals const* totals = nullptr;
  say("capturing", CALL(gpuprof_is_capturing)());
  say("stop", static_cast<long>(CALL(gpuprof_stop)()));
  say("flush", static_cast<long>(CALL(gpuprof_flush)()));
  say("totals", static_cast<long>(CALL(gpuprof_take_totals)(&totals)));
  say("path", static_cast<long>(CALL(gpuprof_capture_path)(nullptr, 0)));
  gpuprof_options wrong{};
  wrong.struct_size = 1;
  say("start wrong", static_cast<long>(CALL(gpuprof_start)(&wrong)));
  say("totals wrong", static_cast<long>(CALL(gpuprof_take_totals)(nullptr)));
  gpuprof_options options{};
  options.struct_size = sizeof options;
  options.output = "chosen";
  say("start", static_cast<long>(CALL(gpuprof_start)(&options)));
  if (*CALL(gpuprof_last_message)() != '\0') std::printf("why=%s\n", CALL(gpuprof_last_message)());
  say("start again", static_cast<long>(CALL(gpuprof_start)(nullptr)));
  say("capturing", CALL(gpuprof_is_capturing)());
  ranges(3);
  say("flush", static_cast<long>(CALL(gpuprof_flush)()));
  say("stop", static_cast<long>(CALL(gpuprof_stop)()));
  say("stop again", static_cast<long>(CALL(gpuprof_stop)()));
  say("capturing", CALL(gpuprof_is_capturing)());
  ranges(5);  // between two captures
  say("start", static_cast<long>(CALL(gpuprof_start)(nullptr)));
  ranges(2, "late");
  say("step", static_cast<long>(CALL(gpuprof_step)()));
  say("stop", static_cast<long>(CALL(gpuprof_stop)()));
  say("totals", static_cast<long>(CALL(gpuprof_take_totals)(&totals)));
  for (std::size_t i = 0; i < totals->range_name_count; ++i)
    say(totals->ranges[i]->name, static_cast<long>(totals->ranges[i]->range_count));
  CALL(gpuprof_release_totals)(totals);
  CALL(gpuprof_release_totals)(nullptr);
  char path[4096], cut[4];
  auto const length = CALL(gpuprof_capture_path)(path, sizeof path);
  say("path fits", std::strlen(path) == length);
  CALL(gpuprof_capture_path)(cut, sizeof cut);
  say("path is cut", std::strncmp(path, cut, 3) == 0 && cut[3] == '\0');
  return 0;
}

void say(char const* what, gpuprof_status status) {
  std::printf("%s=%d|%s\n", what, static_cast<int>(status), CALL(gpuprof_last_message)());
  std::fflush(stdout);
}

bool no_more_threads = false;

/// All calls that come to nothing, each with the reason.
int messages(char const* library) {
  if (dlopen(library, RTLD_NOW | RTLD_GLOBAL) == nullptr) return 1;
  gpuprof_totals const* totals = nullptr;
  gpuprof_metrics const* metrics = nullptr;
  say("at first", GPUPROF_OK);
  say("stop", CALL(gpuprof_stop)());
  say("flush", CALL(gpuprof_flush)());
  say("totals", CALL(gpuprof_take_totals)(&totals));
  say("metrics", CALL(gpuprof_take_metrics)(&metrics));
  gpuprof_options wrong{};
  wrong.struct_size = 1;
  say("wrong size", CALL(gpuprof_start)(&wrong));
  say("no totals", CALL(gpuprof_take_totals)(nullptr));
  say("no metrics", CALL(gpuprof_take_metrics)(nullptr));
  std::thread([] { say("of a thread that called nothing", GPUPROF_OK); }).join();
  say("start", CALL(gpuprof_start)(nullptr));
  ranges(3);
  say("flush", CALL(gpuprof_flush)());
  say("metrics", CALL(gpuprof_take_metrics)(&metrics));
  say("totals", CALL(gpuprof_take_totals)(&totals));
  CALL(gpuprof_release_totals)(totals);
  say("stop", CALL(gpuprof_stop)());
  say("start again", CALL(gpuprof_start)(nullptr));
  CALL(gpuprof_stop)();
  say("stop again", CALL(gpuprof_stop)());
  return 0;
}

/// Registered before the library's own handler, so it runs after that.
int start_at_exit(char const* library) {
  if (dlopen(library, RTLD_NOW | RTLD_GLOBAL) == nullptr) return 1;
  std::atexit([] {
    say("start", CALL(gpuprof_start)(nullptr));
    say("flush", CALL(gpuprof_flush)());
    gpuprof_peaks const* peaks = nullptr;
    say("peaks", CALL(gpuprof_measure_peaks)(nullptr, &peaks));
  });
  return CALL(gpuprof_start)(nullptr) == GPUPROF_OK ? 0 : 2;
}

int start_without_threads(char const* library) {
  if (dlopen(library, RTLD_NOW | RTLD_GLOBAL) == nullptr) return 1;
  no_more_threads = true;
  say("start", CALL(gpuprof_start)(nullptr));
  say("start again", CALL(gpuprof_start)(nullptr));
  return 0;
}

/// Each name of an enum value, and values that the library does not know.
int enum_names(char const* library) {
  if (dlopen(library, RTLD_NOW | RTLD_GLOBAL) == nullptr) return 1;
  auto const all = [](char const* what, auto* name, std::vector<int> const& values) {
    std::printf("%s:", what);
    using value_type = typename first_parameter<decltype(name)>::type;
    for (auto const value : values) std::printf(" [%s]", name(static_cast<value_type>(value)));
    std::printf("\n");
  };
  std::vector<int> const to_four{0, 1, 2, 3, 4, -1};
  all("status", CALL(gpuprof_status_name), to_four);
  all("copy", CALL(gpuprof_copy_kind_name), {0, 1, 8, 10, 11, -1});
  all("precision", CALL(gpuprof_precision_name), {0, 7, 11, 12, -1});
  all("flops", CALL(gpuprof_flops_source_name), {0, 1, 2, 3, 4, 5, 6, 7, -1});
  all("bound", CALL(gpuprof_bound_name), {0, 1, 2, 3, 4, 15, 16, 23, 27, 28, -1});
  all("test", CALL(gpuprof_peak_test_name), {0, 1, 11, 34, 35, -1});
  all("unit", CALL(gpuprof_unit_name), {0, 1, 2, 3, 4, 5, -1});
  all("clock", CALL(gpuprof_clock_name), {0, 1, 2, 3, -1});
  all("limiter", CALL(gpuprof_limiter_name), {0, 1, 4, 0x100, 0x200});
  return 0;
}

int metrics_api(char const* library) {
  if (dlopen(library, RTLD_NOW | RTLD_GLOBAL) == nullptr) return 1;
  gpuprof_metrics const* metrics = reinterpret_cast<gpuprof_metrics const*>(library);
  say("metrics wrong", static_cast<long>(CALL(gpuprof_take_metrics)(nullptr)));
  say("metrics", static_cast<long>(CALL(gpuprof_take_metrics)(&metrics)));
  say("none", metrics == nullptr);
  say("start", static_cast<long>(CALL(gpuprof_start)(nullptr)));
  ranges(3);
  say("flush", static_cast<long>(CALL(gpuprof_flush)()));
  say("metrics", static_cast<long>(CALL(gpuprof_take_metrics)(&metrics)));
  CALL(gpuprof_release_metrics)(metrics);
  say("metrics", static_cast<long>(CALL(gpuprof_take_metrics)(&metrics)));
  if (metrics != nullptr) {
    say("ranges", static_cast<long>(metrics->range_name_count));  // with kernels
    say("launches", static_cast<long>(metrics->all->launch_count));
    say("not known", metrics->all->flops != metrics->all->flops);
    CALL(gpuprof_release_metrics)(metrics);
  }
  CALL(gpuprof_release_metrics)(nullptr);
  auto const child = fork();
  if (child == 0) _exit(CALL(gpuprof_take_metrics)(&metrics));
  int status = -1;
  waitpid(child, &status, 0);
  say("child", WEXITSTATUS(status));
  return 0;
}

int exit_code_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

int fork_and_go_on() {
  ranges(4);
  nvtxRangePushA("open at the fork");
  auto const child = fork();
  if (child == 0) {
    auto const was_inactive = CALL(gpuprof_is_capturing)() == 0;
    nvtxRangePop();
    ranges(100, "child");
    std::thread([] { ranges(5, "thread of the child"); }).join();
    auto const is_active = CALL(gpuprof_is_capturing)() == 1 && CALL(gpuprof_flush)() == GPUPROF_OK;
    std::exit(was_inactive && is_active ? 0 : 1);  // with all exit handlers
  }
  nvtxRangePop();
  auto const code = exit_code_of(child);
  ranges(4);
  return code;
}

/// The parent uses the C API, the child of its child too.
int forks_and_starts() {
  CALL(gpuprof_start)(nullptr);
  ranges(1);
  auto const child = fork();
  if (child == 0) {
    auto const grandchild = fork();
    if (grandchild != 0) std::exit(exit_code_of(grandchild));
    if (CALL(gpuprof_start)(nullptr) != GPUPROF_OK) std::exit(1);
    ranges(7);
    std::exit(CALL(gpuprof_stop)() == GPUPROF_OK ? 0 : 2);
  }
  return exit_code_of(child);
}

/// Children are made while other threads hold whatever locks they may hold.
int forks_beside_threads() {
  nvtxMarkA("first");
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&over, t] {
      for (int i = 0; !over; ++i) {
        auto const name = std::to_string(t) + " " + std::to_string(i % 100'000);
        nvtxNameCategoryA(static_cast<uint32_t>(i % 1000), name.c_str());
        nvtxRangeEnd(nvtxRangeStartA(name.c_str()));
        std::thread([&] { ranges(1, name.c_str()); }).join();
      }
    });
  }
  int failed = 0;
  for (int i = 0; i < 40; ++i) {
    auto const child = fork();
    if (child == 0) {
      alarm(120);  // one that hangs is killed
      nvtxNameCategoryA(7, "of the child");
      nvtxRangeEnd(nvtxRangeStartA("started"));
      ranges(3, "child");
      std::exit(CALL(gpuprof_flush)() == GPUPROF_OK ? 0 : 1);
    }
    failed += exit_code_of(child) != 0;
  }
  over = true;
  for (auto& t : threads) t.join();
  return failed;
}

/// Somebody has canceled the thread; it ends where the program lets it, and nowhere else.
int canceled_thread() {
  pthread_t thread;
  bool came_through = false;
  auto const work = [](void* done) -> void* {
    pthread_cancel(pthread_self());
    CALL(gpuprof_start)(nullptr);
    ranges(3);
    CALL(gpuprof_flush)();
    CALL(gpuprof_step)();
    CALL(gpuprof_stop)();
    *static_cast<bool*>(done) = true;
    pthread_testcancel();
    *static_cast<bool*>(done) = false;
    return nullptr;
  };
  if (pthread_create(&thread, nullptr, work, &came_through) != 0) return 1;
  void* ended = nullptr;
  pthread_join(thread, &ended);
  return came_through && ended == PTHREAD_CANCELED ? 0 : 2;
}

// NVTX's own initialization is a race by design when the first calls come from several threads.
void use_nvtx_first() {
  nvtxMarkA("first");
}

int many_threads(int count, int each) {
  use_nvtx_first();
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back([each] { ranges(each); });
  for (auto& t : threads) t.join();
  return 0;
}

int starts_and_stops_from_threads() {
  use_nvtx_first();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 10; ++i) {
        CALL(gpuprof_start)(nullptr);
        ranges(5);
        CALL(gpuprof_step)();
        CALL(gpuprof_stop)();
      }
    });
  }
  for (auto& t : threads) t.join();
  return 0;
}

/// Two threads count ten steps each, with a range in each; the main thread first.
int counted_steps() {
  use_nvtx_first();
  auto const ten = [] {
    for (int i = 0; i < 10; ++i) {
      CALL(gpuprof_step)();
      ranges(1, "inside");
    }
    CALL(gpuprof_step)();
  };
  ten();
  std::thread(ten).join();
  return 0;
}

/// As programs do that become daemons: the numbers then belong to files of their own.
int close_all_and_go_on() {
  ranges(10);
  if (CALL(gpuprof_flush)() != GPUPROF_OK) return 2;
  for (int number = 3; number < 256; ++number) close(number);
  for (int i = 0; i < 16; ++i) {
    auto const file = open(("mine" + std::to_string(i)).c_str(), O_RDWR | O_CREAT, 0600);
    if (file < 0 || write(file, "mine", 4) != 4) return 3;
  }
  ranges(10);
  CALL(gpuprof_flush)();
  return 0;
}

/// A daemon closes its standard streams; its first files get their numbers.
int close_standard_streams() {
  ranges(10);
  if (CALL(gpuprof_flush)() != GPUPROF_OK) return 2;  // no thread of ours opens a file meanwhile
  for (int number = 0; number < 3; ++number) close(number);
  open("/dev/null", O_RDONLY);
  open("/dev/null", O_WRONLY);
  if (open("data", O_RDWR | O_CREAT | O_TRUNC, 0600) != 2 || write(2, "data", 4) != 4) return 3;
  ranges(10);
  return 0;
}

/// All floating-point exceptions end the program, and it looks at the flags of those that came.
int trap_floating_point_exceptions() {
  feenableexcept(FE_ALL_EXCEPT);
  for (int i = 0; i < 1000; ++i) ranges(1, ("range " + std::to_string(i)).c_str());  // tables grow
  nvtxEventAttributes_t odd{};
  odd.version = NVTX_VERSION;
  odd.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  odd.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
  std::uint32_t const signaling_nan = 0x7fa00000;
  std::memcpy(&odd.payload.fValue, &signaling_nan, sizeof signaling_nan);
  nvtxMarkEx(&odd);
  gpuprof_totals const* totals = nullptr;
  gpuprof_metrics const* metrics = nullptr;
  CALL(gpuprof_step)();
  CALL(gpuprof_flush)();
  if (CALL(gpuprof_take_totals)(&totals) == GPUPROF_OK) CALL(gpuprof_release_totals)(totals);
  if (CALL(gpuprof_take_metrics)(&metrics) == GPUPROF_OK) CALL(gpuprof_release_metrics)(metrics);
  CALL(gpuprof_stop)();
  say("flags", std::fetestexcept(FE_ALL_EXCEPT));
  return 0;
}

/// A server that names a range after each request.
int serve_requests() {
  ranges(10);
  for (int i = 0; i < 20'000; ++i) {
    auto const name = "request " + std::to_string(i) + ' ';
    ranges(1, (name + std::string(4000, 'x')).c_str());
    if (i % 500 == 0) CALL(gpuprof_flush)();  // nothing is to be dropped
  }
  ranges(10, "new recently");
  return 0;
}

}  // namespace

/// In front of the C library's, for a scene in which no thread can be started.
extern "C" __attribute__((visibility("default"))) int pthread_create(
    pthread_t* thread, pthread_attr_t const* attributes, void* (*run)(void*), void* argument) {
  if (no_more_threads) return EAGAIN;
  using create = int (*)(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);
  static auto const next = reinterpret_cast<create>(dlsym(RTLD_NEXT, "pthread_create"));
  return next(thread, attributes, run, argument);
}

int main(int count, char** arguments) {
  std::string const scene = count > 1 ? arguments[1] : "";
  if (scene == "nothing") return 0;
  if (scene == "api") return api(arguments[2]);
  if (scene == "messages") return messages(arguments[2]);
  if (scene == "start at exit") return start_at_exit(arguments[2]);
  if (scene == "no threads") return start_without_threads(arguments[2]);
  if (scene == "enum names") return enum_names(arguments[2]);
  if (scene == "metrics") return metrics_api(arguments[2]);
  if (scene == "ranges") return ranges(std::atoi(arguments[2])), 0;
  if (scene == "fork") return fork_and_go_on();
  if (scene == "closes all") return close_all_and_go_on();
  if (scene == "closes streams") return close_standard_streams();
  if (scene == "traps") return trap_floating_point_exceptions();
  if (scene == "requests") return serve_requests();
  if (scene == "fork and start") return forks_and_starts();
  if (scene == "forks beside threads") return forks_beside_threads();
  if (scene == "canceled") return canceled_thread();
  if (scene == "threads") return many_threads(16, 1000);
  if (scene == "steps") return counted_steps();
  if (scene == "switching") return starts_and_stops_from_threads();
  if (scene == "exit in thread") {
    std::thread([] {
      ranges(6);
      std::exit(5);
    }).join();
  }
  if (scene == "names") {
    nvtxNameCategoryA(7, "loading");
    nvtxNameOsThreadA(static_cast<uint32_t>(syscall(SYS_gettid)), "the reader");
    ranges(1);
    return 0;
  }
  if (scene == "never ends") return nvtxRangePushA("open"), 0;
  if (scene == "two captures") {
    for (int i = 0; i < 3; ++i) {
      nvtxRangePushA("wanted");
      ranges(2, "inside");
      nvtxRangePop();
      ranges(7, "outside");
    }
    return 0;
  }
  if (scene == "asked to end") {
    ranges(3, "wanted");
    sleep(120);  // SIGTERM comes first
    return 1;
  }
  ranges(10);
  if (scene == "exec") {
    execl(arguments[0], arguments[0], "ranges", "20", nullptr);
    return 1;
  }
  if (CALL(gpuprof_flush)() != GPUPROF_OK) return 2;
  ranges(10);
  if (scene == "_exit") _exit(3);
  if (scene == "kill") raise(SIGKILL);
  return 4;
}
