/* The module `fusewright._core._native`. */

#include "core.h"

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_native",
    .m_doc = "Recording, look-up and launch, compiled ahead of time.",
    .m_size = -1,
};

static PyObject *raise_unset(PyObject *module, PyObject *given, PyObject *names)
{
    (void)module, (void)given, (void)names;
    PyErr_SetString(PyExc_RuntimeError, "the native core is used before fusewright is imported");
    return NULL;
}

static PyMethodDef unset_definition = {"unset", (PyCFunction)(void (*)(void))raise_unset,
                                       METH_VARARGS | METH_KEYWORDS, "Raises."};

static int parts_ready(void)
{
    PyObject *unset = PyCFunction_New(&unset_definition, NULL);
    int failed = unset == NULL || memory_ready(unset) < 0 || operators_ready(unset) < 0 || functions_ready() < 0
                 || buffers_ready(unset) < 0 || crossing_ready(unset) < 0
                 || views_ready(unset) < 0 || trace_ready(unset) < 0 || structure_ready() < 0
                 || program_ready(unset) < 0 || groups_ready() < 0
                 || launch_ready(unset) < 0 || dispatch_ready(unset) < 0 || adopt_ready(unset) < 0 || reductions_ready() < 0;
    Py_XDECREF(unset);
    return failed ? -1 : 0;
}

PyMODINIT_FUNC PyInit__native(void)
{
    static PyMethodDef *parts[] = {view_methods,  node_methods,  memory_methods, handle_methods, buffer_methods, operator_methods, function_methods,
                                   trace_methods, slice_methods, options_methods, machine_methods, program_methods, tensor_methods, call_methods,
                                   library_methods, arrange_methods, part_methods, dispatch_methods, unfused_methods, adopt_methods, row_methods,
                                   group_methods, joins_methods, product_methods, group_run_methods, launch_methods, place_methods, lent_methods, crossing_methods, timing_methods, interruption_methods,
                                   converter_methods, survivor_methods};
    static struct {
        const char *name;
        PyTypeObject *type;
    } types[] = {{"Node", &NodeType},           {"Memory", &MemoryType}, {"Handle", &HandleType},
                 {"Operators", &OperatorsType}, {"Op", &OpType},         {"Function", &FunctionType},
                 {"Program", &ProgramType},     {"Lock", &LockType},     {"Replay", &ReplayType},
                 {"Replayer", &ReplayerType},   {"Evaluator", &EvaluatorType},
                 {"Front", &FrontType}, {"Reduction", &ReductionType}, {"Recorder", &RecorderType},
                 {"Step", &StepType},         {"Dispatch", &DispatchType}, {"Arrangement", &ArrangementType}, {"Attribute", &AttributeType},
                 {"Agreed", &AgreedType},         {"Writer", &WriterType}, {"Rows", &RowsType},
                 {"Override", &OverrideType},   {"Border", &BorderType},
                 {"Shape", &ShapeType},         {"Group", &GroupType},   {"Deferral", &DeferralType},
                 {"GroupProgram", &GroupProgramType}, {"CallCache", &CallCacheType}, {"BoundCall", &BoundCallType}, {"Schedule", &ScheduleType}};
    if (node_ready() < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    for (size_t i = 0; module != NULL && i < sizeof types / sizeof *types; i++)
        if (PyType_Ready(types[i].type) < 0
            || PyModule_AddObjectRef(module, types[i].name, (PyObject *)types[i].type) < 0)
            Py_CLEAR(module);
    for (size_t i = 0; module != NULL && i < sizeof parts / sizeof *parts; i++)
        if (PyModule_AddFunctions(module, parts[i]) < 0)
            Py_CLEAR(module);
    if (module != NULL && parts_ready() < 0)
        Py_CLEAR(module);
    return module;
}
