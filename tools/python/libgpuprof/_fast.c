/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX ranges for Python, in the limited API of 3.10: one file for all versions. Nothing of NVTX
 * runs before a tool is known to be there, since NVTX looks for one once: the library may be loaded
 * later, by gp.profile().
 *
 * Where this module cannot be imported (Python without the GIL), ranges.py calls the functions at
 * the end through ctypes.
 */
#define Py_LIMITED_API 0x030a0000
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>

#pragma GCC diagnostic ignored "-Wpedantic" /* Python's slots hold functions as void* */

#define EXPORTED __attribute__((visibility("default")))

/* As in gpuprof.hpp: {double flops, double bytes}. */
static const uint64_t work_schema = 0x67707701;

typedef struct work {
  double flops;
  double bytes;
} work;

static int tool_is_present = 0;

/* How many ranges of this thread the tool has: one that was opened before the tool came is not
 * closed. */
static _Thread_local long open_ranges = 0;

static void register_work_schema(nvtxDomainHandle_t domain) {
  static const nvtxPayloadSchemaEntry_t entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "flops", "floating-point operations", 0, 0, NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "bytes", "bytes read and written", 0, 8, NULL, NULL}};
  nvtxPayloadSchemaAttr_t schema;
  memset(&schema, 0, sizeof schema);
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
}

/* `name` or `registered` is the text. */
static void push_range(nvtxDomainHandle_t domain, char const* name, nvtxStringHandle_t registered,
                       uint32_t color, work const* declared) {
  nvtxEventAttributes_t about;
  nvtxPayloadData_t payload;
  memset(&about, 0, sizeof about);
  about.version = NVTX_VERSION;
  about.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  if (registered != NULL) {
    about.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    about.message.registered = registered;
  } else {
    about.messageType = NVTX_MESSAGE_TYPE_ASCII;
    about.message.ascii = name;
  }
  if (color != 0) {
    about.colorType = NVTX_COLOR_ARGB;
    about.color = color;
  }
  if (declared->flops > 0 || declared->bytes > 0) {
    static int registered_default = 0;
    if (domain == NULL && !registered_default) {
      registered_default = 1;
      register_work_schema(NULL);
    }
    payload.schemaId = work_schema;
    payload.size = sizeof *declared;
    payload.payload = declared;
    about.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    about.reserved0 = 1; /* how many payloads */
    about.payload.ullValue = (uint64_t)(uintptr_t)&payload;
  }
  nvtxDomainRangePushEx(domain, &about);
  ++open_ranges;
}

static void pop_range(nvtxDomainHandle_t domain) {
  if (open_ranges == 0) return;
  --open_ranges;
  nvtxDomainRangePop(domain);
}

static nvtxDomainHandle_t new_domain(char const* name) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA(name);
  register_work_schema(domain);
  return domain;
}

/* ---- class Range(name, domain=None, color=0, flops=0, bytes=0) */

static PyObject* domains = NULL; /* name: handle, as int */

typedef struct range_object {
  PyObject_HEAD PyObject* name; /* str */
  PyObject* text;               /* str or bytes that `chars` lies in */
  PyObject* domain;             /* str or None */
  char const* chars;
  nvtxDomainHandle_t domain_handle;
  nvtxStringHandle_t registered;
  work declared;
  uint32_t color;
  uint8_t is_known_domain;
  uint8_t was_entered;
} range_object;

static char const* chars_of(PyObject* name, PyObject** owner) {
  char const* chars = PyUnicode_AsUTF8AndSize(name, NULL);
  if (chars != NULL) {
    Py_INCREF(name);
    *owner = name;
    return chars;
  }
  PyErr_Clear(); /* half a surrogate pair */
  *owner = PyUnicode_AsEncodedString(name, "utf-8", "backslashreplace");
  return *owner != NULL ? PyBytes_AsString(*owner) : NULL;
}

static int range_init(PyObject* self, PyObject* args, PyObject* keywords) {
  static char* names[] = {"name", "domain", "color", "flops", "bytes", NULL};
  range_object* range = (range_object*)self;
  PyObject *name, *text, *domain = Py_None;
  unsigned int color = 0;
  work declared = {0, 0};
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "U|OIdd:range", names, &name, &domain, &color,
                                   &declared.flops, &declared.bytes))
    return -1;
  if (domain != Py_None && !PyUnicode_Check(domain)) {
    PyErr_SetString(PyExc_TypeError, "the domain of a range is a str or None");
    return -1;
  }
  if (range->name != NULL) {
    PyErr_SetString(PyExc_TypeError, "a range has one name: make another");
    return -1;
  }
  range->chars = chars_of(name, &text);
  if (range->chars == NULL) return -1;
  range->text = text;
  Py_INCREF(name);
  range->name = name;
  Py_INCREF(domain);
  range->domain = domain;
  range->declared = declared;
  range->color = color;
  range->is_known_domain = domain == Py_None;
  return 0;
}

static void range_dealloc(PyObject* self) {
  range_object* range = (range_object*)self;
  PyTypeObject* type = Py_TYPE(self);
  freefunc free_self = (freefunc)PyType_GetSlot(type, Py_tp_free);
  PyObject_GC_UnTrack(self);
  Py_XDECREF(range->name);
  Py_XDECREF(range->text);
  Py_XDECREF(range->domain);
  free_self(self);
  Py_DECREF(type);
}

