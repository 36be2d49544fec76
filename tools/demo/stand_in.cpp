// SPDX-License-Identifier: Apache-2.0
// This file is empty. A library made of it has the name under which a library of NVIDIA is opened,
// and needs the emulated one: dlsym looks into both.
