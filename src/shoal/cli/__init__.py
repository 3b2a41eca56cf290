"""The command line: a thin skin. Data goes to stdout, talk and progress to stderr."""

import sys


def main() -> None:
    """Run a command; the user's mistakes get one sentence and exit code 2."""
    from shoal.cli.app import app
    from shoal.errors import ShoalError

    try:
        app()
    except ShoalError as error:
        print(f"shoal: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("shoal: stopped; nothing was written.", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # the reader of stdout has left
        sys.stderr.close()
        sys.exit(0)
    except MemoryError:
        print("shoal: out of memory. Use fewer rows or columns, or a method made for large tables such as mdav-large.", file=sys.stderr)
        sys.exit(2)
