"""Hostile packs: each is caught when it loads or by the kit, by a message with pack, member and what to do."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import Result

from occamkit import Registry, testing
from occamkit.packs import find as packs
from occamkit.packs import trial

HEADER = """
import time
import sympy, torch
from dataclasses import dataclass
from typing import ClassVar
from occamkit import Elementwise, Stage, Verdict, hookimpl, units
"""


def primitive(call: str, more: str = "", arity: int = 1, sympy: str = "sympy.sin", rule: str = "dimensionless") -> str:
    letters = ", ".join("abcdefgh"[:arity])
    return (
        f"{HEADER}\ndef call({letters}):\n    {call}\n"
        f"@hookimpl\ndef occamkit_primitives():\n"
        f"    return [Elementwise('bad', {arity}, call, {sympy}, units.{rule}{more})]\n"
    )


MINUS = "lambda a, b: a - b"

# What it does, its source, and what the reason says besides its name: the member, and what to do.
AT_REGISTRATION = {
    "raises at import": (
        "raise OSError('no licence')",
        ["cannot be imported: OSError: no licence", "mend or uninstall occamkit_hostile"],
    ),
    "raises at hook call": (
        f"{HEADER}\n@hookimpl\ndef occamkit_fitnesses():\n    raise KeyError('gone')\n",
        ["occamkit_fitnesses", "KeyError: 'gone'", "never raises and returns an iterable"],
    ),
    "raises while a hook is read": (
        f"{HEADER}\n@hookimpl\ndef occamkit_tasks():\n    yield from ()\n    raise KeyError('late')\n",
        ["occamkit_tasks", "KeyError: 'late'", "never raises and returns an iterable"],
    ),
    "raises in call": (
        primitive("raise ValueError('no')"),
        ["primitive 'bad': call", "ValueError: no", "NaN where undefined"],
    ),
    "returns wrong shapes": (
        primitive("return a.sum()"),
        ["primitive 'bad': call", "must be elementwise: (", "one of their shape"],
    ),
    "returns the wrong dtype": (
        primitive("return torch.sin(a).double()"),
        ["primitive 'bad': call", "must keep the dtype", "float64 out", "returns one of their shape and dtype"],
    ),
    "mutates its arguments": (
        primitive("return a.sin_()"),
        ["primitive 'bad': call", "writes to its arguments", "without a trailing underscore"],
    ),
    "claims commutativity falsely": (
        primitive("return a - b", ", commutative=True", arity=2, sympy=MINUS, rule="same"),
        ["primitive 'bad': call", "another order", "say commutative=False"],
    ),
    "has a unit rule that raises": (
        f"{HEADER}\n@hookimpl\ndef occamkit_primitives():\n"
        "    return [Elementwise('bad', 1, torch.sin, sympy.sin, lambda: units.FREE)]\n",
        ["primitive 'bad': units", "TypeError", "see occamkit.units for rules"],
    ),
    "has no method of its stage": (
        f"{HEADER}\n@dataclass\nclass Bad:\n    name: ClassVar = 'bad'\n    stage: ClassVar = Stage.TREE\n"
        "    weight: float = 1.0\n@hookimpl\ndef occamkit_regularizers():\n    return [Bad]\n",
        ["occamkit_regularizers: bad", "has no method 'look'", "its stage decides"],
    ),
    "has a constant that is no number": (
        f"{HEADER}\nfrom occamkit import Quantity\n@hookimpl\ndef occamkit_constants():\n"
        "    return [Quantity('bad', '3e8', 'm/s')]\n",
        ["occamkit_constants: bad", "has no value that is a number", "use occamkit.Quantity"],
    ),
}
BY_THE_KIT = {
    "moves tensors to the CPU": (
        primitive("return torch.from_numpy(a.detach().cpu().numpy().copy()).sin()"),
        "bad-keeps device",
        ["cannot run away from the host", "use torch alone, and make tensors with"],
    ),
    "makes tensors on the CPU": (
        primitive("return torch.sin(a) + torch.zeros(a.shape, dtype=a.dtype)"),
        "bad-keeps device",
        ["cannot run away from the host", "use torch alone, and make tensors with"],
    ),
    "claims a false unit rule": (
        primitive("return torch.square(a)", sympy="lambda a: a**2", rule="power(3)"),
        "bad-units agree with numbers",
        ["the rule gives", "the numbers do not scale so; mend units"],
    ),
    "sleeps in call": (
        primitive("time.sleep(0.5)\n    return torch.sin(a)"),
        "bad-quick",
        ["a call on", "takes 0.5 s", "compute on whole tensors"],
    ),
}


@pytest.mark.parametrize("what", AT_REGISTRATION)
def test_caught_when_it_loads(make_pack: Callable[..., None], occamkit: Callable[..., Result], what: str) -> None:
    source, words = AT_REGISTRATION[what]
    make_pack("hostile", source)
    rows = {row["name"]: row for row in json.loads(occamkit("plugins", "list", "--json").stdout)}
    assert rows["hostile"]["status"] == "broken"
    assert [word for word in words if word not in rows["hostile"]["reason"]] == []
    checked = occamkit("plugins", "check", "hostile")
    assert checked.exit_code == 1
    assert checked.stderr.startswith("pack 'hostile': broken: ")
    assert rows["occamkit"]["status"] == "ok"
    assert Registry.load().find("primitives", "add")


@pytest.mark.parametrize("what", BY_THE_KIT)
def test_caught_by_the_kit(make_pack: Callable[..., None], occamkit: Callable[..., Result], what: str) -> None:
    source, check, words = BY_THE_KIT[what]
    make_pack("hostile", source)
    checked = occamkit("plugins", "check", "hostile", "--json")
    assert checked.exit_code == 1
    found = {f"{row['part']}-{row['promise']}": row for row in json.loads(checked.stdout)["checks"]}
    part, _, promise = check.partition("-")
    assert found[check]["verdict"] == "broken"
    assert found[check]["message"].startswith(f"pack 'hostile': primitive {part!r}: {promise}: ")
    assert [word for word in words if word not in found[check]["message"]] == []
    if "sleeps" not in what:  # to see it once more takes as long again
        assert promise in occamkit("plugins", "check", "hostile").stdout


def test_clashing_names_are_said_with_both_owners(
    make_pack: Callable[..., None], occamkit: Callable[..., Result]
) -> None:
    make_pack("hostile", primitive("return torch.sin(a)").replace("'bad'", "'sin'"))
    rows = {row["name"]: row for row in json.loads(occamkit("plugins", "list", "--json").stdout)}
    assert rows["hostile"]["status"] == "conflict"
    reason = "primitive 'sin' is also provided by 'occamkit', write 'hostile:sin'"
    assert rows["hostile"]["reason"] == reason


def test_a_command_that_is_taken_is_said(make_pack: Callable[..., None], occamkit: Callable[..., Result]) -> None:
    make_pack(
        "hostile",
        "import click\nfrom occamkit import hookimpl\n@click.command('run')\ndef run(): 'Mine.'\n"
        "@hookimpl\ndef occamkit_commands():\n    return [run]\n",
    )
    rows = {row["name"]: row for row in json.loads(occamkit("plugins", "list", "--json").stdout)}
    assert rows["hostile"]["notes"] == ["command 'run' is occamkit's own already; rename it"]


SLEEPS = {
    "at import": "import time\ntime.sleep({seconds})\n",
    "at hook call": HEADER + "@hookimpl\ndef occamkit_primitives():\n    time.sleep({seconds})\n    return []\n",
    "in call": primitive("time.sleep({seconds})\n    return torch.sin(a)"),
}


@pytest.mark.parametrize("where", SLEEPS)
def test_a_pack_that_never_loads_is_given_up(
    make_pack: Callable[..., None], monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setattr(packs, "LONGEST_LOAD", 2.0)
    # A name of its own: the module that is never done importing stays locked in this process.
    name = f"sleeps_{where.replace(' ', '_')}"
    make_pack(name, SLEEPS[where].replace("{seconds}", "1000"))
    pack = next(one for one in Registry.load().packs if one.name == name)
    assert pack.status == "broken"
    assert pack.reason.startswith("loading took longer than 2 s; import and compute less")


def test_a_slow_pack_works_and_is_warned(
    make_pack: Callable[..., None], occamkit: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packs, "SLOW_LOAD", 0.1)
    monkeypatch.setattr(trial, "SLOW_TRIAL", 0.1)
    make_pack("hostile", SLEEPS["in call"].replace("{seconds}", "0.05"))
    rows = {row["name"]: row for row in json.loads(occamkit("plugins", "list", "--json").stdout)}
    assert rows["hostile"]["status"] == "ok"
    trying, loading = rows["hostile"]["notes"]
    assert trying.startswith("primitive 'bad': trying it on ")
    assert loading.endswith("s to load; import and compute less when the module or a hook is called")
    assert "many thousand times" in trying


def test_a_check_that_never_ends_is_given_up(make_pack: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    source = (
        f"{HEADER}\n@dataclass(frozen=True)\nclass Bad:\n    'Sleeps.'\n    name: ClassVar = 'bad'\n"
        "    def score(self, predicted, target):\n        time.sleep(1000)\n    def ceiling(self, points): return 1.0\n"
        "@hookimpl\ndef occamkit_fitnesses():\n    return [Bad]\n"
    )
    monkeypatch.setattr(testing, "LONGEST_CHECK", 0.2)
    make_pack("hostile", source)
    check = next(one for one in testing.checks("hostile") if one.promise == "deterministic")
    with pytest.raises(AssertionError, match=r"pack 'hostile': fitness 'bad': deterministic: took longer than 0.2 s"):
        check.run()
