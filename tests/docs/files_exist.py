"""Fails when README.md or a page in docs/ names a file, a folder or a make target that is not there.

    files_exist.py CHECKOUT

Checked are links ([text](path), <img src="path">) and what stands in `code` and looks like a path of
the checkout: its first folder is one that the checkout has. Places that commands make
(build/, runs/, .cache/) are not checked.
"""

import re
import sys
from pathlib import Path

LINK = re.compile(r'\]\(([^)#\s]+)[^)]*\)|src="([^"#]+)"')
CODE = re.compile(r"`([^`\n]+)`")
BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
PATH = re.compile(r"(?<![\w./<$-])([\w.-]+/[\w./-]*[\w/-])(?![\w*<{])")
MADE_BY_COMMANDS = ("build/", "runs/", ".cache/")


def paths_in_code(text: str) -> set[str]:
    code = " ".join(CODE.findall(BLOCK.sub("", text))) + "\n" + "\n".join(BLOCK.findall(text))
    return {path for path in PATH.findall(code) if not path.startswith(MADE_BY_COMMANDS)}


def missing(page: Path, root: Path, targets: set[str]) -> list[str]:
    text = page.read_text(encoding="utf-8")
    found = []
    for link in (first or second for first, second in LINK.findall(text)):
        if "://" not in link and not (page.parent / link).exists():
            found.append(f"link to {link}")
    folders = {entry.name for entry in root.iterdir() if entry.is_dir()}
    for path in paths_in_code(text):
        if path.split("/")[0] in folders and not (root / path).exists():
            found.append(path)
    for target in re.findall(r"(?:`|^)make ([a-z]+)", text, re.MULTILINE):
        if target not in targets:
            found.append(f"make {target}")
    return [f"{page.relative_to(root)}: names {what}, which is not there" for what in sorted(found)]


def main() -> None:
    root = Path(sys.argv[1])
    targets = set(re.findall(r"^([a-z]+):", (root / "Makefile").read_text(), re.MULTILINE))
    pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    problems = [problem for page in pages for problem in missing(page, root, targets)]
    if problems:
        sys.exit("\n".join(problems))
    print(f"{len(pages)} pages checked")


if __name__ == "__main__":
    main()
