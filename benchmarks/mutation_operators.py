"""Small faults put into a Python source, one at a time, on its syntax tree. Knows no tests and runs nothing.

Left alone: annotations, docstrings, assertions, the bits of flags, and texts that are no patterns.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
# One piece of a regular expression and what it becomes.
_PATTERN_PIECES = (
    (r"\\d", r"\\w"),
    (r"\\w", r"\\d"),
    (r"\\s", r"\\S"),
    (r"\\b", r"\\B"),
    (r"\[\^", "["),
    (r"(?<=[^\\(?])\*", "+"),
    (r"(?<=[^\\(?])\+", "*"),
    (r"(?<=[\])a-z])\?(?![:=!<])", ""),
    (r"(?<=\[)(?:\\.|[^\\\]^])(?=[^\]\-])", ""),
)
_QUANTIFIERS = ("*", "+", "?")
# Calls whose texts are patterns, and the module-level names that hold pieces of patterns.
_PATTERN_CALLS = {"compile", "_rule", "scan_pattern", "fullmatch", "match", "search", "finditer"}
# What documents a rule is no pattern even where it quotes one; `strict` of a zip over equal lengths shows in nothing.
_LEFT_ALONE = {"strict", "claim", "hits", "passes", "judgement", "intent", "name", "hint"}
_MAX_CHARS, _AROUND_CHARS = 120, 28
_PATTERN_SIGNS = re.compile(r"\\[dwsbWS]|\[[^\]]+\]|\(\?")


@dataclass(frozen=True)
class Mutant:
    """One fault of a source. `scope`: the function or class around it; `node`, `number`: the place and which fault there."""

    line: int
    scope: str
    kind: str
    change: str
    node: int
    number: int


def list_mutants(source: str) -> list[Mutant]:
    """Every mutant of a source, in the order of the syntax tree; none equals the source."""
    return [
        Mutant(getattr(node, "lineno", 0), scope, kind, _describe(node, changed), index, number)
        for index, (node, scope, is_pattern) in enumerate(_walk(ast.parse(source), "", False))
        for number, (kind, changed) in enumerate(_change(node, is_pattern))
    ]


def apply_mutant(source: str, mutant: Mutant) -> str:
    """The source with the fault in it; comments and layout are lost."""
    tree = ast.parse(source)
    node, _, is_pattern = list(_walk(tree, "", False))[mutant.node]
    replacement = list(_change(node, is_pattern))[mutant.number][1]
    return ast.unparse(ast.fix_missing_locations(_Replace(node, replacement).visit(tree))) + "\n"


class _Replace(ast.NodeTransformer):
    def __init__(self, target: ast.AST, replacement: ast.AST) -> None:
        self._target, self._replacement = target, replacement

    def visit(self, node: ast.AST) -> ast.AST:
        return self._replacement if node is self._target else self.generic_visit(node)


def _walk(node: ast.AST, scope: str, is_pattern: bool) -> Iterator[tuple[ast.AST, str, bool]]:
    """Every node that may be changed, with the name of its scope and whether texts in it are patterns."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        scope = f"{scope}.{node.name}".lstrip(".")
    if isinstance(node, ast.Call):
        is_pattern = is_pattern or _name(node.func) in _PATTERN_CALLS
    if isinstance(node, ast.Assign) and not scope:
        is_pattern = True
    yield node, scope, is_pattern
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        children = value if isinstance(value, list) else [value]
        for place, child in enumerate(children):
            if not isinstance(child, ast.AST) or isinstance(child, ast.Assert) or _is_flag(child):
                continue
            if isinstance(child, ast.keyword) and child.arg in _LEFT_ALONE:
                continue
            if field == "body" and place == 0 and _is_text(child):
                continue
            yield from _walk(child, scope, is_pattern)


def _is_flag(node: ast.AST) -> bool:
    """`1 << 5`: which bit a flag has is nobody's business; two that share one only make a prefilter let more through."""
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.LShift)
        and isinstance(node.left, ast.Constant)
        and isinstance(node.right, ast.Constant)
    )


def _joins_path(node: ast.BinOp) -> bool:
    """`folder / "name"`: a fault there is a TypeError that any test sees, and would flatter the score."""
    right = node.right
    is_name = isinstance(right, ast.Name) and right.id.isupper()
    is_text = isinstance(right, ast.JoinedStr) or (isinstance(right, ast.Constant) and isinstance(right.value, str))
    return isinstance(node.op, ast.Div) and (is_name or is_text)


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _change(node: ast.AST, is_pattern: bool) -> Iterator[tuple[str, ast.AST]]:
    """The faults of one node: their kind, and the node that replaces it."""
    match node:
        case ast.Compare():
            for i, operator in enumerate(node.ops):
                if type(operator) in _COMPARISONS:
                    ops = [*node.ops[:i], _COMPARISONS[type(operator)](), *node.ops[i + 1 :]]
                    yield "comparison", ast.Compare(node.left, ops, node.comparators)
        case ast.Constant(value=bool()):
            yield "truth value", ast.Constant(not node.value)
        case ast.Constant(value=int() | float()):
            yield "constant", ast.Constant(node.value + 1)
            yield "constant", ast.Constant(node.value - 1)
        case ast.Constant(value=str()) if is_pattern and _PATTERN_SIGNS.search(node.value):
            for changed in _change_pattern(node.value):
                yield "pattern", ast.Constant(changed)
        case ast.BoolOp():
            yield "and / or", ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        case ast.UnaryOp(op=ast.Not()):
            yield "not", node.operand
        case ast.BinOp() if type(node.op) in _ARITHMETIC:
            if not (is_pattern and isinstance(node.op, ast.Add)) and not _joins_path(node):
                yield "arithmetic", ast.BinOp(node.left, _ARITHMETIC[type(node.op)](), node.right)
        case ast.If():
            yield "condition", ast.If(_negate(node.test), node.body, node.orelse)
        case ast.IfExp():
            yield "condition", ast.IfExp(_negate(node.test), node.body, node.orelse)
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            yield "return value", ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call()):
            yield "statement", ast.Pass()


def _change_pattern(pattern: str) -> Iterator[str]:
    for piece, replacement in _PATTERN_PIECES:
        for found in re.finditer(piece, pattern):
            if found[0] in _QUANTIFIERS and _is_in_class(pattern, found.start()):
                continue
            changed = pattern[: found.start()] + replacement.replace("\\\\", "\\") + pattern[found.end() :]
            if changed != pattern:
                yield changed


def _is_in_class(pattern: str, place: int) -> bool:
    """Whether `place` is inside square brackets, where `+` is a plain character."""
    before = re.sub(r"\\.", "..", pattern[:place])
    return before.rfind("[") > before.rfind("]")


def _negate(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _describe(before: ast.AST, after: ast.AST) -> str:
    """`before -> after` on one line; of long code only where they differ, with a little around it."""
    old, new = (" ".join(ast.unparse(node).split()) for node in (before, after))
    if len(old) + len(new) <= _MAX_CHARS:
        return f"{old} -> {new}"
    same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return f"{_cut(old, same)} -> {_cut(new, same)}"


def _cut(code: str, place: int) -> str:
    start, end = max(place - _AROUND_CHARS, 0), place + _AROUND_CHARS
    return f"{'...' if start else ''}{code[start:end]}{'...' if end < len(code) else ''}"
