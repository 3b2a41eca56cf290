"""The command line: a thin skin. Data goes to stdout, talk and progress to stderr."""

import sys
from typing import Any


def main() -> None:
    """Run a command; the user's mistakes get one sentence and exit code 2."""
    import typer

    from shoal.cli.app import app
    from shoal.errors import ShoalError

    # Typer carries click under different names in different versions; what it exports leads to the rest.
    wrong_words: Any = next(cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "ClickException")
    try:
        code = app(sys.argv[1:] or ["--help"], standalone_mode=False) or 0
        if code == 130:  # Typer turns Ctrl-C into this code
            raise KeyboardInterrupt
        sys.stdout.flush()
        sys.exit(code)
    except ShoalError as error:
        _stop(str(error), 2)
    except wrong_words as error:
        _stop(f"{error.format_message().rstrip('.')}. `shoal --help` and `shoal VERB --help` say what can be typed.", 2)
    except (KeyboardInterrupt, typer.Abort):
        _stop("stopped; nothing was written.", 130)
    except BrokenPipeError:  # the reader of stdout has left
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        _stop(f"{error.filename or 'the output'} could not be read or written: {error.strerror or error}.", 2)
    except MemoryError:
        _stop("out of memory. Use fewer rows or columns, or a method made for large tables such as mdav-large.", 2)


def _stop(sentence: str, code: int) -> None:
    print(f"shoal: {sentence}", file=sys.stderr)
    sys.exit(code)
