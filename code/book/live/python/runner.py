"""Runs what a reader wrote in the page, and then the page's check, inside the worker."""

from __future__ import annotations

import ast
import json
import linecache
import sys
import traceback
from typing import Any

from mtp.checking import STYLE

NAME = "<your code>"
CHECK = "<check>"


def run(source: str, check: str) -> str:
    """Run `source`, then `check`; its last expression is the result.

    Returns:
        JSON: `html` of the result, or `error`, the traceback of the reader's own code, with the `line` it points at (or null).
    """
    # Where tracebacks look for the lines of what has no file; without a time such an entry stays.
    linecache.cache[NAME] = (len(source), None, source.splitlines(True), NAME)
    scope: dict[str, Any] = {"__name__": "__main__"}
    try:
        exec(compile(source, NAME, "exec"), scope)
        result = _last_value(check, scope)
    except BaseException as error:
        return json.dumps(_failure(error))
    finally:
        # A last line without an end would wait for the next run.
        sys.stdout.flush()
        sys.stderr.flush()
    html = result._repr_html_() if hasattr(result, "_repr_html_") else None
    # The page's style sheet has the rules of the report.
    return json.dumps({"html": html.replace(STYLE, "") if html else None, "text": None if html else repr(result)})


def _last_value(source: str, scope: dict[str, Any]) -> Any:
    tree = ast.parse(source, CHECK)
    last = tree.body.pop()
    exec(compile(tree, CHECK, "exec"), scope)
    return eval(compile(ast.Expression(last.value), CHECK, "eval"), scope)


def _failure(error: BaseException) -> dict[str, Any]:
    trace = traceback.TracebackException.from_exception(error)
    frames = [place for place, frame in enumerate(trace.stack) if frame.filename == NAME]
    # Our own frames stand before the reader's, and are none of the reader's business.
    trace.stack[:] = trace.stack[frames[0] :] if frames else []
    line = trace.stack[frames[-1] - frames[0]].lineno if frames else None
    if isinstance(error, SyntaxError) and error.filename == NAME:
        line = error.lineno
    return {"error": "".join(trace.format()).rstrip(), "line": line}
