"""MkDocs hooks: add CONTRIBUTING.md as a page, and rewrite links that leave docs/.

In a checkout such links work as they are. On the site they lead to the repository where `repo_url` is set, and become plain text
otherwise.
"""

import re
from pathlib import Path
from posixpath import dirname, join, normpath, relpath
from typing import Any

from mkdocs.structure.files import File, Files

CONTRIBUTING = Path(__file__).resolve().parents[1] / "CONTRIBUTING.md"
PAGE_OF_IT = "contributing.md"
LINK = re.compile(r"\[([^\]\n]*)\]\(([^)\s:#]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add CONTRIBUTING.md, which is at the root of the repository."""
    files.append(File.generated(config, PAGE_OF_IT, content=CONTRIBUTING.read_text()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:  # noqa: ARG001  # MkDocs passes it by name
    """Return `markdown` with every link as the site needs it."""
    source = page.file.src_uri
    folder = "" if source == PAGE_OF_IT else dirname(join("docs", source))

    def rewritten(link: re.Match[str]) -> str:
        text, target, anchor = link[1], normpath(join(folder, link[2])), link[3] or ""
        if target == CONTRIBUTING.name:
            target = join("docs", PAGE_OF_IT)
        if target.startswith("docs/"):
            return f"[{text}]({relpath(target, dirname(join('docs', source)))}{anchor})"
        if config.repo_url:
            return f"[{text}]({config.repo_url.rstrip('/')}/blob/main/{target}{anchor})"
        return text if text.strip("`") == target.removesuffix("/README.md") else f"{text} (`{target}`)"

    return LINK.sub(rewritten, markdown)
