"""The command line: Typer commands, thin; all work is done by `curation`."""


def start() -> None:
    """The `primer` command. What it needs is imported here: processes that it spawns import its first module again."""
    from primer.cli.main import main

    main()
