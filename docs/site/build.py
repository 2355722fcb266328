"""The user guide as a site: pages with contents, search, formulas as MathML, and the Python reference from docstrings.

python docs/site/build.py FOLDER    (needs markdown-it-py, mdit-py-plugins, latex2mathml and pygments)

Works without a network and from a folder of files. Every link is checked: a page, heading or file that is not there is an
error, and nothing is written.
"""

import html
import json
import re
import sys
from pathlib import Path

import reference
from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
#: Pages outside `docs` that the guide links to.
OTHER = ["CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "README.md", "bench/README.md"]
OTHER += ["bench/peers/README.md", "bench/scoringbench/README.md"]
REFERENCE = "docs/python-reference.md"


def slug(text, taken):
    """The anchor of a heading, as GitHub makes it; a number after it where it is there already."""
    name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
    taken[name] = taken.get(name, -1) + 1
    return f"{name}-{taken[name]}" if taken[name] else name


def math(content, options):
    return convert(content, display="block" if options["display_mode"] else "inline")


def code(content, language, _attributes):
    names = {"sh": "bash", "text": "text", "r": "r"}
    try:
        lexer = get_lexer_by_name(names.get(language.split(" ")[0], language.split(" ")[0] or "text"))
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    return highlight(content, lexer, HtmlFormatter(nowrap=True))


def parser():
    markdown = MarkdownIt("commonmark", {"highlight": code, "html": True}).enable(["table", "strikethrough"])
    return markdown.use(dollarmath_plugin, renderer=math, double_inline=True, allow_digits=False)


class Page:
    """A page: its tokens, title, headings and the texts of its sections."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.tokens = parser().parse(text)
        self.headings, self.sections, taken = [], [], {}
        for at, token in enumerate(self.tokens):
            if token.type == "heading_open":
                words = "".join(part.content for part in self.tokens[at + 1].children or [])
                token.attrs["id"] = slug(words, taken)
                self.headings.append((int(token.tag[1]), words, token.attrs["id"]))
                self.sections.append([words, token.attrs["id"], ""])
            elif token.type in ("inline", "fence", "code_block") and self.sections:
                self.sections[-1][2] += " " + token.content
        self.title = self.headings[0][1] if self.headings else path.stem
        self.anchors = {anchor for _, _, anchor in self.headings} | set(re.findall(r'<a id="([^"]+)"', text))

    @property
    def name(self):
        """Its file in the site."""
        if str(self.path) == "docs/README.md":
            return "index.html"
        parts = self.path.relative_to("docs") if self.path.parts[0] == "docs" else self.path
        return str(parts.with_suffix(".html")).replace("/", "-").replace("README", "readme")


def links(tokens):
    """All tokens of links and images."""
    for token in tokens:
        if token.type in ("link_open", "image"):
            yield token, "href" if token.type == "link_open" else "src"
        yield from links(token.children or [])


def resolve(pages, files):
    """Points links at the pages of the site; returns what is wrong."""
    wrong = []
    for page in pages.values():
        for token, attribute in links(page.tokens):
            target = token.attrs[attribute]
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            path = (ROOT / page.path.parent / file).resolve() if file else ROOT / page.path
            own = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else ""
            if path.is_dir() and f"{own}/README.md" in pages:
                own += "/README.md"
            if own in pages:
                if anchor and anchor not in pages[own].anchors:
                    wrong.append(f"{page.path}: {own} has no heading #{anchor}")
                token.attrs[attribute] = pages[own].name + (f"#{anchor}" if anchor else "")
            elif own and path.is_file() and path.suffix in (".svg", ".png", ".csv"):
                files[path.name] = path
                token.attrs[attribute] = f"files/{path.name}"
            elif own and path.exists():
                # A file of the repository, which the site does not have: its name is enough.
                token.attrs[attribute] = "#"
                token.attrs["title"] = f"in the repository: {own}"
            else:
                wrong.append(f"{page.path}: there is no {target}")
    return wrong


def contents(pages):
    """The parts of the guide in order: name, and pages, by the tables of `docs/README.md`."""
    parts, part = [], None
    for line in (ROOT / "docs/README.md").read_text(encoding="utf-8").splitlines():
        heading = re.match(r"\| ([A-Z][a-z]+(?: here)?) \| \|$", line)
        if heading:
            part = (heading[1], [])
            parts.append(part)
        for target in re.findall(r"\]\(([^)#]+\.md)\)", line) if part and line.startswith("|") else []:
            path = str((ROOT / "docs" / target).resolve().relative_to(ROOT))
            if path in pages and pages[path] not in part[1]:
                part[1].append(pages[path])
        if part and part[0] == "Reference" and line.startswith("| [Options]"):
            part[1].append(pages[REFERENCE])
    return parts


def breakable(words):
    """A heading for a narrow column: names of code may break after dots and underscores, and before capitals."""
    return re.sub(r"(?<=[a-z][._])(?=\w)|(?<=[a-z])(?=[A-Z])", "<wbr>", html.escape(words))


def document(page, parts, template):
    in_order = [own for _, pages in parts for own in pages]
    at = in_order.index(page) if page in in_order else None
    menu = [f'<a href="index.html"{" class=here" if page.name == "index.html" else ""}>Contents</a>']
    for name, pages in parts:
        menu.append(f"<h2>{name}</h2>")
        for own in pages:
            here = ' class="here" aria-current="page"' if own is page else ""
            menu.append(f'<a href="{own.name}"{here}>{html.escape(own.title)}</a>')
    outline = "".join(
        f'<a class="level-{level}" href="#{anchor}">{breakable(words)}</a>'
        for level, words, anchor in page.headings
        if level in (2, 3)
    )
    turn = ""
    if at is not None:
        if at:
            turn += f'<a rel="prev" href="{in_order[at - 1].name}">← {html.escape(in_order[at - 1].title)}</a>'
        if at + 1 < len(in_order):
            turn += f'<a rel="next" href="{in_order[at + 1].name}">{html.escape(in_order[at + 1].title)} →</a>'
    renderer = parser()
    body = renderer.renderer.render(page.tokens, renderer.options, {})
    body = body.replace("<table>", '<div class="table"><table>').replace("</table>", "</table></div>")
    parts = {"title": html.escape(page.title), "menu": "\n".join(menu), "outline": outline, "turn": turn, "body": body}
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/site/build.py FOLDER")
    texts = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))}
    texts |= {Path(name): (ROOT / name).read_text(encoding="utf-8") for name in OTHER}
    texts[Path(REFERENCE)] = reference.page(ROOT / "python" / "negmm")
    pages = {str(path): Page(path, text) for path, text in texts.items()}
    files = {}
    wrong = resolve(pages, files)
    if wrong:
        sys.exit("\n".join(sorted(wrong)))
    parts, template = contents(pages), (HERE / "page.html").read_text(encoding="utf-8")
    # All is made before anything is written.
    made = {page.name: document(page, parts, template) for page in pages.values()}
    index = [
        [page.title, page.name, words, anchor, re.sub(r"\s+", " ", text).strip()]
        for page in pages.values()
        for words, anchor, text in page.sections
    ]
    folder = Path(sys.argv[1])
    (folder / "files").mkdir(parents=True, exist_ok=True)
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")
    script = f"const INDEX = {json.dumps(index, ensure_ascii=False)};\n" + (HERE / "search.js").read_text(encoding="utf-8")
    (folder / "search.js").write_text(script, encoding="utf-8")
    style = (HERE / "style.css").read_text(encoding="utf-8")
    light, dark = (HtmlFormatter(style=name).get_style_defs("pre") for name in ("default", "github-dark"))
    style += f"\n{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\npre {{ background: var(--code); }}\n"
    (folder / "style.css").write_text(style, encoding="utf-8")
    for name, path in files.items():
        (folder / "files" / name).write_bytes(path.read_bytes())
    print(f"{len(made)} pages, {len(index)} sections, all links checked: {folder / 'index.html'}")


if __name__ == "__main__":
    main()
