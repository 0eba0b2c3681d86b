"""What MkDocs does not do by itself: CONTRIBUTING.md is a page, and links that leave docs/ lead to the repository.

In the repository such links work as they stand.
"""

import re
from pathlib import Path
from posixpath import dirname, join, normpath, relpath
from typing import Any

from mkdocs.structure.files import File, Files

CONTRIBUTING = Path(__file__).resolve().parents[1] / "CONTRIBUTING.md"
PAGE_OF_IT = "contributing.md"
LINK = re.compile(r"\]\(([^)\s:#]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add CONTRIBUTING.md, which stands at the root, where people look for it."""
    files.append(File.generated(config, PAGE_OF_IT, content=CONTRIBUTING.read_text()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:  # noqa: ARG001  # MkDocs passes it by name
    """Return `markdown` with every link as the site needs it."""
    source = page.file.src_uri
    folder = "" if source == PAGE_OF_IT else dirname(join("docs", source))

    def led(found: re.Match[str]) -> str:
        target, anchor = normpath(join(folder, found[1])), found[2] or ""
        if target == CONTRIBUTING.name:
            target = join("docs", PAGE_OF_IT)
        if target.startswith("docs/"):
            return f"]({relpath(target, dirname(join('docs', source)))}{anchor})"
        return f"]({config.repo_url.rstrip('/')}/blob/main/{target}{anchor})"

    return LINK.sub(led, markdown)
