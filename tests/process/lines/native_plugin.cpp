// SPDX-License-Identifier: Apache-2.0
// A library of native_program.cpp. Built twice, so that both are alike but for the name of a
// function.
extern "C" {

int volatile calls_of_plugin = 0;

__attribute__((noinline)) void GPUPROF_PLUGIN_FUNCTION(void (*play)()) {
  play();
  calls_of_plugin = calls_of_plugin + 1;
}

__attribute__((visibility("default"))) void entry(void (*play)()) {
  GPUPROF_PLUGIN_FUNCTION(play);
  calls_of_plugin = calls_of_plugin + 1;
}
}
