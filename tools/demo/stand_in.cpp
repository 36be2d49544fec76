// SPDX-License-Identifier: Apache-2.0
// Nothing: a library of this file has the name under which a library of NVIDIA is opened, and the
// emulated one as the library that it needs. dlsym looks into both.
