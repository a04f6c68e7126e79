"""What a compiled model does beside computing: writes into its inputs, results that share memory,
grad modes, threads, copies, seeds, memory, options, refusals.
"""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import fusewright
from fusewright.base.errors import StrictError

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    torch.manual_seed(3)
    yield
    torch._dynamo.reset()


def compiled(function: Any, **options: Any) -> Any:
    return torch.compile(function, backend="fusewright", **options)


def both(function: Callable[..., Any], *given: Any) -> tuple[Any, Any, list[Any], list[Any]]:
    """Results of eager and ours, and what became of their inputs."""
    one, other = [x.clone() for x in given], [x.clone() for x in given]
    return function(*one), compiled(function)(*other), one, other


def near(got: Any, want: Any) -> None:
    torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)


def chain(x: Any) -> Any:
    """Two operations that become a segment."""
    return torch.tanh(x * 2) + 1


def test_an_input_that_is_written() -> None:
    def write(x: Any, y: Any) -> Any:
        x.mul_(2).add_(y)
        y[1:3] = x[1:3] * 0.5 + 1
        return (x * y).relu() + 1

    want, got, eager, ours = both(write, torch.randn(5, 4), torch.randn(5, 4))
    near(got, want)
    near(ours, eager)


def test_an_input_that_is_read_and_then_written() -> None:
    def write(x: Any) -> Any:
        y = x * 3 + 1
        x.zero_()
        return y, x + y

    want, got, eager, ours = both(write, torch.randn(7))
    near(got, want)
    near(ours, eager)


def test_batch_norm_keeps_its_statistics() -> None:
    norm = torch.nn.BatchNorm1d(5)
    twin = copy.deepcopy(norm)
    run = compiled(lambda x: (twin(x) * 2).relu())
    for _ in range(3):
        x = torch.randn(9, 5)
        near(run(x), (norm(x) * 2).relu())
    near(twin.running_mean, norm.running_mean)
    near(twin.running_var, norm.running_var)
    assert int(twin.num_batches_tracked) == 3


def test_results_that_are_views_of_one_another() -> None:
    def views(x: Any) -> Any:
        y = x * 2 + 1
        return y, y.t(), y[1:], x.t(), x

    x = torch.randn(3, 4)
    y, turned, part, outside, itself = compiled(views)(x)
    near((y, turned, part), (x * 2 + 1, (x * 2 + 1).t(), (x * 2 + 1)[1:]))
    assert itself is x and outside.data_ptr() == x.data_ptr()
    y.zero_()  # eager's results share memory, and so do ours
    assert not turned.any() and not part.any()
    outside.fill_(5)
    assert (x == 5).all()


def test_copies_are_apart() -> None:
    def copies(x: Any) -> Any:
        y = x * 2 + 1
        return y, y.clone(), x.clone(), y.reshape(-1).clone()

    x = torch.randn(3, 4)
    y, same, other, flat = compiled(copies)(x)
    y.zero_()
    near((same, other, flat), (x * 2 + 1, x, (x * 2 + 1).reshape(-1)))
    same.zero_()
    near((other, flat), (x, (x * 2 + 1).reshape(-1)))


def test_a_size_that_a_view_reads_from_what_is_ours() -> None:
    """The view needs a size that torch reads from the segment's own result."""

    def run(x: Any) -> Any:
        part = (x * 2 + 1)[..., ::2]
        return part.unsqueeze(-1).expand(*part.shape, 2).flatten(-2).tanh() * 3

    for shape in ((3, 8), (2, 5), (4, 6)):
        x = torch.randn(shape)
        near(compiled(run, dynamic=True)(x), run(x))


def test_one_tensor_given_twice_and_overlapping_ones() -> None:
    def use(a: Any, b: Any) -> Any:
        return (a * b + 1).tanh() - b

    x = torch.randn(40)
    run = compiled(use)
    for a, b in ((x, x), (x[:20], x[10:30]), (x[::2], x[1::2]), (x.expand(3, 40), x)):
        near(run(a, b), use(a, b))


