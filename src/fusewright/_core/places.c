/* Where the program stands when it records: while a loop is looked for (frontends.arrays.iterations), a record that stands
   further on than the one before begins no iteration anew.  Those are counted here; all others are Python's. */

#include "core.h"

#define DEEPEST 256 /* frames, as in frontends.arrays.iterations */

typedef struct {
    PyCodeObject *code;
    int at;
} Place;

static Place seen[DEEPEST]; /* of the last record, outermost first */
static int depth;
static PyFrameObject *innermost; /* borrowed, to be compared only */
static Py_ssize_t passed, allowed, longest;
static int same, round_of; /* records from the last place; so many may be an iteration (0: a single one) */
static PyObject *folders; /* the package's, whose frames are skipped; then those of programs in it, which are users' */

#define MOST_INNER 16 /* as in frontends.arrays.iterations */
typedef struct {
    PyCodeObject *code;
    int start, end;
} Span;
static Span inner[MOST_INNER]; /* the loops inside the one that is known: when they turn, it does not */
static int inners;

void places_forget(void)
{
    for (int i = 0; i < depth; i++)
        Py_CLEAR(seen[i].code);
    depth = 0;
    innermost = NULL;
}

static void forget_inner(void)
{
    while (inners > 0)
        Py_CLEAR(inner[--inners].code);
}

/* Whether the program has gone forward in a frame, or back within a loop inside the known one. */
static int is_within(const Place *before, const Place *now)
{
    if (before->code != now->code || now->at >= before->at)
        return before->code == now->code && now->at > before->at;
    for (int i = 0; i < inners; i++)
        if (inner[i].code == now->code && inner[i].start <= now->at && before->at <= inner[i].end)
            return 1;
    return 0;
}

static Place place_of(PyFrameObject *frame) { return (Place){PyFrame_GetCode(frame), PyFrame_GetLasti(frame)}; }

static int is_ours(PyFrameObject *frame)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    const char *file = PyUnicode_AsUTF8(code->co_filename);
    int ours = 0;
    for (Py_ssize_t i = 0; file != NULL && i < PyTuple_GET_SIZE(folders); i++) {
        const char *folder = PyUnicode_AsUTF8(PyTuple_GET_ITEM(folders, i));
        int is_within = folder != NULL && strncmp(file, folder, strlen(folder)) == 0;
        ours = is_within == (i == 0);
        if (!ours)
            break;
    }
    if (!ours)
        forgive();
    Py_DECREF(code);
    return ours;
}

/* The user's frame that records: a new reference; NULL where there is none. */
static PyFrameObject *user_frame(void)
{
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    while (frame != NULL && is_ours(frame)) {
        PyFrameObject *back = PyFrame_GetBack(frame);
        Py_DECREF(frame);
        frame = back;
    }
    return frame;
}

/* Every frame's place, outermost first: how many, 0 for too many. */
static int all_places(PyFrameObject *frame, Place *found)
{
    int count = 0;
    Py_INCREF(frame);
    while (frame != NULL && count < DEEPEST) {
        found[count++] = place_of(frame);
        PyFrameObject *back = PyFrame_GetBack(frame);
        Py_DECREF(frame);
        frame = back;
    }
    int is_all = frame == NULL;
    Py_XDECREF(frame);
    for (int i = 0; i < count / 2; i++) {
        Place other = found[i];
        found[i] = found[count - 1 - i];
        found[count - 1 - i] = other;
    }
    for (int i = 0; !is_all && i < count; i++)
        Py_DECREF(found[i].code);
    return is_all ? count : 0;
}

/* A record from the very place of the one before: only every so many may be an iteration by themselves. */
static int is_repeated(void)
{
    if (round_of == 0 || (same + 1) % round_of == 0)
        return 0;
    same++;
    return 1;
}

/* Whether the program has only gone forward, into a call or out of one. */
static int is_further(const Place *now, int count)
{
    int shared = count < depth ? count : depth, first = 0;
    while (first < shared && now[first].code == seen[first].code && now[first].at == seen[first].at)
        first++;
    if (first == shared && count == depth)
        return is_repeated();
    int further = first == shared || is_within(&seen[first], &now[first]);
    same = further ? 0 : same;
    return further;
}

static int is_forward(PyFrameObject *frame)
{
    if (frame == innermost) {
        Place now = place_of(frame), *before = &seen[depth - 1];
        int is_same = now.code == before->code && now.at == before->at;
        int further = is_within(before, &now);
        Py_DECREF(now.code);
        if (further) {
            before->at = now.at;
            same = 0;
        }
        return further || (is_same && is_repeated());
    }
    Place now[DEEPEST];
    int count = all_places(frame, now);
    if (count == 0)
        return 0;
    int further = is_further(now, count);
    if (!further) {
        for (int i = 0; i < count; i++)
            Py_DECREF(now[i].code);
        return 0;
    }
    places_forget();
    memcpy(seen, now, (size_t)count * sizeof *now);
    depth = count;
    innermost = frame;
    return 1;
}

