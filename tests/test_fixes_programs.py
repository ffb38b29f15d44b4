"""Fixes on programs as people write them: what they become, what is left alone, and that the results run."""

# ruff: noqa: E501 - programs before and after stand in a line or two

from __future__ import annotations

import pytest
from examples import fixed, runner

HEAD = "import jax\nimport jax.numpy as jnp\n"

# name: (before, after); the imports above stand in front of both.
CHANGED = {
    "a global in place": (
        "buf = jnp.zeros(2)\ndef fill():\n    global buf\n    buf[1] = 3.0  # set\nfill()\n",
        "buf = jnp.zeros(2)\ndef fill():\n    global buf\n    buf = buf.at[1].set(3.0)  # set\nfill()\n",
    ),
    "a loop's rows are read after": (
        "rows = [jnp.zeros(2)]\nfor row in rows:\n    row[0] = 1.0  # one\n    print(row.sum())\n",
        "rows = [jnp.zeros(2)]\nfor i, row in enumerate(rows):\n    row = row.at[0].set(1.0)  # one\n"
        "    rows[i] = row\n    print(row.sum())\n",
    ),
    "a comment at the end of an unrolled loop": (
        "@jax.jit\ndef f(x):\n    for i in range(1, 20):\n        x = x.at[i].set(x[i - 1] * 2)  # double\n    return x\n"
        "f(jnp.ones(20))\n",
        "@jax.jit\ndef f(x):\n    def step(i, x):\n        x = x.at[i].set(x[i - 1] * 2)  # double\n        return x\n\n"
        "    x = jax.lax.fori_loop(1, 20, step, x)\n    return x\nf(jnp.ones(20))\n",
    ),
    "a name that lives in a round of the loop": (
        "@jax.jit\ndef f(x):\n    for _ in range(20):\n        t = x * 2  # twice\n        # then\n        x = x + t\n    return x\nf(1.0)\n",
        "@jax.jit\ndef f(x):\n    def step(_, x):\n        t = x * 2  # twice\n        # then\n        x = x + t\n        return x\n\n"
        "    x = jax.lax.fori_loop(0, 20, step, x)\n    return x\nf(1.0)\n",
    ),
    "several calls, defaults and a comment behind them": (
        "rate = 0.1\n@jax.jit\ndef step(\n    x,\n    y=1.0,  # offset\n):\n    return x - rate * x + y\n"
        "step(1.0)\nrate = 0.5\nstep(2.0, y=2.0,\n)\n",
        "rate = 0.1\n@jax.jit\ndef step(\n    x,\n    y=1.0, *, rate,  # offset\n):\n    return x - rate * x + y\n"
        "step(1.0, rate=rate)\nrate = 0.5\nstep(2.0, y=2.0, rate=rate,\n)\n",
    ),
    "an attribute in a method of its own": (
        "class T:\n    def __init__(self, w):\n        self.w = w\n        self.score = jax.jit(self._score)\n"
        "    def _score(self, x): return self.w * x\n    def total(self, xs): return sum(self.score(x) for x in xs)\n"
        "t = T(1.0)\nt.total([1.0])\nt.w = 5.0\nt.score(1.0)\n",
        "class T:\n    def __init__(self, w):\n        self.w = w\n        self.score = jax.jit(self._score)\n"
        "    def _score(self, x, w): return w * x\n    def total(self, xs): return sum(self.score(x, self.w) for x in xs)\n"
        "t = T(1.0)\nt.total([1.0])\nt.w = 5.0\nt.score(1.0, t.w)\n",
    ),
    "a jitted lambda in a comprehension in a loop": (
        "for n in (1, 2):\n    print([jax.jit(lambda x: x + n)(float(v)) for v in range(2)])\n",
        "compiled = jax.jit(lambda x, n: x + n)\nfor n in (1, 2):\n    print([compiled(float(v), n) for v in range(2)])\n",
    ),
    "a function in a loop with comments and a docstring": (
        'for a in (1.0, 2.0):\n    # the step\n    def g(x):\n        """Multi\n        line."""\n        return a * x  # scaled\n'
        "    print(jax.jit(g)(jnp.ones(2)))\n",
        '\n\ndef g(x, a):\n    """Multi\n    line."""\n    return a * x  # scaled\n\n\ng_jit = jax.jit(g)\n'
        "for a in (1.0, 2.0):\n    # the step\n    print(g_jit(jnp.ones(2), a))\n",
    ),
    "a default that captures the loop's variable": (
        "for a in (1.0, 2.0):\n    g = jax.jit(lambda x, a=a: a * x)  # bound\n    print(g(jnp.ones(2)))\n",
        "g = jax.jit(lambda x, a: a * x)  # bound\nfor a in (1.0, 2.0):\n    print(g(jnp.ones(2), a=a))\n",
    ),
    "the comment of a compiled function that is moved": (
        "def step(x, lr=0.1):\n    grad = jax.jit(jax.grad(lambda v: lr * jnp.sum(v**2)))  # slope\n    return x - grad(x)\n"
        "x = jnp.ones(2)\nfor _ in range(2): x = step(x)\n",
        "grad = jax.jit(jax.grad(lambda v, lr: lr * jnp.sum(v**2)))  # slope\n\n\n"
        "def step(x, lr=0.1):\n    return x - grad(x, lr)\nx = jnp.ones(2)\nfor _ in range(2): x = step(x)\n",
    ),
    "losses of nested loops": (
        "@jax.jit\ndef step(w): return w * 0.9, (w**2).sum()\ndef train():\n    losses = []  # curve\n    w = jnp.ones(3)\n"
        "    for _ in range(2):\n        for _ in range(2):\n            w, l = step(w)\n            losses.append(l.item())  # log\n"
        "    return losses\ntrain()\n",
        "@jax.jit\ndef step(w): return w * 0.9, (w**2).sum()\ndef train():\n    losses = []  # curve\n    w = jnp.ones(3)\n"
        "    for _ in range(2):\n        for _ in range(2):\n            w, l = step(w)\n            losses.append(l)  # log\n"
        "    losses = [value.item() for value in jax.device_get(losses)]\n    return losses\ntrain()\n",
    ),
    "a key made anew in a loop on one line": (
        "from jax import random as R\nfor _ in range(2): print(R.normal(R.key(0)))\n",
        "from jax import random as R\nbase_key = R.key(0)\nfor i in range(2): print(R.normal(R.fold_in(base_key, i)))\n",
    ),
    "an attribute that keeps a tracer and is read": (
        "from functools import partial\nclass A:\n    @partial(jax.jit, static_argnums=0)\n    def run(self, x):\n"
        "        self.last = x * 2  # kept\n        return self.last + 1\nA().run(1.0)\n",
        "from functools import partial\nclass A:\n    def run(self, x):\n        result, self.last = self._run(x)\n"
        "        return result\n\n    @partial(jax.jit, static_argnums=0)\n    def _run(self, x):\n"
        "        last = x * 2  # kept\n        return last + 1, last\nA().run(1.0)\n",
    ),
    "a list that keeps tracers": (
        "seen = []\n@jax.jit\ndef step(x, *, k=2.0):\n    y = k * x\n    seen.append(y)\n    return y, x\nstep(1.0)\n",
        "seen = []\ndef step(x, *, k=2.0):\n    result, y = _step(x, k=k)\n    seen.append(y)\n    return result\n\n\n"
        "@jax.jit\ndef _step(x, *, k=2.0):\n    y = k * x\n    return (y, x), y\nstep(1.0)\n",
    ),
    "numbers drawn twice": (
        "import random\n@jax.jit\ndef f(x):\n    a = random.random(); b = random.uniform(0, 1)\n    return x + a + b\nf(1.0)\nf(x=2.0)\n",
        "import random\n@jax.jit\ndef f(x, drawn, drawn_2):\n    a = drawn; b = drawn_2\n    return x + a + b\n"
        "f(1.0, random.random(), random.uniform(0, 1))\nf(2.0, random.random(), random.uniform(0, 1))\n",
    ),
    "an array at a static argument": (
        'from functools import partial\n@partial(jax.jit, static_argnames=["mode", "w"])\ndef f(x, w, mode): return x * w if mode == "a" else x\n'
        'f(1.0, w=jnp.ones(2), mode="a")\n',
        'from functools import partial\n@partial(jax.jit, static_argnames=["mode"])\ndef f(x, w, mode): return x * w if mode == "a" else x\n'
        'f(1.0, w=jnp.ones(2), mode="a")\n',
    ),
    "conversions": (
        "@jax.jit\ndef f(x, i):\n    s = float(x.sum())  # to float\n    return s * x + float(i - 1) / 2 + (x.sum() + 1).item()\n"
        "f(jnp.ones(3), 3)\n",
        "@jax.jit\ndef f(x, i):\n    s = x.sum()  # to float\n    return s * x + jnp.asarray(i - 1, dtype=float) / 2 + (x.sum() + 1)\n"
        "f(jnp.ones(3), 3)\n",
    ),
}  # fmt: skip

