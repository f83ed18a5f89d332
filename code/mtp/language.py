"""The language in which reports and figures speak. A page sets it once; otherwise the locale decides."""

from __future__ import annotations

import locale
import os

LANGUAGES = ("zh", "en")
_chosen: str | None = None


def set_language(language: str) -> None:
    """Choose `"zh"` or `"en"` for all that follows. Anything else raises `ValueError`."""
    global _chosen
    _chosen = check_language(language)


def get_language() -> str:
    """Return the chosen language, or the one that the locale suggests (English unless it is Chinese)."""
    if _chosen is not None:
        return _chosen
    names = [os.environ.get(name, "") for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")]
    names.append(locale.getlocale()[0] or "")
    first = next(filter(None, names), "")
    return "zh" if first.lower().startswith(("zh", "chinese")) else "en"


def check_language(language: str | None) -> str:
    """Return `language`, or the current one for None; `ValueError` for what the book does not speak."""
    if language is None:
        return get_language()
    if language not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(map(repr, LANGUAGES))}, not {language!r}")
    return language
