"""Events of mkdocs: add the generated pages, and check that the site needs no other host."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

# mkdocs loads this file by its path.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from generate.site_build.api_reference import write_api_pages
from generate.site_build.cli_reference import write_cli_page
from generate.site_build.notebook_page import write_notebook_page
from generate.site_build.notebooks import NotebookError, execute_notebooks
from generate.site_build.offline import find_remote_sources

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = sorted((ROOT / "docs" / "notebooks").glob("*.py"))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that follow from code, and the notebooks."""
    pages: dict[str, str | bytes] = {
        f"reference/{name}.md": text for name, text in write_api_pages().items()
    }
    pages["reference/cli.md"] = write_cli_page()
    pages["changelog.md"] = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    try:
        for name, notebook in execute_notebooks(SCRIPTS, ROOT / "build" / "notebooks").items():
            page = write_notebook_page(name, notebook)
            pages[f"notebooks/{name}.md"] = page.markdown
            pages |= {f"notebooks/{file}": content for file, content in page.files.items()}
    except NotebookError as error:
        raise PluginError(str(error)) from None
    for path, content in pages.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links that work in the repository lead to where their targets are on the site."""
    if page.is_homepage:
        page.meta["hide"] = ["navigation"]
    if page.file.src_uri == "changelog.md":
        markdown = markdown.replace("](docs/", "](")
    names = "|".join(script.stem for script in SCRIPTS)
    markdown = markdown.replace("](../CHANGELOG.md", "](changelog.md")
    return re.sub(rf"(\]\((?:\.\./)?(?:notebooks/)?(?:{names}))\.py\b", r"\1.md", markdown)


def on_post_build(config: MkDocsConfig) -> None:
    """Refuse a site that would load anything from another host."""
    remote = find_remote_sources(Path(config.site_dir))
    if remote:
        raise PluginError("the site must work offline; these are loaded: " + "; ".join(remote))
