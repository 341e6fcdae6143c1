#!/usr/bin/env python3
"""The preprocessor and the check of the book (book.toml).

    mdbook build                mdBook calls this program with the pages on standard input
    .ci/book.py check BOOK      fails if a link of the built book leads nowhere; BOOK/../doc has the documentation of the crate

The pages are written for rustdoc. In the book a link such as `crate::runs::Program` leads to the item's page of the crate's
documentation, whose kind tests/public_api.txt has, and a page of an attribute, which has no title, gets the title of its chapter.
"""

import html.parser
import json
import pathlib
import re
import sys
import urllib.parse

ITEMS = pathlib.Path(__file__).parent.parent / "tests/public_api.txt"
# The documentation, from the root of the book.
DOCUMENTATION = "../doc/dsrs_metrics/"
# The modules in which rustdoc looks for a name, as the crate's root imports them for its documentation.
SCOPES = ["", "contract::", "optimizers::", "rows::", "runs::"]
LINK = re.compile(r"(?<=\])\((?:(?:macro|derive|trait|struct|fn|mod)@)?((?:crate::)?[A-Za-z_][\w:]*)(#[\w-]+)?\)")
SHORTCUT = re.compile(r"\[`([A-Z][\w:]*)`\](?![(\[:])")


def items():
    """The kinds of the public items by their paths."""
    found = {}
    for line in ITEMS.read_text().splitlines():
        item = re.fullmatch(r"([\w:]+) \((\w+)\)", line)
        if item:
            # A derive macro and its trait have one name.
            found.setdefault(item[1], item[2])
    return found


def address(path, kinds):
    """The page of an item, of a module, or of a member of an item, from the folder of the crate."""
    for scope in SCOPES:
        parts = (scope + path.removeprefix("crate::")).split("::")
        name, owner = "::".join(parts), "::".join(parts[:-1])
        if name in kinds:
            return "/".join([*parts[:-1], f"{kinds[name]}.{parts[-1]}.html"])
        if any(item.startswith(f"{name}::") for item in kinds):
            return "/".join([*parts, "index.html"])
        if owner in kinds:
            kind = "variant" if kinds[owner] == "enum" and parts[-1][0].isupper() else "method"
            return f"{address(owner, kinds)}#{kind}.{parts[-1]}"
    raise LookupError(f"no public item `{path}`; correct the link, or record tests/public_api.txt anew")


def demoted(prose, name):
    """A page of an attribute has no title, or several: they become headings below one title."""
    titles = sum(len(re.findall(r"^# ", text, re.MULTILINE)) for text in prose)
    has_title = prose[0].lstrip().startswith("# ")
    if has_title and titles == 1:
        return prose
    first, *rest = [re.sub(r"^#", "##", text, flags=re.MULTILINE) for text in prose]
    return [first.replace("##", "#", 1) if has_title else f"# {name}\n\n{first}", *rest]


def rewritten(chapter, kinds):
    """The text of a chapter, in which code is left as it is."""
    up = "../" * chapter["path"].count("/")
    # Code is every second piece.
    pieces = re.split(r"(^```.*?^```$)", chapter["content"], flags=re.MULTILINE | re.DOTALL)
    pieces[::2] = demoted(pieces[::2], chapter["name"])

    def linked(text):
        # The pages of the guide in the crate's documentation are chapters.
        text = re.sub(r"\]\(crate::guide::(\w+)\)", rf"]({up}guide/\1.md)", text)
        item = lambda link: up + DOCUMENTATION + address(link[1], kinds)
        text = LINK.sub(lambda link: f"({item(link)}{link[2] or ''})", text)
        return SHORTCUT.sub(lambda link: f"[`{link[1]}`]({item(link)})", text)

    pieces[::2] = [linked(text) for text in pieces[::2]]
    return "".join(pieces)


def preprocess():
    _, book = json.load(sys.stdin)
    kinds = items()

    def visit(entries):
        for entry in entries:
            if isinstance(entry, dict) and "Chapter" in entry:
                chapter = entry["Chapter"]
                try:
                    chapter["content"] = rewritten(chapter, kinds)
                except LookupError as error:
                    sys.exit(f"{chapter['path']}: {error}")
                visit(chapter["sub_items"])

    visit(book["items" if "items" in book else "sections"])
    json.dump(book, sys.stdout)


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, _, attributes):
        attributes = dict(attributes)
        self.ids.add(attributes.get("id"))
        self.links += [attributes[name] for name in ("href", "src") if attributes.get(name)]


def check(book):
    read, wrong, checked = {}, [], 0
    if not (book / DOCUMENTATION).is_dir():
        sys.exit(f"no documentation of the crate in {book.parent}/doc; run `.ci/run book`")

    def page(path):
        if path not in read:
            read[path] = Page(path.read_text()) if path.suffix == ".html" else None
        return read[path]

    # Links of the page of a web server for unknown addresses begin at the root of the site.
    for path in sorted(set(book.rglob("*.html")) - {book / "404.html"}):
        for link in page(path).links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            checked += 1
            if not target.is_file():
                wrong.append(f"{path.relative_to(book)}: no file {link}")
            elif parts.fragment and page(target) and urllib.parse.unquote(parts.fragment) not in page(target).ids:
                wrong.append(f"{path.relative_to(book)}: no heading {link}")
        text = re.sub(r"<(pre|script)\b.*?</\1>", "", path.read_text(), flags=re.DOTALL)
        for unread in re.findall(r"\[<code[^>]*>[^<]*</code>\]|(?<!#)\[[a-z_]+\]|\]\([\w:.#/]*\)", re.sub(r"(?<!\[)<code.*?</code>", "", text)):
            wrong.append(f"{path.relative_to(book)}: a link without an address {unread}")
    if wrong or not checked:
        sys.exit("\n".join([*wrong, f"{len(wrong)} of {checked} links are dead; correct the pages"]))
    print(f"{checked} links lead to a file and a heading")


if __name__ == "__main__":
    if sys.argv[1:2] == ["supports"]:
        sys.exit(0)
    if sys.argv[1:2] == ["check"]:
        check(pathlib.Path(sys.argv[2]).resolve())
    else:
        preprocess()