def test_shared_weights() -> None:
    class Tied(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.up = torch.nn.Linear(6, 6)
            self.down = torch.nn.Linear(6, 6)
            self.down.weight = self.up.weight

        def forward(self, x: Any) -> Any:
            return torch.tanh(self.down(torch.tanh(self.up(x)) * 2)) + 1

    model = Tied()
    twin = copy.deepcopy(model)
    x = torch.randn(3, 6)
    model(x).sum().backward()
    compiled(twin)(x).sum().backward()
    near(twin.up.weight.grad, model.up.weight.grad)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_grad_modes(mode: Any) -> None:
    x = torch.randn(5, requires_grad=True)
    with mode():
        got, want = compiled(chain)(x), chain(x)
    near(got, want)
    assert got.requires_grad == want.requires_grad
    assert got.is_inference() == want.is_inference()


def test_autocast_leaves_what_is_not_ours_to_torch() -> None:
    line = torch.nn.Linear(8, 8)

    def run(x: Any) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            return torch.tanh(line(x)) * 2 + 1

    x = torch.randn(4, 8)
    got, want = compiled(run)(x), run(x)
    assert got.dtype == want.dtype == torch.bfloat16
    assert torch.equal(got, want)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_types_that_are_not_ours_are_torchs(dtype: Any) -> None:
    from fusewright.bridges.torch.report import graphs

    x = torch.randn(9, 5).to(dtype)
    assert torch.equal(compiled(chain)(x), chain(x))
    assert graphs[-1].ours == 0 and all(str(dtype) in why for _, why, _ in graphs[-1].theirs)


def test_seeds_mean_what_they_mean() -> None:
    def noisy(x: Any) -> Any:
        y = torch.nn.functional.dropout(x * 2 + 1, 0.5)
        return torch.nn.functional.dropout(y.tanh() * 3, 0.25) + torch.rand_like(x)

    x = torch.randn(50)
    torch.manual_seed(11)
    want = noisy(x)
    torch.manual_seed(11)
    near(compiled(noisy)(x), want)


def test_vmap_and_grad() -> None:
    def run(x: Any) -> Any:
        return torch.func.vmap(torch.func.grad(lambda v: chain(v).sum()))(x)

    x = torch.randn(4, 5)
    near(compiled(run)(x), run(x))


def test_checkpointing() -> None:
    from torch.utils.checkpoint import checkpoint

    def run(x: Any) -> Any:
        return checkpoint(chain, x, use_reentrant=False) * 2

    a, b = (torch.arange(6.0, requires_grad=True) for _ in range(2))
    run(a).sum().backward()
    compiled(run)(b).sum().backward()
    near(b.grad, a.grad)


def test_copies_and_pickles_of_a_model() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.LayerNorm(4))
    run = compiled(model)
    x = torch.randn(2, 4)
    want = run(x)
    near(copy.deepcopy(run)(x), want)
    near(pickle.loads(pickle.dumps(model))(x), want)
    assert set(run.state_dict()) == {f"_orig_mod.{name}" for name in model.state_dict()}


def test_several_threads() -> None:
    run = compiled(chain)
    xs = [torch.randn(200, 50) for _ in range(4)]
    run(xs[0])
    found: list[Any] = [None] * 4

    def work(number: int) -> None:
        for _ in range(30):
            found[number] = run(xs[number])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    near(found, [chain(x) for x in xs])


def test_the_number_of_threads_changes_no_bit() -> None:
    x = torch.randn(2000, 300)
    run = compiled(lambda x: torch.softmax(x * 3, -1).mean(0) + 1)
    before = torch.get_num_threads()
    try:
        made = []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            made.append(run(x))
    finally:
        torch.set_num_threads(before)
    assert torch.equal(*made)


def test_memory_goes_with_the_tensor() -> None:
    run = compiled(chain)
    x = torch.randn(1 << 16)
    held = run(x)
    want = held.clone()
    gc.collect()
    places = {run(x).data_ptr() for _ in range(50)}
    assert len(places) <= 4 and held.data_ptr() not in places
    assert torch.equal(held, want)


def test_a_write_into_a_result_is_the_users() -> None:
    run = compiled(chain)
    x = torch.randn(6)
    first = run(x)
    first.zero_()
    near(run(x), chain(x))
    assert not first.any()


def test_numbers_are_parameters() -> None:
    from fusewright.runtime.listening import compilations

    run = compiled(lambda x, s: torch.tanh(x * s) + s)
    x = torch.randn(6)
    with fusewright.options(background=False):
        for s in (0.5, 1.5, 2.5):
            near(run(x, s), torch.tanh(x * s) + s)
        found: list[Any] = []
        compilations.append(found.append)
        try:
            near(run(x, 3.25), torch.tanh(x * 3.25) + 3.25)
        finally:
            compilations.remove(found.append)
    assert not found


def test_strict_refuses_with_the_models_line() -> None:
    def run(x: Any) -> Any:
        return torch.cumsum(x * 2 + 1, 0)

    with pytest.raises(Exception, match=r"cumsum is no operation of ours") as caught:
        compiled(run, options={"strict": True})(torch.randn(5))
    error: Any = caught.value
    while error is not None and not isinstance(error, StrictError):
        error = error.__cause__ or getattr(error, "inner_exception", None)
    assert "torch.cumsum(x * 2 + 1, 0)" in str(error or caught.value)


def test_strict_takes_what_is_ours() -> None:
    x = torch.randn(5)
    near(compiled(chain, options={"strict": True})(x), chain(x))


def test_options_that_are_unknown() -> None:
    with pytest.raises(Exception, match="has no options"):
        compiled(chain, options={"fast": True})(torch.randn(5))


def test_diagnostics_names_an_operation_once(capsys: Any) -> None:
    from fusewright.bridges.torch import report

    report.told.clear()
    with fusewright.options(diagnostics="text"):
        for shape in ((5,), (2, 3)):
            torch._dynamo.reset()
            compiled(lambda x: torch.cumsum(x * 2 + 1, 0))(torch.randn(shape))
    assert capsys.readouterr().err.count("torch runs cumsum") == 1


def test_explain_says_what_is_whose() -> None:
    from fusewright.bridges.torch import explain

    compiled(lambda x: torch.cumsum(x * 2 + 1, 0))(torch.randn(5))
    text = explain()
    assert "2 operations in 1 segments of ours" in text
    assert "cumsum x1: it has no row in the table" in text


def test_empty_tensors_are_torchs() -> None:
    run = compiled(chain, dynamic=True)
    for shape in ((3, 4), (0, 4), (5, 4)):
        x = torch.randn(shape)
        near(run(x), chain(x))


def test_without_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    from fusewright.bridges.torch import running

    monkeypatch.setattr(running, "native", None)
    x = torch.randn(6, 5)
    run = compiled(lambda x: torch.softmax(x * 2, -1).t() + 1)
    for _ in range(2):
        near(run(x), torch.softmax(x * 2, -1).t() + 1)