KEPT = {
    "an array at a static argument that is a size": (
        "g = jax.jit(lambda x, n: x + jnp.zeros(n), static_argnums=1)\ng(1.0, jnp.array(3))\n"
    ),
    "what is captured holds a text": (
        'params = {"w": jnp.ones((400, 400)), "name": "w"}\n@jax.jit\ndef f(x): return params["w"] @ x\nf(jnp.ones(400))\n'
    ),
    "what is captured is used as a number": (
        "import numpy as np\nindex = np.arange(200_000)\n@jax.jit\ndef f(x):\n    n = int(index[-1])\n    return x[index] * n\n"
        "f(jnp.ones(200_000))\n"
    ),
    "a function looks at the list": (
        "step = jax.jit(lambda w: w * 0.9)\nlosses = []\ndef last(): return losses[-1]\nw = jnp.ones(())\nfor _ in range(3):\n"
        "    w = step(w)\n    losses.append(float(w))\n    print(last())\n"
    ),
    "a derivative of what decides by value": (
        "def loss(w):\n    if w.sum() > 1: return jnp.sum(w**2)\n    return jnp.sum(w)\ng = jax.grad(loss)\nw = jnp.ones(3)\n"
        "for _ in range(3): w = w - 0.1 * g(w)\n"
    ),
    "arrays that are given away": (
        "from functools import partial\n@partial(jax.jit, donate_argnums=0)\ndef f(x): return x * 0.5\n"
        "x, seen = jnp.ones(2), []\nfor _ in range(3):\n    x = f(x)\n    seen.append(x.tolist())\n"
    ),
    "a default beside one that captures the loop's variable": (
        "for a in (1.0, 2.0):\n    g = jax.jit(lambda x, a=a, b=2: a * x * b)\n    print(g(jnp.ones(2)))\n"
    ),
    "a name of the loop's body that is read after it": (
        "@jax.jit\ndef f(x):\n    for i in range(20):\n        t = x * 2\n        x = x + t\n    return x + t\nf(1.0)\n"
    ),
    "an asynchronous loop": (
        "key = jax.random.key(0)\nasync def main(xs):\n    async for x in xs:\n        print(jax.random.normal(key), jax.random.normal(jax.random.key(0)))\n"
    ),
    "an asynchronous comprehension": (
        "key = jax.random.key(0)\nasync def main(xs):\n    return [jax.random.normal(key) async for x in xs]\n"
    ),
    "another use of the function": "rate = 0.1\n@jax.jit\ndef f(x): return x * rate\nf(1.0)\nfs = [f]\nrate = 0.5\nf(1.0)\n",
    "a name that means something else at a call": (
        "rate = 0.1\n@jax.jit\ndef f(x): return x * rate\ndef g(rate): return f(2.0)\nf(1.0)\nrate = 0.5\nf(1.0), g(3.0)\n"
    ),
    "the variable of a comprehension": (
        "rate = 0.1\n@jax.jit\ndef f(x): return x * rate\n[f(1.0 * rate) for rate in range(2)]\nrate = 0.5\nf(1.0)\n"
    ),
    "a captured size": "size = 2\n@jax.jit\ndef f(x): return jnp.zeros(size) + x\nf(1.0)\nsize = 3\nf(1.0)\n",
    "a size captured in a loop": "for n in (1, 2):\n    f = jax.jit(lambda x: x + jnp.zeros(n))\n    f(1.0)\n",
    "a size bound by a partial": (
        "from functools import partial\ndef f(n, x): return jnp.zeros(n) + x\n"
        "for n in (1, 2):\n    jax.jit(partial(f, n))(1.0)\n"
    ),
    "the list is looked at in the loop": (
        "step = jax.jit(lambda w: w * 0.9)\nlosses = []\nw = jnp.ones(())\nfor _ in range(3):\n    w = step(w)\n"
        "    losses.append(float(w))\n    print(losses[-1])\n"
    ),
    "the shape grows": "@jax.jit\ndef f(x):\n    y = jnp.zeros(1)\n    for i in range(20):\n        y = y + x\n    return y\nf(jnp.ones(3))\n",
    "integers become floats": (
        "@jax.jit\ndef f(x):\n    y = jnp.zeros(3, int)\n    for i in range(20):\n        y = y + x\n    return y\nf(jnp.ones(3))\n"
    ),
    "large powers": "@jax.jit\ndef f(x):\n    for i in range(40):\n        x = x + 1.0 / (2**i + 1)\n    return x\nf(jnp.ones(3))\n",
    "a slice by the loop's variable": (
        "@jax.jit\ndef f(x):\n    for i in range(20):\n        x = x.at[i].set(x[:i].sum())\n    return x\nf(jnp.ones(20))\n"
    ),
    "a step with effects": (
        "log = []\ndef step(a, b):\n    log.append(1)\n    return a * 0.9 + b * 0.1 - jnp.sin(a), b\n"
        "a = b = jnp.ones(3)\nfor _ in range(3):\n    a, b = step(a, b)\n"
    ),
    "a step that reads what the loop changes": (
        "lr = 1.0\ndef step(a, b): return a * lr + b * 0.1 - jnp.sin(a), b\n"
        "a = b = jnp.ones(3)\nfor _ in range(3):\n    lr = 0.5 * lr\n    a, b = step(a, b)\n"
    ),
    "a mask of rows": "@jax.jit\ndef f(x, m): return x[m].sum()\nf(jnp.ones((2, 3)), jnp.array([True, False]))\n",
    "an int that is a shape": "@jax.jit\ndef f(x, n):\n    k = int(n)\n    return jnp.zeros(k) + x\nf(1.0, 3)\n",
    "a leaked tracer that is printed outside": (
        "@jax.tree_util.register_pytree_node_class\nclass A:\n    @jax.jit\n    def run(self):\n        return self\na = []\n@jax.jit\ndef f(x):\n    if True:\n"
        "        a.append(x)\n    return x\nf(1.0)\nprint(a[0])\n"
    ),
    "a tuple cannot be written to": "ps = (jnp.ones(2), jnp.ones(2))\nfor p in ps:\n    p += 1.0\n",
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGED)
def test_what_programs_become(name: str) -> None:
    before, after = CHANGED[name]
    outcome = fixed(HEAD + before)
    assert not outcome.notes
    assert outcome.loaded.sources[0].text == HEAD + after
    assert fixed(HEAD + after).loaded.sources[0].text == HEAD + after, "a second run changes it again"


@pytest.mark.parametrize("name", KEPT)
def test_what_stays(name: str) -> None:
    assert fixed(HEAD + KEPT[name]).loaded.sources[0].text == HEAD + KEPT[name]


@pytest.mark.jax
def test_the_results_run() -> None:
    outcomes = runner({name: HEAD + after for name, (_, after) in CHANGED.items()})
    assert {name: outcome["what"] for name, outcome in outcomes.items() if outcome} == {}
