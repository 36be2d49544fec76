// SPDX-License-Identifier: Apache-2.0
// Compiled without unwind tables.
int volatile calls_of_blind = 0;

void blind(void (*play)(void));
void blind(void (*play)(void)) {
  play();
  calls_of_blind = calls_of_blind + 1;
}
