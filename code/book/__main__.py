"""Command line of the book: `python -m book build | serve | check | notebooks | links | bench-site | clean`."""

from __future__ import annotations

import argparse
import sys

from .tree import BookError, Tree


def build(tree: Tree, options: argparse.Namespace) -> int:
    from .build import build_book

    build_book(tree, hurry=options.hurry)
    return 0


def serve(tree: Tree, options: argparse.Namespace) -> int:
    from .serve import serve_book

    serve_book(tree, options.host, options.port)
    return 0


def check(tree: Tree, options: argparse.Namespace) -> int:
    from .checks import run_checks

    findings = run_checks(tree.root)
    for finding in findings:
        print(finding)
    print(f"{len(findings)} finding{'' if len(findings) == 1 else 's'} in {len(tree.pages)} pages of each language")
    return 1 if findings else 0


def notebooks(tree: Tree, options: argparse.Namespace) -> int:
    from .notebooks import write_notebooks

    for path in write_notebooks(tree):
        print(path.relative_to(tree.root))
    return 0


def links(tree: Tree, options: argparse.Namespace) -> int:
    from .outside import check_outside

    check_outside(tree)
    return 0


def bench_site(tree: Tree, options: argparse.Namespace) -> int:
    from .bench_site import bench_site

    bench_site(tree)
    return 0


def clean(tree: Tree, options: argparse.Namespace) -> int:
    import shutil

    shutil.rmtree(tree.build_dir, ignore_errors=True)
    print(f"removed {tree.build_dir.name}/")
    return 0


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m book", description="Build, serve and check the book of the current directory.")
    commands = top.add_subparsers(dest="command", required=True, metavar="command")

    def add(function, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(function.__name__.replace("_", "-"), help=text, description=text)
        command.set_defaults(function=function)
        return command

    builder = add(build, "execute all cells and build both languages into _build/site/")
    builder.add_argument("--hurry", action="store_true", help="leave the EPUB and the PDF as they are")
    server = add(serve, "build, serve both languages, rebuild and reload on save")
    server.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    server.add_argument("--port", type=int, default=8000, help="port to listen on (default: %(default)s)")
    add(check, "compare the two languages and check the sources, without executing anything")
    add(notebooks, "write the notebooks that learners launch into _build/site/<language>/notebooks/")
    add(links, "ask for every address outside the book that the pages link to (needs the network)")
    add(bench_site, "measure the site beside a default Jupyter Book of the same chapters")
    add(clean, "remove everything that was built")
    return top


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    try:
        return options.function(Tree.here(), options)
    except BookError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
