"""Runs the code blocks of README.md and of docs/: one test for each page, its blocks in order.

    python     is executed, all blocks of a page in one namespace, that of a module called `page`
    any        that begins with a line `# file: NAME` is written to the page's own folder instead
    text       after a line `<!-- file: NAME -->` is written there too
    console    lines after `$ ` are run in that folder, and what they print is compared with what the page shows

In a console block `...` stands for any text, and on a line of its own for any lines. Commands must succeed, unless
the block follows a line such as `<!-- exit: 2 -->`. `pip install -e .` does what matters here and no more: it makes
the entry points of the pyproject.toml known to the commands that follow.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sybil import Document, Example, Sybil
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import CodeBlockParser

from occamkit.cli.main import main

ROOT = Path(__file__).parent
SITE = "site"
"""Where `pip install -e .` leaves its traces, inside the page's folder."""

_FILE_LINE = re.compile(r"# file: (?P<name>\S+)\n")
_COMMENT = re.compile(r"<!-- (?P<key>exit|file): (?P<value>\S+) -->\s*\Z")


def _comment_before(example: Example, key: str) -> str | None:
    match = _COMMENT.search(example.document.text[: example.region.start])
    return match["value"] if match and match["key"] == key else None


def _write(example: Example) -> bool:
    """Write the block to the file that it names, if it names one."""
    text = str(example.parsed)
    match = _FILE_LINE.match(text)
    name = match["name"] if match else _comment_before(example, "file")
    if name is None:
        return False
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return True


def _python(example: Example) -> None:
    if not _write(example):
        PythonEvaluator()(example)


def _console(example: Example) -> None:
    wanted = int(_comment_before(example, "exit") or 0)
    for part in re.split(r"^\$ ", str(example.parsed), flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        code, output = _run(command)
        printed = "".join(f"{line}\n" for line in _lines(output))
        if code != wanted:
            raise AssertionError(f"$ {command}\nexit code {code}, not {wanted}:\n{printed}")
        if shown.strip() and not _pattern(shown).fullmatch(printed):
            raise AssertionError(f"$ {command}\nprinted:\n{printed}\nshown on the page:\n{shown}")


def _pattern(shown: str) -> re.Pattern[str]:
    any_text = re.escape("...")
    return re.compile(
        "".join(
            r"(?:.*\n)*?" if line == "..." else re.escape(line).replace(any_text, ".*") + r"\n"
            for line in _lines(shown)
        )
    )


def _lines(text: str) -> list[str]:
    """Return the lines with every gap as one space: how wide the columns of a table are is without meaning."""
    return [re.sub(" +", " ", line.rstrip()) for line in text.splitlines()]


def _run(command: str) -> tuple[int, str]:
    """Run a command with the page's packs installed and no setting of ours: its exit code, and what it printed."""
    words = shlex.split(command)
    setting = dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))
    program, *arguments = words[len(setting) :]
    if program == "pip" and arguments == ["install", "-e", "."]:
        _install()
        return 0, ""
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith(("OCCAMKIT_", "PYTEST_")):
                patch.delenv(name)
        for name, value in setting.items():
            patch.setenv(name, value)
        if program == "occamkit":
            return _occamkit(arguments, patch)
        if program == "pytest":
            patch.setenv("PYTHONPATH", os.pathsep.join(map(str, _python_path())))
            return _pytest(arguments)
    raise AssertionError(f"a console block runs occamkit, pytest or pip install -e ., not {program!r}")


def _python_path() -> list[Path]:
    return [Path.cwd() / SITE, Path.cwd() / "src"]


def _occamkit(arguments: list[str], patch: pytest.MonkeyPatch) -> tuple[int, str]:
    # In this process: importing torch anew for each command would take minutes.
    printed, code = io.StringIO(), 0
    for folder in _python_path():
        patch.syspath_prepend(folder)
    patch.setattr(sys, "argv", ["occamkit", *arguments])
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            main()
        except SystemExit as leaving:
            code = int(leaving.code or 0)
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(Path.cwd())):
            del sys.modules[name]
    return code, printed.getvalue()


def _pytest(arguments: list[str]) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", ".", *arguments],
        text=True,
        encoding="utf-8",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.returncode, done.stdout


def _install() -> None:
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = Path(SITE) / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir(parents=True)
    entries = project["entry-points"]["occamkit"]
    (info / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8")
    lines = [f"{name} = {target}" for name, target in entries.items()]
    (info / "entry_points.txt").write_text("\n".join(["[occamkit]", *lines, ""]), encoding="utf-8")


def _file(example: Example) -> None:
    _write(example)


_PAGES = Sybil(
    parsers=[
        CodeBlockParser("python", _python),
        CodeBlockParser("toml", _file),
        CodeBlockParser("text", _file),
        CodeBlockParser("console", _console),
    ]
)


@contextlib.contextmanager
def _folder() -> Iterator[None]:
    """A folder of the page's own, with the examples of the repository in it."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples")
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


@contextlib.contextmanager
def _module(document: Document) -> Iterator[None]:
    """Let the page's namespace be that of a module, so that what it defines has a home."""
    module = types.ModuleType("page")
    module.__file__ = document.path
    document.namespace = module.__dict__
    sys.modules[module.__name__] = module
    try:
        yield
    finally:
        del sys.modules[module.__name__]


class PageTest(pytest.Item):
    """All blocks of one page, in order."""

    document: Document

    def runtest(self) -> None:
        """Run every block."""
        with _folder(), _module(self.document):
            for example in self.document.examples():
                try:
                    example.evaluate()
                except Exception as error:
                    error.add_note(f"in the block at {self.path.relative_to(ROOT)}:{example.line}")
                    raise

    def reportinfo(self) -> tuple[Path, int, str]:
        """Say where the page is."""
        return self.path, 0, str(self.path.relative_to(ROOT))


class Page(pytest.File):
    """A page with code blocks."""

    def collect(self) -> Iterator[PageTest]:
        """Yield the page's one test, if it has any blocks."""
        document = _PAGES.parse(self.path)
        if list(document.examples()):
            test: Any = PageTest.from_parent(self, name="blocks")
            test.document = document
            yield test


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Page | None:
    """Collect README.md and the pages below docs/, but nothing that a build left there."""
    inside = file_path.relative_to(ROOT).parts if file_path.is_relative_to(ROOT) else ()
    is_page = inside == ("README.md",) or (inside[:1] == ("docs",) and file_path.suffix == ".md")
    if is_page and not any(part.startswith("_") for part in inside):
        return Page.from_parent(parent, path=file_path)
    return None
