#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_dict.h>
#if PY_VERSION_HEX >= 0x030e0000
#include <internal/pycore_interpframe.h>
#endif
#include <stdio.h>
#include <stddef.h>
int main(){
 printf("%x localsplus %zu framesize %zu cached_keys %zu basicsize %zu flags %zu name %zu dictsize %zu ma_values %zu entries %zu values %zu\n", PY_VERSION_HEX, offsetof(_PyInterpreterFrame, localsplus), sizeof(_PyInterpreterFrame), offsetof(PyHeapTypeObject, ht_cached_keys), offsetof(PyTypeObject,tp_basicsize), offsetof(PyTypeObject,tp_flags), offsetof(PyTypeObject,tp_name), sizeof(PyDictObject), offsetof(PyDictObject, ma_values), offsetof(PyDictKeysObject, dk_indices), offsetof(struct _dictvalues, values));
}
