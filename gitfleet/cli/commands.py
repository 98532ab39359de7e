"""The list of commands, written by hand: one line a command, in the order in which people meet them."""

from __future__ import annotations

import typer

from gitfleet.cli import demo, explain, get, init, plan, render, run, schema, simulate, validate


def register(app: typer.Typer) -> None:
    """Put every command on the application."""
    app.command("demo")(demo.demo)
    app.command("init")(init.init)
    app.command("validate")(validate.validate)
    app.command("plan")(plan.plan)
    app.command("simulate")(simulate.simulate)
    app.command("run")(run.run)
    app.command("get")(get.get)
    app.command("describe")(get.describe)
    app.command("explain")(explain.explain)
    app.command("render")(render.render)
    app.command("schema")(schema.schema)
