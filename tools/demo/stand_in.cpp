// SPDX-License-Identifier: Apache-2.0
// This file is empty on purpose. The library made from it has the name under which a library of
// NVIDIA is opened, and depends on the emulated one: dlsym searches both.
