"""Notebooks of the site: run once, kept, and turned into pages."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode, v4

from generate.site_build.notebook_page import write_notebook_page
from generate.site_build.notebooks import NotebookError, execute_notebooks

SCRIPT = """# %% [markdown]
# # Title
# See [ceilings](../ceilings.md).

# %%
import os, pandas
open("left.txt", "w").close()
print("a `b`", os.path.exists("left.txt"))

# %%
pandas.DataFrame({"value": [1.5]})
"""


def notebook(*outputs: NotebookNode, **metadata: str) -> NotebookNode:
    code = v4.new_code_cell("draw()", outputs=list(outputs), metadata=metadata)
    return v4.new_notebook(cells=[v4.new_markdown_cell("# Title"), code])


def display(**data: str) -> NotebookNode:
    kinds = {"svg": "image/svg+xml", "html": "text/html", "text": "text/plain"}
    return v4.new_output("display_data", data={kinds[name]: text for name, text in data.items()})


def test_a_script_is_run_once_and_kept(tmp_path: Path) -> None:
    script, cache = tmp_path / "one.py", tmp_path / "cache"
    script.write_text(SCRIPT, encoding="utf-8")
    page = write_notebook_page("one", execute_notebooks([script], cache)["one"])
    assert page.markdown.startswith("# Title\n\n*This page is a notebook")
    assert "a `b` True" in page.markdown and "<td>1.5</td>" in page.markdown
    assert "See ceilings." in str(page.files["one.ipynb"])
    assert not Path("left.txt").exists()
    (kept,) = cache.iterdir()
    kept.write_text(nbformat.writes(notebook()), encoding="utf-8")
    assert len(execute_notebooks([script], cache)["one"].cells) == 2
    script.write_text(SCRIPT.replace("1.5", "2.5").replace("import os", "import os, sys"))
    assert (
        "<td>2.5</td>"
        in write_notebook_page("one", execute_notebooks([script], cache)["one"]).markdown
    )
    assert len(list(cache.iterdir())) == 1


def test_an_error_in_a_cell_is_an_error(tmp_path: Path) -> None:
    script = tmp_path / "bad.py"
    script.write_text("# %%\nepsilon = 0\n1 / epsilon\n", encoding="utf-8")
    with pytest.raises(NotebookError, match=r"bad\.py.*\n(.*\n)*.*ZeroDivisionError"):
        execute_notebooks([script], tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_figures_are_files_with_a_description() -> None:
    drawn = display(svg="<svg/>", html="<div>no</div>", text="chart")
    page = write_notebook_page("game", notebook(drawn, drawn, alt="Two curves"))
    assert page.markdown.count("![Two curves](game-1.svg)") == 1
    assert "![Two curves](game-2.svg)" in page.markdown
    assert page.files["game-1.svg"] == "<svg/>"
    with pytest.raises(NotebookError, match=r"game\.py draws a figure in the cell 'draw\(\)'"):
        write_notebook_page("game", notebook(drawn))


def test_tables_have_the_style_of_the_site() -> None:
    table = (
        '<div>\n<style scoped>.x {}</style>\n<table border="1" class="dataframe">\n'
        '<tr style="text-align: right;"><td>1</td></tr>\n\n</table>\n</div>'
    )
    text = write_notebook_page("game", notebook(display(html=table, text="1"))).markdown
    assert '<div class="output">\n<div>\n<table>\n<tr><td>1</td></tr>\n</table>' in text


def test_a_fence_holds_any_text() -> None:
    text = write_notebook_page("game", notebook(display(text="```"))).markdown
    assert "```` { .text .output }\n```\n````" in text
