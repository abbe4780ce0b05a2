"""The `occamkit` command: its own commands, and those that packs add."""

from __future__ import annotations

import sys

import click

from occamkit._version import __version__
from occamkit.cli.check import check
from occamkit.cli.export import export
from occamkit.cli.fit import fit
from occamkit.cli.listing import list_command
from occamkit.cli.output import report_error
from occamkit.cli.plugins import plugins
from occamkit.cli.predict import predict
from occamkit.cli.report import report
from occamkit.cli.rerun import rerun
from occamkit.cli.resume import resume
from occamkit.cli.run import run
from occamkit.cli.schema import schema
from occamkit.cli.score import score
from occamkit.errors import OccamkitError, did_you_mean
from occamkit.packs.registry import Registry

OWN = {
    command.name: command
    for command in (check, export, fit, list_command, plugins, predict, report, rerun, resume, run, schema, score)
}


class PackGroup(click.Group):
    """A group that asks the packs only for names that are not its own, so that its own start fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*super().list_commands(ctx), *(entry.name for entry in Registry.load().entries("commands"))})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command of our own, or of a pack."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        registry = Registry.load()
        if cmd_name not in registry.names("commands"):
            hint = did_you_mean(cmd_name, self.list_commands(ctx))
            raise click.UsageError(f"No such command {cmd_name!r}{hint}", ctx)
        command: click.Command = registry.find("commands", cmd_name).value
        return command


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from occamkit.kernel import kernel  # what shows nothing else starts without it

        click.echo(f"occamkit, version {__version__}, {kernel().name} kernel")
        ctx.exit()


@click.group(
    cls=PackGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    commands=OWN,
)
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_show_version, help="Show the version."
)
def cli() -> None:
    """Turn data into formulas.

    TASK is a task file (TOML or JSON) or the name of a registered task; `occamkit list tasks` shows them.
    Environment: OCCAMKIT_PACKS=none|a,b chooses packs, OCCAMKIT_STRICT_PLUGINS=1 refuses broken ones,
    OCCAMKIT_DATA is a folder of public data sets.
    """


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        sys.exit(cli(standalone_mode=False))  # the exit code of a command that leaves early
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo("interrupted", err=True)
        sys.exit(130)
    except OccamkitError as error:
        sys.exit(report_error(error, as_json="--json" in sys.argv))
