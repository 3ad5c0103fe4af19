"""An executed notebook as a page: text, code and outputs in Markdown, figures as files."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import nbformat
from nbformat import NotebookNode

from generate.site_build.notebooks import NotebookError


@dataclass
class NotebookPage:
    """A page, and the files beside it by name."""

    name: str
    markdown: str = ""
    files: dict[str, str | bytes] = field(default_factory=dict)


def write_notebook_page(name: str, notebook: NotebookNode) -> NotebookPage:
    """The page of an executed notebook, with the notebook itself to download."""
    page = NotebookPage(name)
    download = f"{name}.ipynb"
    note = (
        f"*This page is a notebook, run when the site was built: [download it]({download}) with "
        "its outputs.*"
    )
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        elif cell.source.strip():
            parts.append(_fence(cell.source, "python"))
            parts += _write_outputs(cell, page)
    title, _, text = "\n\n".join(parts).partition("\n")
    page.markdown = f"{title}\n\n{note}\n\n{text.strip()}\n"
    page.files[download] = nbformat.writes(_detach_links(notebook))
    return page


def _write_outputs(cell: NotebookNode, page: NotebookPage) -> Iterator[str]:
    for output in cell.outputs:
        if output.output_type == "stream":
            yield _fence(output.text.rstrip("\n"), "text", "output")
        elif "image/svg+xml" in output.data:
            yield _write_figure(output.data["image/svg+xml"], "svg", cell, page)
        elif "image/png" in output.data:
            content = base64.b64decode(output.data["image/png"])
            yield _write_figure(content, "png", cell, page)
        elif "text/markdown" in output.data:
            yield output.data["text/markdown"]
        elif "text/html" in output.data:
            yield f'<div class="output">\n{_plain_table(output.data["text/html"])}\n</div>'
        else:
            yield _fence(output.data["text/plain"], "text", "output")


def _write_figure(content: str | bytes, suffix: str, cell: NotebookNode, page: NotebookPage) -> str:
    """A figure as a file of its own; what it shows stands in the marker of the cell."""
    if "alt" not in cell.metadata:
        line = cell.source.partition("\n")[0]
        raise NotebookError(
            f'{page.name}.py draws a figure in the cell {line!r}: describe it, # %% alt="..."'
        )
    file = f"{page.name}-{sum(not each.endswith('ipynb') for each in page.files) + 1}.{suffix}"
    page.files[file] = content
    return f"![{cell.metadata['alt']}]({file})"


def _fence(text: str, *classes: str) -> str:
    marks = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
    return f"{marks} {{ {' '.join(f'.{name}' for name in classes)} }}\n{text}\n{marks}"


def _plain_table(html: str) -> str:
    """A table of pandas without a style of its own; a blank line would end the HTML."""
    html = re.sub(r"<style.*?</style>", "", html, flags=re.DOTALL)
    html = re.sub(r'<table [^>]*class="dataframe"[^>]*>', "<table>", html)
    html = html.replace(' style="text-align: right;"', "")
    return re.sub(r"\n\s*\n", "\n", html).strip()


def _detach_links(notebook: NotebookNode) -> NotebookNode:
    """A copy whose links to pages of the site are plain words: it is read elsewhere."""
    copy: NotebookNode = nbformat.from_dict(notebook)
    for cell in copy.cells:
        if cell.cell_type == "markdown":
            cell.source = re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", cell.source)
    return copy
