"""Packs: each gets its own status, names never lie, and one broken pack stops nobody else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from occamkit import Registry
from occamkit.errors import AmbiguousNameError, PackError, UnknownNameError, UserError

GOOD = """
    import sympy, torch
    from occamkit import Elementwise, hookimpl, units

    OCCAMKIT_API = ">=0.1,<1"

    @hookimpl
    def occamkit_primitives():
        return [Elementwise("{name}", 1, torch.erf, sympy.erf, units.dimensionless, group="special")]
"""
RAISES = "raise RuntimeError('no such library')"
MISSPELT = """
    from occamkit import hookimpl

    @hookimpl
    def occamkit_primitves():
        return []
"""
TOO_NEW = 'OCCAMKIT_API = ">=99"'


def statuses(registry: Registry) -> dict[str, str]:
    return {pack.name: str(pack.status) for pack in registry.packs}


def reason(registry: Registry, name: str) -> str:
    return next(pack.reason for pack in registry.packs if pack.name == name)


def test_a_bare_distribution_on_the_path_is_discovered(make_pack: Callable[..., None]) -> None:
    make_pack("special", GOOD.format(name="erf"), version="2.1")
    registry = Registry.load()
    assert registry.find("primitives", "erf").pack == "special"
    assert registry.find("primitives", "special:erf") == registry.find("primitives", "erf")
    assert registry.versions()["special"] == "2.1"
    assert [entry.name for entry in registry.primitives("special")] == ["erf"]


def test_a_distribution_without_metadata_is_discovered_too(make_pack: Callable[..., None]) -> None:
    make_pack("bare", GOOD.format(name="erf"), metadata=False)
    make_pack("raises", RAISES, metadata=False)
    registry = Registry.load()
    assert registry.versions()["bare"] == "unknown"
    assert statuses(registry)["raises"] == "broken"


def test_every_kind_of_trouble_has_its_own_status(make_pack: Callable[..., None]) -> None:
    make_pack("good", GOOD.format(name="erf"))
    make_pack("raises", RAISES)
    make_pack("clash", GOOD.format(name="sin"))
    make_pack("misspelt", MISSPELT)
    make_pack("new", TOO_NEW)
    make_pack("unwanted", GOOD.format(name="erfc"))
    registry = Registry.load(block=["unwanted"])
    assert {name: status for name, status in statuses(registry).items() if name in _MADE} == {
        "good": "ok",
        "raises": "broken",
        "clash": "conflict",
        "misspelt": "broken",
        "new": "incompatible",
        "unwanted": "disabled",
    }
    assert "RuntimeError: no such library" in reason(registry, "raises")
    assert "'occamkit_primitves'; did you mean 'occamkit_primitives'?" in reason(registry, "misspelt")
    assert ">=99" in reason(registry, "new")
    assert "'sin' is also provided by 'occamkit'" in reason(registry, "clash")
    assert [entry.name for entry in registry.primitives("arithmetic")][:2] == ["add", "sub"]


_MADE = {"good", "raises", "clash", "misspelt", "new", "unwanted"}


def test_a_clash_is_an_error_at_use_that_names_both_owners(make_pack: Callable[..., None]) -> None:
    make_pack("clash", GOOD.format(name="sin"))
    registry = Registry.load()
    with pytest.raises(AmbiguousNameError) as error:
        registry.find("primitives", "sin")
    assert error.value.owners == ("occamkit", "clash")
    assert "'occamkit:sin' or 'clash:sin'" in str(error.value)
    assert registry.find("primitives", "clash:sin").pack == "clash"
    assert registry.find("primitives", "occamkit:sin").pack == "occamkit"


def test_two_packs_of_one_name(make_pack: Callable[..., None]) -> None:
    make_pack("twin", GOOD.format(name="erf"), distribution="first")
    make_pack("twin", GOOD.format(name="erfc"), distribution="second")
    registry = Registry.load(only=["twin"])
    assert [str(pack.status) for pack in registry.packs if pack.name == "twin"] == ["ok", "conflict"]
    assert registry.find("primitives", "erf").pack == "twin"


def test_a_name_that_a_broken_pack_would_provide_names_the_pack_and_the_cause(make_pack: Callable[..., None]) -> None:
    make_pack("raises", RAISES)
    registry = Registry.load()
    with pytest.raises(UnknownNameError, match="pack 'raises' is broken: cannot be imported: RuntimeError"):
        registry.find("primitives", "raises:erf")
    with pytest.raises(UnknownNameError, match="may belong to a pack that is not loaded: 'raises' is broken"):
        registry.find("primitives", "qwertzuiop")
    with pytest.raises(UnknownNameError, match="no pack 'absent' is installed"):
        registry.find("primitives", "absent:erf")


def test_the_environment_chooses_packs(make_pack: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    make_pack("one", GOOD.format(name="erf"))
    make_pack("two", GOOD.format(name="erfc"))
    monkeypatch.setenv("OCCAMKIT_PACKS", "two")
    assert {"occamkit": "ok", "one": "disabled", "two": "ok"}.items() <= statuses(Registry.load()).items()
    monkeypatch.setenv("OCCAMKIT_PACKS", "none")
    assert {"occamkit": "ok", "one": "disabled", "two": "disabled"}.items() <= statuses(Registry.load()).items()
    monkeypatch.setenv("OCCAMKIT_PACKS", "tow")
    with pytest.raises(UnknownNameError, match="did you mean 'two'"):
        Registry.load()


def test_strict_mode_refuses_a_broken_pack(make_pack: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    make_pack("raises", RAISES)
    monkeypatch.setenv("OCCAMKIT_STRICT_PLUGINS", "1")
    with pytest.raises(PackError, match="pack 'raises': broken"):
        Registry.load()


def test_the_built_in_pack_cannot_be_blocked() -> None:
    with pytest.raises(UserError, match="cannot be left out"):
        Registry.load(block=["occamkit"])


HEADER = "import sympy, torch\nfrom occamkit import Elementwise, hookimpl, units\n"


def _primitive(arguments: str, before: str = "") -> str:
    return f"{HEADER}{before}\n@hookimpl\ndef occamkit_primitives():\n    return [Elementwise({arguments})]\n"


def _plugin(kind: str, field: str) -> str:
    return (
        f"{HEADER}from dataclasses import dataclass\n@dataclass\nclass Odd:\n    name = 'odd'\n    {field}\n"
        f"@hookimpl\ndef occamkit_{kind}():\n    return [Odd]\n"
    )


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (_primitive("'half', 2, torch.sin, sympy.sin, units.same"), "primitive 'half': call: TypeError"),
        (_primitive("'f', 1, torch.sum, sympy.sin, units.same"), "must be elementwise"),
        (_primitive("'f', 1, lambda x: 3.0, sympy.sin, units.same"), "must return a tensor, got float"),
        (_primitive("'f', 1, lambda x: x / 0 * 0, sympy.sin, units.same"), "undefined on every sample point"),
        (_primitive("'f', 1, torch.sin, lambda x: 'sin', units.same"), "must return a sympy expression, got str"),
        (_primitive("'f', 1, torch.sin, sympy.sin, lambda u: 'm'"), "must return Dim, FREE or CLASH"),
        (_primitive("'Bad Name', 1, torch.sin, sympy.sin, units.same"), "must match"),
        (_primitive("'f', 0, torch.sin, sympy.sin, units.same"), "arity must be >= 1"),
        (f"{HEADER}@hookimpl\ndef occamkit_primitives():\n    return [torch.sin]\n", "use Elementwise"),
        (f"{HEADER}@hookimpl\ndef occamkit_primitives():\n    return 3\n", "must return an iterable, got int"),
        (f"{HEADER}@hookimpl\ndef occamkit_primitives():\n    1 / 0\n", "occamkit_primitives: ZeroDivisionError"),
        (f"{HEADER}@hookimpl\ndef occamkit_primitives(task):\n    return []\n", "occamkit_primitives"),
        (f"{HEADER}def occamkit_primitives():\n    return []\n", "not marked with @occamkit.hookimpl"),
        (f"{HEADER}@hookimpl\ndef occamkit_fitnesses():\n    return [int]\n", "must be a dataclass"),
        (f"{HEADER}@hookimpl\ndef occamkit_wrappers():\n    return [3]\n", "must be a dataclass"),
        (_plugin("fitnesses", "x: int = 1"), "has no method 'score'"),
        (_plugin("fitnesses", "x: torch.Generator = None"), "cannot be an option of a task file"),
        (_plugin("regularizers", "weight: float = 1.0"), "stage must be a Stage"),
        (f"{HEADER}@hookimpl\ndef occamkit_commands():\n    return [print]\n", "has no method 'make_context'"),
        (f"{HEADER}@hookimpl\ndef occamkit_tasks():\n    return ['task.toml']\n", "has no method 'data'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("OCCAMKIT_API = 'new'", "is not a version range"),
    ],
)
def test_a_mistake_is_found_at_registration_and_named(make_pack: Callable[..., None], source: str, words: str) -> None:
    make_pack("wrong", source)
    registry = Registry.load()
    assert statuses(registry)["wrong"] in {"broken", "incompatible"}
    assert words in reason(registry, "wrong")
    assert registry.find("primitives", "add")


def test_a_primitive_twice_in_one_pack(make_pack: Callable[..., None]) -> None:
    make_pack("twice", GOOD.format(name="erf").replace('special")]', 'special")] * 2'))
    assert "provides primitive 'erf' twice" in reason(Registry.load(), "twice")


def test_nearest_match_covers_groups(registry: Registry) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'trig'"):
        registry.primitives("trigg")
