# ruff: noqa: E501
"""Statements of time-step loops, as templates for `random_steps.py`: {f}, {g}, {h} are fields of one
shape, {a}, {b} fields or parts of others that have it, {w} and {r} neighbouring parts of fields, {e}
an expression of fields and {d} one of such parts, {m} a mask, {n} a number, {k} a small number of turns.
"""

from __future__ import annotations

EXPRESSIONS = (
    "({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} * {n})", "({0} + {n})", "({n} - {0})",
    "(0.25 * ({0} + {1} - 2 * {2}))", "({0} * {1} - {2})", "({0} / (1 + {1} * {1}))", "(-{0})",
    "abs({0})", "np.sqrt(abs({0}))", "np.maximum({0}, {1})", "np.minimum({0}, {n})", "({0} ** 2)",
    "np.where({0} > {1}, {0}, {1})", "np.where({0} > {n}, {1}, {2})", "np.clip({0}, -2, 2)",
    "np.floor({0} * 4)", "(({0} > {1}) * {2})", "({0} % 3)", "({0} // 1)", "np.square({0})", "np.sign({0})",
    "({0} - {0}.max())", "({0} + {1}.min() * 0.5)", "np.add({0}, {1})", "np.multiply({0}, t * 0.01)",
    "({0} + c)", "({0} * dt)", "({0} - {1}.ravel()[t % 7])", "({0} > {1}).astype({0}.dtype)", "{0}.copy()",
)  # fmt: skip
"""Of operands of one shape."""
WHOLE = (
    "np.roll({0}, 1, axis=0)", "np.roll({0}, -1, axis=-1)", "np.roll({0}, t % 3, axis=0)", "np.roll({0}, 1)",
    "{0}[::-1]", "{0}[..., ::-1]", "np.cumsum({0} > 0, axis=-1)", "np.sort({0}, axis=-1)", "np.flip({0})",
    "{0}[np.arange({0}.shape[0])[::-1]]", "np.take({0}, np.arange({0}.shape[0]) ^ 1, axis=0, mode='clip')",
    "np.concatenate(({0}[1:], {0}[:1]))", "np.pad({0}[1:], ((1, 0),) + ((0, 0),) * ({0}.ndim - 1))",
    "{0}.max(axis=0)", "{0}.max(axis=-1, keepdims=True)", "{0}[0]", "{0}[..., :1]", "np.fft.fft({0}).real",
    "np.roll(np.roll({0}, 1, 0), -1, -1)", "{0}.T.copy().T", "{0}.reshape(-1)[::-1].reshape({0}.shape)",
    "({0} > 0).sum()", "np.argmax({0})", "np.diff({0}, axis=0, append={0}[:1])", "np.nan_to_num({0})",
    "np.gradient({0}, axis=0)", "np.convolve({0}.ravel(), [1, -2, 1], 'same').reshape({0}.shape)",
    "rng.standard_normal({0}.shape)", "rng.random({0}.shape)", "rng.integers(0, 5, {0}.shape)", "np.random.rand(*{0}.shape)",
    "np.random.randn({0}.shape[-1])", "rng.normal(0, 1, {0}.shape[-1])", "np.zeros_like({0})", "np.ones({0}.shape)", "np.full({0}.shape, t)",
    "s.max(axis=0)", "s[t % len(s)]", "(s * w9).max(0)", "np.stack(l).max(0)", "step({0}, {1})", "o.get({n})", "max(l, key=lambda x: float(x.max()))",
    "(a9 @ a9)[0, 0]", "np.array(l)[t % len(l)]", "[x * 2 for x in l][0]", "sum(l)", "sum([q * x for q, x in zip((1, 2), l)])",
    "np.asarray({0}, dtype='f4')", "{0}.astype('f4')", "np.einsum('q,q...->...', i9, s.astype('i8'))", "np.mod({0}, 2)",
    "np.meshgrid({0}.ravel()[:{0}.shape[-1]], {0}.ravel()[:1])[0]", "np.linspace(0, 1, {0}.shape[-1])", "np.arange({0}.size).reshape({0}.shape) % 7",
)  # fmt: skip
"""Of whole fields; some broadcast to them."""
ROUNDED = (
    "np.exp(-abs({0}))", "np.sin({0})", "np.tanh({0})", "({0} - {1}.mean())", "({0} / ({1}.sum() + 1))", "({0} / {1}.std())", "np.cos({0} + {1})",
    "({0} - {0}.mean(axis=-1, keepdims=True))", "(abs({0}) ** 1.5)", "({0} ** 3)", "np.arctan2({0}, {1})", "np.log1p(abs({0}))", "np.hypot({0}, {1})",
    "({0} * np.sum({1} * {2}))", "({0} + np.cumsum({1}, axis=-1))", "({0} - {1}.sum(axis=0))", "({0} / np.linalg.norm({1}))", "(1 / (1 + np.exp(-{0})))", "np.where({0} > {1}.mean(), {0}, {1})",
    "({0} * {1}.var())", "np.mean([{0}, {1}], axis=0)", "np.average({0})", "({0} + {1}.ravel() @ {2}.ravel())", "np.interp({0}, [-1, 0, 1], [0, 1, 0])", "np.sqrt({0} ** 2 + {1} ** 2)", "s.sum(axis=0)", "sum(l)", "np.tensordot(w9.ravel(), s, 1)",
    "np.einsum('...,...->', {0}, {1})", "np.power(abs({0}), {1})", "({0} ** 0.5)", "np.exp(1j * {0}).real", "np.fft.ifft(np.fft.fft({0}) * 0.5).real", "np.prod({0}.ravel()[:5])", "np.trapezoid({0}, axis=-1).max()",
)  # fmt: skip
"""What ours round otherwise than NumPy: the same with and without fusion."""
MASKS = (
    "{a} > {n}", "{a} < {b}", "({a} > -1) & ({b} < 1)", "m0", "~m0", "{a} != 0", "np.abs({a}) >= 0.5", "i0 == t % 3",
    "m0 | ({a} > 1)", "np.isfinite({a})", "i0 % 2 == 0", "np.logical_and(m0, {a} > 0)", "rng.random({a}.shape) < 0.2",
)  # fmt: skip
STATEMENTS = (
    # names
    "{f} = {e}", "{f} = {e}", "{f} = {e}", "{f} = {f} + {n} * {e}", "{f}, {g} = {g}, {f}", "{f}, {g} = {g}, {e}",
    "{f}, {g}, {h} = {g}, {h}, {e}", "{f} = {f}.copy()", "{f} = {a}", "{f} = {a}.copy()", "{f} = 1 * {a}",
    "{f} = copy.deepcopy({g})", "{f} = pickle.loads(pickle.dumps({g}))", "{f} = np.array({g})", "{f} = np.asarray({g})",
    # in place
    "{f} += {e}", "{f} -= {n} * {e}", "{f} *= {n}", "{f} *= 0.5", "{f}[...] = {e}", "{f}[:] = {g}", "{f}[:], {g}[:] = {g}, {f}.copy()",
    "np.add({a}, {b}, out={f})", "np.multiply({f}, {n}, out={f})", "np.subtract({f}, {a}, {f})", "np.copyto({f}, {e})",
    "np.multiply({f}, {n}, out={f}, where={m})", "np.add({a}, {e}, out={f}, where={m})", "np.clip({f}, -3, 3, out={f})",
    "{f}.fill({n})", "{f}[:] = 0", "np.copyto({f}, {g}, where={m})", "np.roll({f}, 1, 0)[...] = 0", "np.sqrt(abs({a}), out={f})",
    # parts
    "{w} = {d}", "{w} = {d}", "{w} = {d}", "{w} += {d}", "{w} -= {n} * {d}", "{w} = {n}", "{w} *= {n}", "{w} = {r}", "{w} = {r}",
    "{w} = {d}\n{w} = {r}", "{w} = {r}\n{w} -= {d}", "np.add({r}, {d}, out={w})", "np.multiply({w}, {n}, out={w})", "{w}, {r} = {r}, {w}",
    "{w}[...] = {d}", "x = {w}\nx += {n}", "x = {w}\nx[...] = {d}", "x = {r}\ny = {w}\ny += x", "x = {r}.copy()\n{w} = x", "x = {w}\ndel x",
    # edges
    "{f}[0] = {f}[-2]\n{f}[-1] = {f}[1]", "{f}[..., 0] = {f}[..., 1]\n{f}[..., -1] = {f}[..., -2]", "{f}[0] = {f}[-1] = {n}",
    "{f}[[0, -1]] = {n}", "{f}[..., [0, -1]] = 0", "{f}[0], {f}[-1] = {f}[-1], {f}[0]", "{f}[0] = {g}[0]\n{f}[..., 0] = {g}[..., 0]",
    "{f}[t % len({f})] = {n}", "{f}[t % len({f})] += {g}[-1 - t % len({g})]", "{f}[..., t % 3] = {a}[..., 0]", "{f}.flat[t] = {n}",
    "{f}[:1 + t % 4] = 0", "{f}[t % 2::2] = {g}[t % 2::2]", "{f}[t % 2::2] += {n}", "{f}.T[...] = {g}.T", "{f}.ravel()[::3] = {n}", "{f}.reshape(-1)[5:9] += {n}",
    # masks
    "{f}[{m}] = {n}", "{f}[{m}] *= -1", "{f}[{m}] += {e}[{m}]" , "mm = {m}\n{f}[mm] = {g}[mm]", "mm = {m}\n{f}[mm] += {n}\n{g}[~mm] = {n}",
    "{f} = np.where({m}, {e}, {f})", "m0 = {m}", "m0 &= {m}", "m0[:1] = True", "mm = {m}\nmm[0] = False\n{f}[mm] -= {n}", "{f}[{f} > 1] = {f}[{f} > 1] * 0.5",
    "log.append({f}[{m}])", "np.putmask({f}, {m}, {n})", "{f}[np.nonzero({m})] = {n}", "{f}[1:][{f}[1:] > 1] = {n}", "i0[{m}] += 1", "i0 = i0 + ({a} > {n})",
    "i0 += 1", "i0 ^= 3", "i0 = np.where({m}, i0 * 3 + 1, i0 // 2)", "i0[...] = {a}", "np.add.at(i0, [0, 1, 1], 1)", "i0 = np.roll(i0, 1, 0)", "i0 -= i0 // 3",
    # columns of particles
    "p[:, 0] += p[:, 1] * dt", "p[:, :2] += p[:, 1:3] * dt", "p[:, 1][p[:, 0] > 1] *= -1", "p[p[:, 0] > 1, 0] -= 2", "p[:, 0] = v0", "v0 = p[:, 0] * 2",
    "v0 = p[:, 0]", "v0, v1 = p[:, 0], p[:, 1]", "v0 += v1 * dt", "p += v0[:, None] * dt", "p = p - p.max(axis=0) * 0.01", "p[:, 2] = v1 * v0", "p *= 0.5",
    "p[ix] = p[ix[::-1]]", "p[ix, 0] = {n}", "p[ix] += 0.5", "v0[ix] = v1[ix]", "np.add.at(v0, ix, {n})", "p = p[np.argsort(p[:, 0], kind='stable')]", "v1[:] = v0[::-1]",
    "p[:, 0], p[:, 1] = p[:, 1], p[:, 0].copy()", "p[:, [0, 1]] = p[:, [1, 0]]", "for j in range(p.shape[1]): p[:, j] += v0 * j", "p[t % 5] = p[-1]", "p = np.column_stack((v0, v1, p[:, 0]))",
    "q = p[:20, None] - p[None, :20]\nlog.append(abs(q).max())", "x, y, z = p.T\nv0 = x * y - z", "x, y, z = p.T\nx += y", "for row in p[:3]: row *= 0.5", "v0 = np.sqrt(p[:, 0] ** 2 + p[:, 1] ** 2)",
    "p = np.where(p > 2, p - 4, p)", "p[:, 1] -= 0.1\np[:, 0] += p[:, 1]\nhit = p[:, 0] < 0\np[hit, 0] *= -1\np[hit, 1] *= -0.5", "v0 = np.linspace(0, 1, len(v0)) * t", "v1 = v1[ix[0] * 0:]", "p = p[::-1]",
    "v0 = np.concatenate((v0[1:], v0[:1]))", "v0 = np.interp(v0, [-1, 0, 1], [0, 1, 0])", "p = np.vstack((p[1:], v0[None, :3]))", "p[:, 0] = np.roll(p[:, 0], 1)", "v1 = (p > 0).sum(axis=1) * 1.0",
    # stacks and lists
    "s[t % len(s)] = {e}", "s[0] = {a}", "s[:-1] = s[1:]", "s[1:] = s[:-1]", "for q in range(len(s)): s[q] = np.roll(s[q], q - 1, axis=0)", "for q in range(len(s)): s[q] += {a} * i9[q % 3]",
    "s = s - 0.5 * (s - {a})", "s = np.array([x * 0.5 for x in s])", "s = np.stack([np.roll(x, 1, -1) for x in s])", "s[[0, 1]] = s[[1, 0]]", "s[1], s[0] = s[0].copy(), s[1].copy()", "s *= 0.5",
    "s[:, 0] = {n}", "s[..., -1] = s[..., -2]", "s[:, m0] = {n}", "s[:, m0] = s[::-1][:, m0]", "s[0][m0] = s[1][m0]", "s += {a}", "s = s[::-1]", "s = np.roll(s, 1, axis=0)", "{f} = s[0] + s[1]", "{f} = s[0]", "s[0] += s[-1]",
    "l = [np.roll(x, 1, 0) for x in l]", "l = [x + {a} for x in l]", "l[0] = {e}", "l[0], l[1] = l[1], l[0]", "l = l[::-1]", "l[t % len(l)] = {a}", "for x in l: x *= 0.5", "for q, x in enumerate(l): x[q] = {n}", "l = list(s[:2])",
    "l.append({a})\nl = l[-2:]", "l.insert(0, {f})\nl.pop()", "l = [x - l[q - 1] for q, x in enumerate(l)]", "{f} = l[0] - l[1]", "l = [np.where(m0, x, y) for x, y in zip(l, l[::-1])]", "l[0] += l[1]", "for x, y in zip(l, s): x[1:] = y[:-1]",
    # inner loops
    "for q in range({k}): {w} = {d}", "for q in range({k}): {f} = {f} * 0.5 + {a}", "for q in range({k}): {f}[q] = {g}[-q]", "for q in range({k}):\n    {w} = {d}\n    {f}[0] = {n}", "for q in range({k}): {f}, {g} = {g}, {f} - {g}",
    "for q in range({k}): {f} += np.roll({g}, q, axis=-1)", "for q in range(t % 4): {f} -= {n} * {a}", "for axis in range({f}.ndim): {f} = np.roll({f}, 1, axis)", "for q in (1, 2):\n    for u in (0, -1): {f}[u] = {g}[q]",
    "q = 0\nwhile {f}.max() > 1 and q < {k}:\n    {f} *= 0.5\n    q += 1", "for q in range({k}):\n    if q == t % 3: continue\n    {f} += {a} * q", "for q in range({k}):\n    {f} = {f} - 0.25 * {a}\n    if {f}.min() < -4: break",
    "old = {f}.copy()\nfor q in range({k}):\n    {w} = {d}\nlog.append(abs({f} - old).max())",
    # what is asked for
    "if t % 7 == 0: log.append({f}.copy())", "log.append({f}.max())", "if t % 5 == 0: log.append({f})", "if t % 11 == 3: log.append({f}[1:3])", "c = float({f}.max()) * 0.01", "if {f}.max() > 2: {f} *= 0.5", "log.append(float({f}.ravel()[3]))",
    "if t % 10 == 0: log.append(str({f}.ravel()[:3]))", "if {f}.any() and not {g}.all(): {f} += {n}", "c = {f}.max() * 0.01", "if t == 20: log.append({f} + {g})", "log.append(({f} > 0).sum())", "if (abs({f}) > 3).any(): {f} = np.clip({f}, -3, 3)",
    "log.append(f'{{{f}.ravel()[0]:.3g}}')", "log.append({f}.tobytes()[:16])", "if t % 6 == 5: {f} = {f}.astype('f4')", "log.append(int({f}.argmax()))", "log = log[-40:]", "log.append({f}.shape)", "if t % 9 == 4: {f} = {f}[::-1]", "log.append({f}.dtype.str)",
    "if t % 8 == 0: held = {f}", "if t % 8 == 3: held = {f}[1:]", "log.append(held.ravel()[0])", "held = {w}", "held += 0.5", "held[...] = 0", "held *= 0.5", "del held\nheld = {g}.copy()", "log.append(np.shares_memory({f}, {g}))", "log.append([float(x) for x in {f}.ravel()[:2]])",
    "log.append({f}.ravel()[:3].tolist())", "if t % 13 == 1: log.append(s.copy())", "if t % 13 == 1: log.append(p[:, 0])", "log.append(len(np.unique({f})))", "dt = 0.05 / (1 + abs({f}).max())", "dt = 0.1 if t % 2 else 0.05", "log.append(np.median({f}))", "log.append({f}.std() > 1)", "log.append(bool(np.isnan({f}).any()))",
    "if t % 4 == 0: np.random.seed(t)", "if t % 25 == 24: {f} = np.asarray({f}.tolist())", "memoryview({f})", "with np.errstate(all='ignore'): {f} = {f} / {f}.max()", "np.save(io.BytesIO(), {f})",
    # functions and objects
    "{f} = step({f}, {g})", "change({f})", "o.x = step(o.x, {a})", "o.turn()", "o.turn({f})", "change({w})", "change(s[0])", "change(l[0])", "{f} = o.get({n})", "o.x, o.y = o.y, o.x", "o.y[...] = o.x", "o.kept.append(o.x)\no.kept = o.kept[-3:]", "o.y = o.kept[0] if o.kept else o.y",
    "{f} = (lambda u: u - {a} * 0.5)({f})", "{f}, {g} = pair({f}, {g})", "u = pair({f}, {g})\n{f}[...] = u[1]", "d = dict(x={f}, y={g})\nd['x'] += d['y']", "for u in made({f}, {k}): {g} = u", "{f} = list(made({f}, {k}))[-1]", "for u in made({f}, 3): u[0] = {n}",
    # sizes that change
    "v0 = v0[v0 > -2]\nv1 = v1[:len(v0)]", "p = p[p[:, 0] < 1.5]", "p = np.vstack((p, rng.random((9, 3))))", "p = np.concatenate((p[1:], p[:1] * 2, p[:3]))", "v0 = np.append(v0, t)", "v1 = np.r_[v1, v1[:3]]", "v0 = v0[:-7]",
    "v0 = np.concatenate((v0, v1))[:700]", "p = p[:500 + 10 * (t % 5)]", "v0 = rng.random(480 + 8 * (t % 9))\nv1 = v0 * 2", "v0, v1 = v0[:len(v1)], v1[:len(v0)]", "log.append({f}[: t % len({f})])", "v0 = {f}.ravel()[: 400 + t * 3]", "v1 = v0[t % 2::2]",
    "v0 = np.delete(v0, [0, 3])", "v1 = np.insert(v1, 2, c)", "v0 = np.resize(v0, 500 + t)", "log.append(v0[v0 > v0.max() * 0.5])", "v0 = np.unique(v0)", "v0[:40] = {n}", "v1[-40:] += v1[:40]", "log.append(v0.size)", "v0 = v0 + v1[:len(v0)]", "v0 = np.tile(v0, 2)[:900]",
    # other people's windows
    "buf = memoryview({f}.reshape(-1)[:4])\nlog.append(bytes(buf))", "real = {f}.view(np.ndarray)\nreal[0] = {n}", "{f}.data", "held = np.frombuffer({f}.tobytes(), {f}.dtype).copy()", "np.frombuffer({f}.data, {f}.dtype)[:3] = {n}", "{f}.setflags(write=False)\n{f} = {f} * {n}",
    "raw = np.lib.stride_tricks.as_strided({f}.ravel(), (5, 3), ({f}.itemsize, {f}.itemsize))\nlog.append(raw.max())", "win = np.lib.stride_tricks.sliding_window_view({f}, 3, axis=0)\nlog.append(win[1].max())", "{f}[1:-1] = np.lib.stride_tricks.sliding_window_view({f}, 3, axis=0).max(-1)", "for x in np.nditer({f}[:2], op_flags=['readwrite']): x[...] = x * 0.5",
    "{f} = np.asfortranarray({f})", "{f} = np.ascontiguousarray({f})", "{f} = {f}.copy(order='F')", "{f} = np.ravel({f}, order='F').reshape({f}.shape)", "{f} = np.broadcast_to({f}[0], {f}.shape)", "{f} = np.broadcast_to({f}[0], {f}.shape).copy()", "x = np.empty_like({f})\nx[...] = {n}\n{f} = x", "x = np.empty({f}.shape)\nx[:] = {a}\n{f} = x",
    # errors
    "try:\n    {f}[:-1] += {g}\nexcept ValueError: log.append('ValueError')", "try:\n    {f} += 1\n    if t % 5 == 2: raise KeyError\n    {f} *= 0.5\nexcept KeyError: {f} -= {a}", "try:\n    {f} += {e}\nfinally:\n    {g} -= 0.5", "if t % 17 == 16: continue",
    "try: {f}[len({f})] = 1\nexcept IndexError: {f}[0] = {n}", "try: i0 += 0.5\nexcept TypeError: i0 += 1",
)  # fmt: skip
CUTS = {
    1: (
        ("[1:-1]", "[:-2]", "[2:]"), ("[1:]", "[:-1]"), ("[::2]", "[1::2]"), ("[::-1]", ""), ("[:5]", "[-5:]", "[t % 9:][:5]"),
        ("[0]", "[-1]", "[1]", "[t % 7]"), ("[2:-2]", "[4:]", "[:-4]", "[1:-3]", "[3:-1]"), ("[:5]", "[4::-1]", "[5:0:-1]", "[[0, 2, 1, 4, 3]]"),
        ("[1:-1][1:-1]", "[2:-2]", "[:-4]"), ("[None]", "[None, ::-1]"), ("[:0]", "[3:3]"),
    ),
    2: (
        ("[1:-1, 1:-1]", "[:-2, 1:-1]", "[2:, 1:-1]", "[1:-1, :-2]", "[1:-1, 2:]"), ("[1:-1, 1:-1]", "[:-2, :-2]", "[2:, 2:]", "[1:-1, 1:-1]"),
        ("[1:]", "[:-1]"), ("[:, 1:]", "[:, :-1]"), ("[::2]", "[1::2]"), ("[::2, ::2]", "[1::2, 1::2]", "[1::2, ::2]"), ("[::-1]", "", "[:, ::-1]", "[::-1, ::-1]"),
        ("[0]", "[-1]", "[1]", "[-2]", "[t % 5]"), ("[:, 0]", "[:, -1]", "[:, 1]", "[:, t % 5]"), ("[1:-1, 0]", "[1:-1, -1]", "[:-2, 1]", "[2:, 0]"), ("[0, 1:-1]", "[0, 2:]", "[1, 1:-1]", "[-1, :-2]"),
        ("[:5, :5]", "[-5:, -5:]", "[t % 9:, t % 4:][:5, :5]"), ("[0, 0]", "[-1, -1]", "[1, t % 3]"), ("[3:9, 4:-2]", "[4:10, 3:-3]", "[2:8, 2:-4]"), ("[1:-1]", "[2:]", "[:-2]"), ("[:, 1:-1]", "[:, 2:]", "[:, :-2]"),
        ("[1:-1][:, 1:-1]", "[1:-1, 1:-1]", "[:-2, 1:-1]"), ("[..., 1:]", "[..., :-1]"), (".T", ".T[::-1]"), ("[:5]", "[4::-1]", "[[0, 1, 2, 4, 3]]"), (".reshape(-1)[1:]", ".ravel()[:-1]"), ("[:0]", "[:0]"),
    ),
    3: (
        ("[1:-1, 1:-1, 1:-1]", "[:-2, 1:-1, 1:-1]", "[2:, 1:-1, 1:-1]", "[1:-1, :-2, 1:-1]", "[1:-1, 1:-1, 2:]"), ("[0]", "[-1]", "[1]", "[t % 5]"), ("[1:]", "[:-1]"), ("[..., 0]", "[..., 1]", "[..., -1]"),
        ("[:, 0]", "[:, -1]", "[:, 1]"), ("[..., 1:]", "[..., :-1]"), ("[:, 1:-1]", "[:, 2:]", "[:, :-2]"), ("[::2]", "[1::2]"), ("[0, 1:]", "[1, :-1]"), ("[:, 0, 0]", "[:, 1, -1]"), ("[::-1]", "", "[:, ::-1]"), ("[0, :, 1:-1]", "[-1, :, 2:]"),
    ),
}  # fmt: skip
"""Parts of fields that have one shape, by the dims of the fields."""
DTYPES = ("f8",) * 12 + ("f4",) * 5 + ("f2", "c16", "i4", "u1", "i8", "c8", "?", ">f8")
"""Of the fields."""
NUMBERS = (
    "0.5",
    "0.25",
    "1",
    "-1",
    "2",
    "0",
    "0.125",
    "dt",
    "c",
    "t",
    "t * 0.01",
    "(t % 3 - 1)",
    "np.float64(0.5)",
    "np.float32(0.25)",
    "i9[t % 3]",
    "w9[t % 3]",
    "1e-3",
)
SHAPES = (
    ((513,), (600,), (1000,), (2048,), (5000,), (8192,), (16385,), (40001,), (100,), (131072,)),
    ((40, 50), (20, 26), (64, 64), (100, 90), (128, 128), (23, 23), (30, 300), (600, 10), (10, 12), (200, 200), (364, 362)),
    ((8, 10, 12), (10, 20, 30), (6, 50, 40)),
)  # fmt: skip
SETUP = (
    "v0, v1 = rng.standard_normal((2, {n}))", "p = rng.standard_normal(({n}, 3))", "s = rng.standard_normal(({q}, *f0.shape))",
    "l = [f0 * 2, f1 - 1]", "o = Thing(f0 + 1, f1 * 2)", "i0 = rng.integers(-9, 10, f0.shape)", "m0 = f0 > f1",
    "i9 = np.array([1, -1, 2])", "w9 = np.array([0.5, 0.25, -0.5])[:, None, None][:{q}]", "a9 = np.arange(9.0).reshape(3, 3) / 8",
    "ix = rng.permutation({n})[:{x}]", "held = f0[1:]",
)  # fmt: skip
SHARED = (
    "held = {w}", "held = {f}.T", "held = s[0]",
    "f2 = {f}[::-1]", "l = list(s[:2])", "f2 = s[1]", "o.x = f0", "f1 = f0", "held = p[:, 1]", "v0 = p[:, 0]", "o.y = s[0]",
)  # fmt: skip
"""What arrays may share from the beginning."""
HEADER = '''
import copy
import io
import pickle


class Thing:
    def __init__(self, x, y):
        self.x, self.y, self.kept = x, y, []

    def turn(self, other=None):
        self.x[1:] += self.y[:-1] if other is None else other[:-1]
        self.x *= 0.5
        self.y = self.y + self.x

    def get(self, number):
        return self.x * number - self.y


def told_error(error):
    """The class that a program may catch."""
    return next(each.__name__ for each in type(error).__mro__ if each.__module__ == "builtins")


def step(u, v):
    w = u.copy()
    w[1:-1] = 0.5 * (u[2:] + v[:-2]) - u[1:-1]
    return np.clip(w, -4, 4)


def change(u):
    u *= 0.5
    u[0] = 1


def pair(u, v):
    return u + v, (u - v) * 0.5


def made(u, turns):
    for _ in range(turns):
        u = u * 0.5 + 1
        yield u

'''