static int range_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return 0;
}

/* Domains are made once: a tool shows each creation as a domain of its own. */
static int find_domain(range_object* range) {
  PyObject* known = PyDict_GetItemWithError(domains, range->domain);
  if (known != NULL) {
    range->domain_handle = (nvtxDomainHandle_t)PyLong_AsVoidPtr(known);
  } else {
    PyObject *owner, *made;
    char const* chars = PyErr_Occurred() ? NULL : chars_of(range->domain, &owner);
    int failed;
    if (chars == NULL) return -1;
    range->domain_handle = new_domain(chars);
    Py_DECREF(owner);
    made = PyLong_FromVoidPtr(range->domain_handle);
    if (made == NULL) return -1;
    failed = PyDict_SetItem(domains, range->domain, made);
    Py_DECREF(made);
    if (failed) return -1;
  }
  range->is_known_domain = 1;
  return 0;
}

static PyObject* range_enter(PyObject* self, PyObject* unused) {
  range_object* range = (range_object*)self;
  (void)unused;
  if (tool_is_present && range->chars != NULL) {
    if (!range->is_known_domain && find_domain(range) != 0) return NULL;
    if (range->registered == NULL && range->was_entered) /* kept: worth a registered name */
      range->registered = nvtxDomainRegisterStringA(range->domain_handle, range->chars);
    range->was_entered = 1;
    push_range(range->domain_handle, range->chars, range->registered, range->color,
               &range->declared);
  }
  Py_INCREF(self);
  return self;
}

static PyObject* range_exit(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  (void)arguments, (void)count;
  if (tool_is_present) pop_range(((range_object*)self)->domain_handle);
  Py_RETURN_NONE;
}

static PyMethodDef range_methods[] = {
    {"__enter__", range_enter, METH_NOARGS, "Opens the range on this thread."},
    {"__exit__", (PyCFunction)(void (*)(void))range_exit, METH_FASTCALL,
     "Closes it, whatever was raised."},
    {NULL, NULL, 0, NULL}};
static PyMemberDef range_members[] = {
    {"name", T_OBJECT, offsetof(range_object, name), READONLY, "its text"},
    {"domain", T_OBJECT, offsetof(range_object, domain), READONLY, "its NVTX domain, or None"},
    {"flops", T_DOUBLE, offsetof(range_object, declared.flops), READONLY, "declared operations"},
    {"bytes", T_DOUBLE, offsetof(range_object, declared.bytes), READONLY, "declared bytes"},
    {NULL, 0, 0, 0, NULL}};
static PyType_Slot range_slots[] = {{Py_tp_init, range_init},
                                    {Py_tp_new, PyType_GenericNew},
                                    {Py_tp_dealloc, range_dealloc},
                                    {Py_tp_traverse, range_traverse},
                                    {Py_tp_methods, range_methods},
                                    {Py_tp_members, range_members},
                                    {0, NULL}};
static PyType_Spec range_spec = {"libgpuprof._fast.Range", sizeof(range_object), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                                 range_slots};

/* ---- functions */

static int find_tool(void) {
  if (!tool_is_present && getenv("NVTX_INJECTION64_PATH") != NULL) tool_is_present = 1;
  return tool_is_present;
}

static PyObject* attach(PyObject* module, PyObject* unused) {
  (void)module, (void)unused;
  return PyBool_FromLong(find_tool());
}

static PyObject* mark(PyObject* module, PyObject* name) {
  PyObject* owner;
  char const* chars;
  (void)module;
  if (!PyUnicode_Check(name)) {
    PyErr_SetString(PyExc_TypeError, "the name of a mark is a str");
    return NULL;
  }
  if (tool_is_present) {
    if ((chars = chars_of(name, &owner)) == NULL) return NULL;
    nvtxMarkA(chars);
    Py_DECREF(owner);
  }
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"attach", attach, METH_NOARGS, "Looks for an NVTX tool again. True where there is one."},
    {"mark", mark, METH_O, "Marks a moment."},
    {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "_fast",
                                        "NVTX ranges of libgpuprof.",
                                        -1,
                                        functions,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};

PyMODINIT_FUNC PyInit__fast(void) {
  PyObject* module = PyModule_Create(&definition);
  PyObject* type = PyType_FromSpec(&range_spec);
  if (domains == NULL) domains = PyDict_New();
  if (module == NULL || type == NULL || domains == NULL ||
      PyModule_AddObject(module, "Range", type) != 0) {
    Py_XDECREF(type);
    Py_XDECREF(module);
    return NULL;
  }
  find_tool();
  return module;
}

/* ---- for ctypes */

EXPORTED int libgpuprof_attach(void) {
  return find_tool();
}
EXPORTED void* libgpuprof_domain(char const* name) {
  return find_tool() ? new_domain(name) : NULL;
}
EXPORTED void libgpuprof_push(void* domain, char const* name, uint32_t color, double flops,
                              double bytes) {
  const work declared = {flops, bytes};
  if (tool_is_present) push_range((nvtxDomainHandle_t)domain, name, NULL, color, &declared);
}
EXPORTED void libgpuprof_pop(void* domain) {
  if (tool_is_present) pop_range((nvtxDomainHandle_t)domain);
}
EXPORTED void libgpuprof_mark(char const* name) {
  if (tool_is_present) nvtxMarkA(name);
}
