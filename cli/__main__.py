"""`python -m primer.cli`."""

from primer.cli import start

if __name__ == "__main__":
    start()
