"""`python -m primer.cli`."""

from primer.cli.main import main

main()
