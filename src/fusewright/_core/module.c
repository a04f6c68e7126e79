/* The module `fusewright._core._native`. */

#include "core.h"

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_native",
    .m_doc = "Recording, look-up and launch, compiled ahead of time.",
    .m_size = -1,
};

PyMODINIT_FUNC PyInit__native(void)
{
    static PyMethodDef *parts[] = {view_methods,  node_methods,  memory_methods, handle_methods, operator_methods,
                                   trace_methods, slice_methods,  program_methods};
    static struct {
        const char *name;
        PyTypeObject *type;
    } types[] = {{"Node", &NodeType},           {"Memory", &MemoryType}, {"Handle", &HandleType},
                 {"Operators", &OperatorsType}, {"Op", &OpType},         {"Function", &FunctionType},
                 {"Program", &ProgramType},     {"Lock", &LockType},     {"Replay", &ReplayType},
                 {"Replayer", &ReplayerType},   {"Evaluator", &EvaluatorType}};
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
    return module;
}
