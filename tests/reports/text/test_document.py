"""Reports from Markdown templates: escaping, wrapping, and the page."""

from __future__ import annotations

import pytest
from jinja2 import Environment, UndefinedError

from reconbench.reports.text import document
from reconbench.reports.text.document import (
    Figure,
    list_first_items,
    render_markdown,
    render_page,
)
from reconbench.reports.text.templates import markdown_template

TEMPLATE = """\
# About {{ name }}

{% for figure in figures %}
## {{ figure.title }}

{{ figure.caption }}

{% endfor %}
## Found

1. First {{ name }},
   over two lines.
2. Second.

Then **this**:

{{ header(["name", "value"]) }}
{{ row([name, 0.5]) }}
{{ row([name, 1], true) }}

### More

Folded {{ name }}.
"""
HOSTILE = [
    "<script>alert(1)</script>",
    "[a](javascript:alert(1))",
    "**b** _c_ `d` | e",
    "&lt;i&gt; \\",
    "# x\n\n## y\n\n- z",
]


@pytest.fixture(autouse=True)
def template(monkeypatch: pytest.MonkeyPatch) -> None:
    environment: Environment = markdown_template("compare.md").environment
    made = environment.from_string(TEMPLATE)
    monkeypatch.setattr(document, "markdown_template", lambda name: made)


def test_markdown_joins_and_wraps_lines_but_not_tables() -> None:
    text = render_markdown("t", {"name": "word " * 40})
    lines = text.splitlines()
    assert max(len(line) for line in lines if line[:1] not in "|#") <= 100
    assert "   word word" in text  # the second line of an item is indented
    assert lines[-1].startswith("Folded") or lines[-1].startswith("word")
    assert "| --- | ---: |" in lines
    assert "**1** |" in text and "\n\n\n" not in text and text.endswith("\n")


def test_the_first_list_is_the_summary() -> None:
    text = render_markdown("t", {"name": "a_b & c " + "word " * 30})
    first, second = list_first_items(text)
    assert first.startswith("First a_b & c word") and first.endswith(", over two lines.")
    assert second == "Second."
    assert list_first_items("no list\n") == []


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_text_in_both(name: str) -> None:
    plain = render_page("t", {"name": "n"})
    page = render_page("t", {"name": name})
    for sign in ("<h", "<p", "<li", "<td", "<strong", "<em", "<a", "<code", "<script", "<details"):
        assert page.count(sign) == plain.count(sign), sign
    markdown = render_markdown("t", {"name": name})
    assert markdown.count("\n#") == render_markdown("t", {"name": "n"}).count("\n#")
    assert "<script" not in markdown and "](" not in markdown and "`" not in markdown


def test_the_page_has_a_card_per_section_and_figures_in_theirs() -> None:
    figure = Figure("A & B", "What it shows.", "<svg><text>drawn</text></svg>")
    page = render_page("t", {"name": "n"}, [figure])
    assert page.count('<section class="card">') == 2
    assert page.index("A &amp; B") < page.index("What it shows") < page.index("drawn")
    assert page.index("drawn") < page.index("Found")
    assert "<summary>More</summary>" in page and page.count("<details>") == 1
    assert "<h1>About n</h1>" in page and "<title>About n</title>" in page
    assert '<td style="text-align:right"><strong>1</strong></td>' in page
    assert "drawn" not in render_markdown("t", {"name": "n"})


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="name"):
        render_markdown("t", {})
