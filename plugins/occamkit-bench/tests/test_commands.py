"""The commands: shape of their output, and clear errors."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from occamkit_bench import throughput as room
from occamkit_bench.commands import bench
from occamkit_bench.peers import installed_peers
from occamkit_bench.plot import check_plot
from occamkit_bench.stages import REST, STAGES

from occamkit.errors import UserError
from occamkit.packs.registry import Registry


def test_the_pack_is_loaded():
    pack = next(pack for pack in Registry.load().packs if pack.name == "bench")
    assert str(pack.status) == "ok", pack.reason
    assert [entry.name for entry in pack.entries] == ["bench"]


def occamkit(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from occamkit.cli.main import main; main()", "bench", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_throughput_quick_as_json():
    done = occamkit("throughput", "--quick", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert list(document) == ["rows"]
    (row,) = document["rows"]
    assert row["dataset"] == "1027_ESL"
    assert row["functions"] == 2000
    assert row["rows_of_data"] == 292
    assert row["features"] == 4
    for contender in ("occamkit", "dense", "dense_reused", *installed_peers()):
        assert row[contender] > 0
    assert row["occamkit"] > row["dense"]
    assert set(row["stages"]) == {*STAGES, REST}
    assert all(cost >= 0 for cost in row["stages"].values())
    assert "2,000 functions a step" in done.stderr


def test_throughput_without_peers_or_data(monkeypatch, tmp_path):
    monkeypatch.setenv("OCCAMKIT_DATA", str(tmp_path))
    monkeypatch.setattr(room, "installed_peers", tuple)

    def offline(*args, **options):
        raise OSError("no network")

    monkeypatch.setattr("pmlb.fetch_data", offline)
    monkeypatch.setattr(room, "PER_QUICK_TURN", 300)
    done = CliRunner().invoke(bench, ["throughput", "--quick", "--dataset", "1089_USCrime", "--functions", "100"])
    assert done.exit_code == 0, done.output
    assert "1089_USCrime (synthetic)" in done.output
    assert "gplearn" not in done.output
    assert "dense reused/s" in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["throughput", "--dataset", "nope"], "'nope' is not one of"),
        (["throughput", "--functions", "0"], "0 is not in the range"),
        (["throughput", "--seconds", "-1"], "-1.0 is not in the range"),
        (["throughput", "--plot", "speed.gif"], "must end in .svg"),
        (["growth", "--plot", "nowhere/speed.svg"], "there is no folder"),
        (["paper", "--seeds", "0"], "0 is not in the range"),
        (["paper", "--task", "sin-3x"], "did you mean 'paper/sin-3x-2'"),
        (["feynman", "--scale", "cubic"], "'cubic' is not one of"),
        (["feynman", "--groups", "-1"], "-1 is not in the range"),
        (["speed"], "No such command 'speed'"),
    ],
)
def test_bad_options(arguments, message):
    # Read here and not in a process of its own, which takes seconds to start; main() turns UserError into 2 too.
    done = CliRunner().invoke(bench, arguments)
    error = done.exception
    assert message in (str(error) if isinstance(error, UserError) else done.output)
    assert isinstance(error, UserError) or done.exit_code == 2


def test_exit_code_of_a_bad_option():
    done = occamkit("throughput", "--plot", "speed.gif")
    assert done.returncode == 2
    assert "--plot: 'speed.gif' must end in .svg" in done.stderr


def test_plot_without_matplotlib(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"occamkit-bench\[plot\]"):
        check_plot(Path("speed.svg"))


def test_every_command_and_option_has_help():
    for command in (bench, *bench.commands.values()):
        assert command.help
        for option in command.params:
            assert not isinstance(option, click.Option) or option.help, (command.name, option.name)
