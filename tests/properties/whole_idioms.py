# ruff: noqa: E501
"""What other people's programs do beside operators and views: products, statistics, transforms, rows
in Python's loops, several index arrays, sets, generators with a seed, results in the place of
operands.  Templates for `whole_programs.py`: {0}, {1} and {2} are arrays, {n} a number, {m} a mask,
{e} an expression.
"""

from __future__ import annotations

VALUES = (
    # products
    "{0} @ {1}", "{0} @ {0}.T", "np.dot({0}, {1})", "{0}.dot({1}.T)", "np.vdot({0}, {1})",
    "np.inner({0}[:5], {1}[:5])", "np.einsum('i...->...', {0})", "np.einsum('...i,...i', {0}, {1})",
    "np.einsum('...,...->...', {0}, {1})", "np.tensordot({0}, {1}, {0}.ndim)",
    "np.kron({0}[:2, ..., :3], {1}[:3, ..., :2])", "np.cross({0}[..., :3], {1}[..., :3])",
    # statistics
    "np.median({0})", "np.median({0}, axis=-1)", "np.percentile({0}, [10, 50])", "{0}.std(axis=-1)",
    "np.quantile({0}, 0.25, axis=0)", "np.average({0}, weights=abs({1}) + 1)", "np.std({0}, ddof=1)",
    "np.histogram({0}, bins=5)[0]", "np.digitize({0}, [-1, 0, 2])", "np.nanmax({0})",
    "np.nansum({0}, axis=0)", "np.nanmean({0})", "np.nanargmax({0})", "np.cov({0}[:9, ..., :9])",
    "np.corrcoef({0}.ravel()[:50], {1}.ravel()[:50])", "({0} - {0}.mean(0)) / ({0}.std(0) + 1)",
    # along an axis, in its order
    "np.interp({0}, [-1, 0, 2], [3, 1, 4])", "np.convolve({0}.ravel(), [1, 2, 1], 'same')",
    "np.correlate({0}.ravel(), [1, 2], 'full')", "np.fft.fft({0})", "np.fft.rfft({0}, axis=0)",
    "np.fft.ifft(np.fft.fft({0})).real", "np.fft.fftshift({0})", "np.fft.fft2({0})",
    "np.trapezoid({0})", "np.polyval([1, 2, 3], {0})", "np.add.reduceat({0}, [0, 2])",
    "np.add.accumulate({0}, axis=-1)", "np.lexsort(({0}.ravel(), {1}.ravel()))",
    "np.partition({0}, 1)[..., 1]", "np.apply_along_axis(np.sort, -1, {0})", "np.sort({0}, axis=0)[::-1]",
    "np.apply_along_axis(lambda r: r.max() - r.min(), -1, {0})", "np.argsort({0}, axis=0, kind='stable')",
    "np.take_along_axis({0}, np.argsort({0}, -1, kind='stable'), -1)", "np.cumsum({0} > 0)",
    "np.lib.stride_tricks.sliding_window_view({0}, 3, axis=0)",
    "np.lib.stride_tricks.sliding_window_view({0}, 2, -1).max(-1)",
    # Python's loops and numbers
    "np.vectorize(lambda x: x * 2)({0}[:9])", "np.array([x * 2 for x in {0}[:9]])",
    "np.array([row.sum() for row in {0}[:9]])", "np.array({0}.tolist())", "sum({0}[:7])",
    "np.array(sorted({0}.ravel()[:30].tolist()))", "max({0}.ravel()[:9])", "np.array(len({0}))",
    "np.fromiter((x for x in {0}.ravel()[:20]), {0}.dtype)", "np.array([x for x in {0}.flat][:30])",
    "np.array([a + b for a, b in zip({0}[:5], {1}[:5])])", "np.array([{0}[i] for i in range(-3, 0)])",
    "np.array([i * x for i, x in enumerate({0}[:6])])", "np.array({0}.ravel()[1].item())",
    "np.array([x for _, x in np.ndenumerate({0}[:4])])", "np.array({0}.ravel()[0] in {1})",
    "np.array([i for i in np.ndindex({0}[:2].shape)])", "np.array([list(r) for r in {0}[:3]])",
    # several index arrays, masks of one axis
    "{0}[[0, 1], [1, 0]]", "{0}[np.ix_([0, 1], [1, 0])]", "{0}[:, [0, 1]]", "{0}[[[0, 1], [1, 0]]]",
    "{0}[np.arange({0}.shape[0]), np.argmax({0}, axis=1)]", "{0}[{0}.ravel().argsort(kind='stable')[::-1][:9] % len({0})]",
    "{0}[np.argsort({0}[:, 0], kind='stable')]", "{0}[:, {0}[0] > 0]", "{0}[{0}[:, 0] > 0]",
    "{0}[{0}.any(axis=-1)]", "{0}[np.array([True, False])]", "{0}[{0}[:, 0] > 0, 1]", "{0}[[0, 1], 1:]",
    "{0}[[True] * len({0})]", "{0}[..., np.array([0])]", "{0}[np.newaxis, [0, -1]]", "{0}[{0}.argmax()]",
    "np.take({0}, np.arange(3), axis=-1)", "np.compress([True, False, True], {0}, axis=0)",
    "np.choose(({0} > 0).astype(int), [{0}, {1}])", "np.extract({0} > 0, {1})", "np.argwhere({0} > 1)",
    "np.piecewise({0}, [{0} < 0, {0} >= 0], [lambda x: -x, lambda x: x * 2])", "np.flatnonzero({0})",
    "np.array(np.unravel_index(np.argmax({0}), {0}.shape))", "{0}[tuple(np.argwhere({0} > 0).T)]",
    # parts put together, taken apart
    "np.r_[{0}, {1}]", "np.c_[{0}, {1}]", "np.block([[{0}, {1}], [{1}, {0}]])", "np.rot90({0})",
    "np.column_stack(({0}, {1}))", "np.dstack(({0}, {1}))", "np.fliplr({0})", "np.triu({0}, 1)",
    "np.diag({0}[:20])", "np.resize({0}, (7, 5))", "np.array_split({0}, 3)[1]", "np.hsplit({0}, 2)[0]",
    "np.concatenate([{0}[:2], {1}[2:]], axis=0)", "np.concatenate(list({0}[:4]), axis=None)",
    "np.array(list({0}[:3]) + list({1}[:3]))", "np.pad({0}, 2, mode='wrap')", "np.pad({0}, 1, mode='edge')",
    "np.roll({0}, (1, -1), (0, -1))", "np.rollaxis({0}, -1)", "np.repeat({0}, [2] * {0}.shape[0], axis=0)",
    "np.broadcast_arrays({0}, {0}[:1])[1] + 0", "np.tile({0}, (2, 1))", "np.stack([{0}, {1}, {0}]).mean(0)",
    # sets
    "np.setdiff1d({0}, {1})", "np.union1d({0}, {1})", "np.intersect1d({0}, {1})",
    "np.unique({0}, return_counts=True)[1]", "np.unique({0}, return_inverse=True)[1]",
    "np.unique({0}[:5], axis=0)", "np.bincount(({0}.ravel() > 0).astype(int), minlength=4)",
    # ufuncs' methods and pairs of results
    "np.multiply.outer({0}[:3], {1}[:4])", "np.logical_and.reduce(({0} > 0, {1} > 0))",
    "np.maximum.reduce([{0}, {1}])", "np.modf({0})[0]", "np.frexp({0})[1]", "np.ldexp({0}, 2)",
    "np.divmod({0}, {1})[0]", "divmod({0}, 3)[0]", "np.heaviside({0}, 1)", "np.packbits({0} > 0)",
    "np.divide({0}, {1}, out=np.zeros({0}.shape), where={1} != 0)", "np.subtract({0}, {1}, dtype='f8')",
    # layouts and bytes
    "np.array({0}, order='F')", "np.asfortranarray({0})", "np.ascontiguousarray({0}.T)",
    "{0}.copy(order='F')", "{0}.reshape(-1, order='F')", "{0}.flatten('F')", "{0}.view('u1')",
    "{0}.view('i8')", "np.array({0}, copy=True, ndmin=3)", "{0}.T.copy('K')", "{0}.astype('f4', order='F')",
    "np.frombuffer({0}.tobytes(), {0}.dtype)", "{0}.T.reshape(-1)", "({0}.T + 1).ravel('K')",
    # what draws and makes
    "np.random.default_rng(7).integers(0, 9, {0}.shape)", "np.random.RandomState(3).randn({0}.size)",
    "np.random.default_rng(3).permutation({0})", "np.random.default_rng(1).choice({0}.ravel(), 5)",
    "np.mgrid[:4, :{0}.shape[0]][1]", "np.indices({0}.shape)[0]", "np.fromfunction(lambda *i: sum(i), {0}.shape)",
    "np.eye({0}.shape[-1] % 30)[:3]", "np.full_like({0}, 3, dtype='f8')", "np.arange({0}.size)[::-1] / 7",
)  # fmt: skip
WRITES = (
    "{0}[[0, 1], [1, 0]] = {n}", "{0}[np.arange({0}.shape[0]), 0] += {n}", "{0}[[0, 1]] = {0}[[1, 0]]",
    "{0}[np.ix_([0, 1], [0, 1])] *= {n}", "{0}[:, [0, 1]] = {0}[:, [1, 0]]", "{0}.flat = {n}",
    "{0}[{0}[:, 0] > 0] = {n}", "{0}[:, {0}[0] > 0] += {n}", "{0}[{0}[:, 0] > 0, 1] = {n}",
    "for row in {0}[:5]: row *= {n}", "for row, other in zip({0}[:4], {1}[:4]): row[...] = other",
    "for i in range(min(len({0}), 5)): {0}[i] = {1}[i] + i", "for i in range(3): {0}[i, i] = {n}",
    "for i in range(1, 4): {0}[i] += {0}[i - 1]", "{0}.flat[::3] = {n}", "np.place({0}, {m}, [1, 2])",
    "np.add.at({0}, np.nonzero({0} > 0), {n})", "np.subtract.at({0}, {0}.argmax(), 1)",
    "for x in np.nditer({0}[:5], op_flags=['readwrite']): x[...] = x * 2", "{0}.sort(axis=0)",
    "np.matmul({0}, {1}, out={2})", "np.dot({0}, {1}, out={2})", "np.cumsum({0}, axis=0, out={0})",
    "np.take({0}, [1, 0], axis=0, out={0}[:2])", "{0}[:] = [x for x in {0}]", "{0}[:2] = [{n}, {n}]",
    "{0} = {0}[{0} != {0}.max()]", "{0} = np.delete({0}, 0, 0)", "np.random.default_rng(3).shuffle({0})",
    "np.random.RandomState(3).shuffle({0})", "{0} = {0}.copy(); {0}.shape = (-1,)", "{0}.imag[...] = {n}",
    "np.nan_to_num({0}, copy=False)", "np.power(abs({0}), 2, out={0})", "np.add({0}, {n}, {0})",
    "np.add({0}, 1, out=({0},))", "np.add.reduce({0}, axis=0, out={1}[0])", "{0}.sum(axis=0, out={1}[0])",
    "{0}.max(axis=0, out={0}[0])", "np.logical_not({0}, out={0})", "{0}[{0}.argmax()] = {n}",
    "{0}[np.unravel_index({0}.argmin(), {0}.shape)] = {n}", "{0}[[1, 0]], {1}[:2] = {1}[:2], {0}[[1, 0]]",
    "{0}[{m}], {1}[{m}] = {1}[{m}], {0}[{m}]", "{0}[...] = {0}.T", "{0}[:, ::-1] = {0}", "{0} @= {1}",
    "{0}[0], {0}[1] = {0}[1].copy(), {0}[0].copy()", "{0}[1:][::2] = {0}[:-1][::2]", "{0} -= {0}.mean(axis=0)",
    "{0} /= {0}.sum(axis=-1, keepdims=True) + 1", "{0}[{0}.argsort(axis=None)[:3]] = {n}",
    "{0}[tuple(np.argwhere({0} > 0)[:3].T)] = {n}", "{0}.put([0, -1], {n})", "np.copyto({0}, {n})",
    "{0}[1:][{0}[1:] > 0] = {0}[:-1][{0}[1:] > 0]", "{0}[1:][{0}[:-1] > 0] = {n}", "{0}[:, {0}[0] > 0] = {0}[:, {0}[0] > 0]",
    "{0}[1:][{0}[1:] > 1] = {0}[1:][{0}[1:] > 1] * {n}", "{0}[0][{1}[0] > 0] = {0}[-1][{1}[0] > 0]", "{0}[0, {1}[0] > 0] = {n}",
    "{0}[0:0] = {n}", "del {0}; {0} = {1} + {n}", "{0}[np.random.default_rng(2).integers(0, 3, 5)] += {n}",
)  # fmt: skip