/* This record was not looked at; where it stands tells what the next one is. */
void places_note(void)
{
    PyFrameObject *frame = user_frame();
    places_forget();
    if (frame != NULL && (depth = all_places(frame, seen)) > 0) {
        innermost = frame;
        passed++;
    }
    Py_XDECREF(frame);
}

int places_pass(Py_ssize_t length)
{
    if (depth == 0 || passed >= allowed || length > longest)
        return 0;
    PyFrameObject *frame = user_frame();
    int forward = frame != NULL && is_forward(frame);
    Py_XDECREF(frame);
    passed += forward;
    return forward;
}

/* The loops in a list of (code, start, end). */
static int set_inner(PyObject *loops)
{
    Py_ssize_t count = loops ? PyList_GET_SIZE(loops) : 0;
    for (Py_ssize_t i = 0; i < count && i < MOST_INNER; i++) {
        Span *span = &inner[inners];
        if (!PyArg_ParseTuple(PyList_GET_ITEM(loops, i), "O!ii", &PyCode_Type, &span->code, &span->start, &span->end))
            return span->code = NULL, -1;
        Py_INCREF(span->code);
        inners++;
    }
    return 0;
}

/* set_places(places, frame, allowed, longest, same, round, inner): so many records may pass while the list is no longer;
   set_places() */
static PyObject *set_places(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *places = NULL, *frame = NULL, *loops = NULL;
    passed = allowed = same = round_of = 0;
    places_forget();
    forget_inner();
    if (!PyArg_ParseTuple(given, "|O!OnniiO!", &PyList_Type, &places, &frame, &allowed, &longest,
                          &same, &round_of, &PyList_Type, &loops)
        || set_inner(loops) < 0)
        return NULL;
    Py_ssize_t count = places && folders ? PyList_GET_SIZE(places) : 0;
    for (Py_ssize_t i = 0; i < count && count <= DEEPEST; i++) {
        PyObject *code;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(places, i), "O!i", &PyCode_Type, &code, &seen[i].at))
            return NULL;
        seen[i].code = (PyCodeObject *)Py_NewRef(code);
        depth++;
    }
    innermost = depth > 0 ? (PyFrameObject *)PyLong_AsVoidPtr(frame) : NULL;
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* (code, instruction) of each place: a list. */
static PyObject *listed(const Place *places, int count)
{
    PyObject *list = PyList_New(count);
    for (int i = 0; list != NULL && i < count; i++) {
        PyObject *place = Py_BuildValue("(Oi)", places[i].code, places[i].at);
        if (place == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, place);
    }
    return list;
}

/* frames(frame): where it and all around it stand, outermost first; none where they are too many */
static PyObject *frames_of(PyObject *module, PyObject *frame)
{
    (void)module;
    Place found[DEEPEST];
    if (!PyFrame_Check(frame)) {
        PyErr_SetString(PyExc_TypeError, "frames of a frame");
        return NULL;
    }
    int count = all_places((PyFrameObject *)frame, found);
    PyObject *list = listed(found, count);
    for (int i = 0; i < count; i++)
        Py_DECREF(found[i].code);
    return list;
}

/* places(): how many records have passed since they were set, how many of them from the last place, where that is, and
   the id of its frame */
static PyObject *get_places(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    PyObject *list = listed(seen, depth);
    PyObject *found = list ? Py_BuildValue("(niNN)", passed, same, list, PyLong_FromVoidPtr(innermost)) : NULL;
    passed = 0;
    return found;
}

/* set_folders((package, programs, ...)) */
static PyObject *set_folders(PyObject *module, PyObject *given)
{
    (void)module;
    if (!PyTuple_CheckExact(given)) {
        PyErr_SetString(PyExc_TypeError, "folders are a tuple");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given); i++)
        if (PyUnicode_AsUTF8(PyTuple_GET_ITEM(given, i)) == NULL)
            return NULL;
    Py_XSETREF(folders, Py_NewRef(given));
    Py_RETURN_NONE;
}

PyMethodDef place_methods[] = {
    {"set_places", set_places, METH_VARARGS, "Where the last record stood: those further on need not be told of."},
    {"places", get_places, METH_NOARGS, "How many records have passed so, and where the last one stood."},
    {"frames", frames_of, METH_O, "Where a frame and all around it stand, outermost first."},
    {"set_folders", set_folders, METH_O, "The package's folder, and those in it that are users'."},
    {NULL},
};
