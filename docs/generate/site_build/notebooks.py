"""Run the notebooks of docs/notebooks, and keep what came out until they or the code change.

A notebook is a script in jupytext's percent format, so that it can be reviewed line by line. An
error in a cell is an error of the build.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from traitlets.config import Config

from generate.site_build.api_reference import API_PAGES
from reconbench.benchmarks.store.source_code import hash_folders, hash_text
from reconbench.datasets.atomic_files import write_atomic

SECONDS = 300
PROGRESS = re.compile(r"^[\w ]+: \d+ of \d+.*\n?", re.MULTILINE)
log = logging.getLogger("mkdocs.plugins.notebooks")


class NotebookError(Exception):
    """A cell that raised, with its traceback."""


def execute_notebooks(scripts: Sequence[Path], cache: Path) -> dict[str, NotebookNode]:
    """The executed notebooks by name, taken from the cache if nothing changed."""
    cache.mkdir(parents=True, exist_ok=True)
    code = hash_folders(page.package for page in API_PAGES)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        notebooks = pool.map(lambda script: _execute_cached(script, cache, code), scripts)
        return {script.stem: notebook for script, notebook in zip(scripts, notebooks, strict=True)}


def _execute_cached(script: Path, cache: Path, code: str) -> NotebookNode:
    source = script.read_text(encoding="utf-8")
    key = hash_text(json.dumps([source, code, platform.python_version()]))[:16]
    kept = cache / f"{script.stem}-{key}.ipynb"
    if not kept.exists():
        started = time.perf_counter()
        notebook = execute_notebook(source, script.name)
        for stale in cache.glob(f"{script.stem}-*.ipynb"):
            stale.unlink()
        write_atomic(kept, nbformat.writes(notebook))
        log.info("ran %s in %.0f s", script.name, time.perf_counter() - started)
    return nbformat.read(kept, as_version=4)


def execute_notebook(source: str, name: str) -> NotebookNode:
    """A script as a notebook with the outputs of its cells; files that it writes are not kept."""
    notebook = jupytext.reads(source, fmt="py:percent")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as sockets:
        connection = {"transport": "ipc", "ip": str(Path(sockets, "kernel"))}
        client = NotebookClient(
            notebook,
            timeout=SECONDS,
            kernel_name="python3",
            record_timing=False,
            resources={"metadata": {"path": folder}},
            config=Config({"ConnectionFileMixin": connection}),
        )
        try:
            client.execute()
        except CellExecutionError as error:
            raise NotebookError(f"{name}: {_without_colours(str(error))}") from None
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = list(_drop_progress(cell.outputs))
    return notebook


def _drop_progress(outputs: Sequence[NotebookNode]) -> Iterator[NotebookNode]:
    """Outputs without the lines that say how far a run is; warnings stay."""
    for output in outputs:
        if output.output_type == "stream" and output.name == "stderr":
            output.text = PROGRESS.sub("", output.text)
        if output.get("text") != "":
            yield output


def _without_colours(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)
