"""The command line: Typer commands, thin; all work is done by `curation`."""
