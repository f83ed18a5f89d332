"""Where a page can be launched: addresses of Binder, ModelScope and Colab, and of the files to download."""

from __future__ import annotations

from dataclasses import dataclass

from .notebooks import FOLDER
from .tree import Publication


@dataclass(frozen=True)
class Launch:
    """A way to run a page.

    `key` is `"binder"`, `"modelscope"`, `"colab"`, `"ipynb"` or `"md"`; `file` is the path on the site branch that it opens;
    `url` is absolute for services, relative to the page for downloads.
    """

    key: str
    url: str
    file: str


def launches(publication: Publication, language: str, page: str) -> list[Launch]:
    """Return all ways to run `page`; without a public repository only the downloads."""
    notebook = f"{language}/{FOLDER}/{page}.ipynb"
    source = f"{language}/{FOLDER}/{page}.md"
    downloads = [Launch("ipynb", f"{FOLDER}/{page}.ipynb", notebook), Launch("md", f"{FOLDER}/{page}.md", source)]
    if not publication.repository:
        return downloads
    blob = f"github/{publication.repository}/blob/{publication.site_branch}/{notebook}"
    binder = f"https://mybinder.org/v2/gh/{publication.repository}/{publication.site_branch}?urlpath=lab/tree/{notebook}"
    services = [
        Launch("binder", binder, notebook),
        Launch("modelscope", f"https://modelscope.cn/notebook/share/{blob}", notebook),
        Launch("colab", f"https://colab.research.google.com/{blob}", notebook),
    ]
    return services + downloads
