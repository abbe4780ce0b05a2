"""`occamkit plugins new`: a working pack to start from."""

from __future__ import annotations

import keyword
import re
from importlib.resources import files
from pathlib import Path
from string import Template

import click

from occamkit.errors import UserError

_NAME = re.compile(r"[a-z][a-z0-9_]*")

_FILES = {
    "pyproject.toml.txt": "pyproject.toml",
    "README.md.txt": "README.md",
    "gitignore.txt": ".gitignore",
    "workflow.yml.txt": ".github/workflows/test.yml",
    "init.py.txt": "src/$module/__init__.py",
    "primitives.py.txt": "src/$module/primitives.py",
    "regularizers.py.txt": "src/$module/regularizers.py",
    "example.toml.txt": "src/$module/tasks/example.toml",
    "test_conformance.py.txt": "tests/test_conformance.py",
    "test_example.py.txt": "tests/test_example.py",
}
"""Where each template goes."""


@click.command("new")
@click.argument("name")
@click.option("--into", type=click.Path(path_type=Path), default=Path(), help="Folder to make it in; here by default.")
def new(name: str, into: Path) -> None:
    """Make a pack called NAME in a new folder occamkit-NAME.

    It has a primitive, a regularizer, a task, tests and a CI workflow, and passes its own tests as made.
    """
    from occamkit.hookspecs import API_VERSION, PROJECT

    if not _NAME.fullmatch(name) or keyword.iskeyword(name) or name == PROJECT:
        raise UserError(
            f"{name!r} cannot be the name of a pack: use lower case letters, digits and underscores, a letter first, "
            f"and not {PROJECT!r}"
        )
    folder = into / f"{PROJECT}-{name.replace('_', '-')}"
    if folder.exists():
        raise UserError(f"{folder} exists already; nothing is overwritten")
    words = {"name": name, "module": f"{PROJECT}_{name}", "api": API_VERSION}
    templates = files("occamkit.cli") / "templates" / "pack"
    for template, target in _FILES.items():
        path = folder / Template(target).substitute(words)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = (templates / template).read_text(encoding="utf-8")
        path.write_text(Template(text).substitute(words), encoding="utf-8")
    place = folder if folder.is_absolute() else f"./{folder}"
    steps = (f"pip install {place}", f"occamkit plugins check {name}", f"occamkit run {name}/example")
    click.echo("\n  ".join([f"made {folder}", *steps]))
