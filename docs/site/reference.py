"""The reference of the Python package as Markdown, from its docstrings: nothing is imported."""

import ast
import re
from pathlib import Path

#: Modules whose public names are listed beside those of the package itself.
MODULES = ["metrics", "plots", "composite", "skpro", "sktime", "mlflow", "spark", "dask", "ray"]


def page(package):
    """The page: the classes and functions of `negmm`, then those of its modules."""
    package = Path(package)
    trees = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(package.glob("*.py"))}
    where = {}
    for module, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                where.setdefault(node.name, (module, node))
    named = [name for module in ("__init__", *MODULES) for name in public(trees[module])]
    text = "# Python reference\n\nEvery public class and function, from its docstring. The [guide](python.md) shows how they go together.\n"
    for module, prefix in [("__init__", "negmm"), *((name, f"negmm.{name}") for name in MODULES)]:
        own = {node.name: node for node in trees[module].body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        text += f"\n## {prefix}\n"
        for name in public(trees[module]):
            node = own.get(name) or where.get(name, (None, None))[1]
            if node is not None and name not in MODULES:
                text += entry(prefix, node, {base: found for base, (_, found) in where.items() if base not in named})
    return text


def public(tree):
    """The names of `__all__`; without one, what is defined there and has a docstring."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return [element.value for element in node.value.elts if isinstance(element, ast.Constant)]
    named = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node)]
    return [node.name for node in named if not node.name.startswith("_")]


def signature(node):
    """`(y, *, dist=None)`, without types and self."""
    arguments = node.args
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    words = [with_default(own, default) for own, default in zip(plain, defaults) if own.arg not in ("self", "cls")]
    if arguments.vararg:
        words.append(f"*{arguments.vararg.arg}")
    elif arguments.kwonlyargs:
        words.append("*")
    words += [with_default(own, default) for own, default in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    if arguments.kwarg:
        words.append(f"**{arguments.kwarg.arg}")
    line = f"({', '.join(words)})"
    # Long ones have a line for each argument.
    return line if len(line) < 90 else "(\n    " + ",\n    ".join(words) + ",\n)"


def with_default(argument, default):
    return argument.arg if default is None else f"{argument.arg}={ast.unparse(default)}"


def methods(node, bases):
    """The documented public methods of a class, and those of its bases that have no entry of their own."""
    own = [member for member in node.body if isinstance(member, ast.FunctionDef) and ast.get_docstring(member)]
    found = {member.name: member for member in own if not member.name.startswith("_")}
    for base in node.bases:
        if (inherited := bases.get(ast.unparse(base))) is not None:
            found = {**{member.name: member for member in methods(inherited, bases)}, **found}
    return list(found.values())


def entry(prefix, node, bases):
    """A class with its methods, or a function; `bases` are the classes without an entry, by name."""
    if isinstance(node, ast.FunctionDef):
        return f"\n### {prefix}.{node.name}\n\n```python\n{node.name}{signature(node)}\n```\n\n{docstring(node)}\n"
    start = next((own for own in node.body if isinstance(own, ast.FunctionDef) and own.name == "__init__"), None)
    call = node.name + (signature(start) if start else "")
    listed = [ast.unparse(base) for base in node.bases if ast.unparse(base) not in {*bases, "object"}]
    text = f"\n### {prefix}.{node.name}\n\n```python\n{call}\n```\n\n"
    text += f"Base: {', '.join(f'`{base}`' for base in listed)}.\n\n" if listed else ""
    text += docstring(node) + "\n"
    for own in methods(node, bases):
        decorators = {ast.unparse(decorator) for decorator in own.decorator_list}
        call = own.name if decorators & {"property", "cached_property"} else own.name + signature(own)
        text += f"\n#### {node.name}.{own.name}\n\n```python\n{call}\n```\n\n{docstring(own)}\n"
    return text


def docstring(node):
    """A docstring in the manner of numpydoc as Markdown."""
    lines = (ast.get_docstring(node) or "").splitlines()
    out, at, listed = [], 0, False
    while at < len(lines):
        line = lines[at]
        if at + 1 < len(lines) and line.strip() and re.fullmatch(r"-{3,}", lines[at + 1].strip()):
            out += ["", f"**{line.strip()}**", ""]
            listed = line.strip() not in ("Examples", "Notes")
            at += 2
            continue
        if line.startswith(">>>"):
            block = []
            while at < len(lines) and lines[at].strip():
                block.append(lines[at])
                at += 1
            out += ["", "```pycon", *block, "```", ""]
            continue
        if listed and line and not line.startswith(" "):
            name, colon, kind = line.partition(" : ")
            out.append(f"- `{name}`" + (f" ({words(kind)})" if colon else ""))
        elif listed and line.startswith(" "):
            out.append(f"  {words(line.strip())}")
        else:
            out.append(words(line))
        at += 1
    return "\n".join(out).strip()


def words(text):
    """The marks of reStructuredText as those of Markdown."""
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text)
    text = re.sub(r"``([^`]+)``", r"`\1`", text)
    # Outside of code a dollar or an angle bracket means itself.
    return re.sub(r"(`[^`]*`)|([<$*_])", lambda found: found[1] or f"\\{found[2]}", text)
