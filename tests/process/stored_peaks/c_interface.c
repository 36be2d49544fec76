/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprof_measure_peaks() in plain C: c_interface [TESTS [refresh|stop-first]], or c_interface
 * invalid|fork. */
#include <gpuprof/peaks.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int print(gpuprof_peaks_options const* options) {
  gpuprof_peaks const* roof = (gpuprof_peaks const*)options; /* must not survive */
  gpuprof_status const status = gpuprof_measure_peaks(options, &roof);
  printf("status=%d\n", (int)status);
  if (status != GPUPROF_OK) {
    printf("peaks=%s\nwhy=%s\n", roof == NULL ? "none" : "left", gpuprof_last_message());
    return 0;
  }
  printf("gpu=%s\nuuid=%s\nstored=%d\norigin=%s\nremarks=%s\n", roof->gpu, roof->uuid, roof->stored,
         roof->origin, roof->remarks);
  for (size_t i = 0; i < roof->peak_count; ++i) {
    gpuprof_peak const* p = roof->peaks[i];
    printf("%s|%s|%s|%d|%s|%g|%g|%g|%g|%g|%g|%g|%g|%g|%llu|%s|%s|%s|%s\n",
           gpuprof_peak_test_name(p->test), p->title, gpuprof_unit_name(p->unit),
           p->outcome == GPUPROF_OUTCOME_MEASURED, gpuprof_clock_name(p->clock), p->per_clock,
           p->per_clock_theory, p->burst, p->burst_spread, p->burst_sm_clock_mhz, p->sustained,
           p->sustained_sm_clock_mhz, p->sustained_watts, p->theory,
           (unsigned long long)p->limiters, p->method, p->operands, p->remark, p->measured_at);
  }
  gpuprof_release_peaks(roof);
  return 0;
}

static void say(char const* what, gpuprof_status status) {
  printf("%s %d %s\n", what, (int)status, gpuprof_last_message());
}

static int invalid(void) {
  gpuprof_peaks const* roof = NULL;
  gpuprof_peaks_options options = {.struct_size = sizeof options};
  say("no place", gpuprof_measure_peaks(&options, NULL));
  options.struct_size = sizeof(size_t);
  say("too small", gpuprof_measure_peaks(&options, &roof));
  options.struct_size = sizeof options;
  options.device = -1;
  say("no device", gpuprof_measure_peaks(&options, &roof));
  options.device = 0;
  options.tests = "tensor_bf61";
  say("no test", gpuprof_measure_peaks(&options, &roof));
  options.tests = "";
  say("no name", gpuprof_measure_peaks(&options, &roof));
  gpuprof_release_peaks(NULL);
  return roof != NULL;
}

/* The child must come back, whatever the parent was doing. */
static int in_child(void) {
  gpuprof_peaks const* roof = NULL;
  gpuprof_measure_peaks(NULL, &roof);
  gpuprof_release_peaks(roof);
  fflush(stdout);
  pid_t const child = fork();
  if (child == 0) {
    gpuprof_status const status = gpuprof_measure_peaks(NULL, &roof);
    printf("in the child=%s\n", gpuprof_last_message());
    fflush(stdout);
    _exit((int)status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child=%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return 0;
}

/* As a program does that wants to measure though a capture begins with cuInit. */
static void begin_and_stop(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  int (*initialize)(unsigned) = NULL;
  if (driver != NULL) *(void**)&initialize = dlsym(driver, "cuInit");
  if (initialize != NULL) initialize(0);
  gpuprof_stop();
}

int main(int count, char** words) {
  char const* const first = count > 1 ? words[1] : NULL;
  if (first != NULL && strcmp(first, "invalid") == 0) return invalid();
  if (first != NULL && strcmp(first, "fork") == 0) return in_child();
  if (first == NULL) return print(NULL);
  if (count > 2 && strcmp(words[2], "stop-first") == 0) begin_and_stop();
  gpuprof_peaks_options options = {.struct_size = sizeof options,
                                   .tests = first,
                                   .refresh = count > 2 && strcmp(words[2], "refresh") == 0};
  return print(&options);
}
