"""The command line: a thin skin. Data goes to stdout, talk and progress to stderr."""

import os
import signal
import sys
import threading
from typing import Any

from shoal.unfinished import ask_to_stop, nobody_asked


def main() -> None:
    """Run a command; the user's mistakes get one sentence and exit code 2, shoal's own a sentence with a code and exit code 3."""
    _open_what_is_closed()
    _stop_as_by_ctrl_c()
    try:
        _main()
    except KeyboardInterrupt:  # also while modules are loaded
        _stop("stopped; nothing is left half-written.", 128 + _stopped_by[-1])


def _main() -> None:
    import typer

    from shoal.cli.app import app
    from shoal.cli.stderr import only_our_words
    from shoal.errors import ShoalError

    # Typer carries click under different names in different versions; what it exports leads to the rest.
    wrong_words: Any = next(cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "ClickException")
    try:
        with only_our_words():
            code = app(sys.argv[1:] or ["--help"], standalone_mode=False) or 0
        if code == 130:  # Typer turns Ctrl-C into this code
            raise KeyboardInterrupt
        sys.stdout.flush()
        sys.exit(code)
    except ShoalError as error:
        _stop(str(error), 2)
    except wrong_words as error:
        said = error.format_message()
        _stop(f"{said if said.endswith(('.', '?')) else said + '.'} `shoal --help` and `shoal VERB --help` say what can be typed.", 2)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except BrokenPipeError:  # the reader of stdout has left
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:  # without strerror it is a library's, and its message may quote what it read
        what = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else "the output"
        _stop(f"{what} could not be read or written: {error.strerror or 'the system does not say why'}.", 2)
    except MemoryError:
        _stop("out of memory. Use fewer documents, rows or columns, or, for a large table, a method made for it such as mdav-large.", 2)
    except Exception as error:
        _stop_unforeseen(error)


def _open_what_is_closed() -> None:
    """Whoever closes a stream, as with >&-, wants nothing on it; without one Python has no stream at all."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - as long as the program


_stopped_by = [int(signal.SIGINT)]  # what the shell is told, as 128 and the signal's number: Ctrl-C, unless another came


def _stop_as_by_ctrl_c() -> None:
    """SIGTERM, and SIGHUP where nohup did not say otherwise, end a run as Ctrl-C does: what was begun is removed."""

    def stop(number: int, _frame: object) -> None:
        for other in others:
            signal.signal(other, signal.SIG_IGN)  # the removing is not stopped by the next
        _stopped_by.append(number)
        ask_to_stop()
        raise KeyboardInterrupt

    nobody_asked()
    others = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    others = [one for one in others if signal.getsignal(one) == signal.SIG_DFL]
    if threading.current_thread() is threading.main_thread():
        for one in others:
            signal.signal(one, stop)


def _stop(sentence: str, code: int) -> None:
    from shoal.cli.stderr import visible

    print(f"shoal: {visible(sentence)}", file=sys.stderr)
    sys.exit(code)


def _stop_unforeseen(error: Exception) -> None:
    """One sentence with a code, exit code 3; the whole of it only for whoever asks, since a traceback may hold cells."""
    from shoal.cli.stderr import debugging, known_words
    from shoal.unforeseen import unforeseen

    if debugging():
        import traceback

        traceback.print_exception(error)
    _stop(unforeseen(error, known_words(sys.argv[1:])).sentence, 3)
