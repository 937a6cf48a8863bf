"""Markup that is no notation (addresses, paths, HTML tags, bold and italic type), blanked before the recommended rules look.

The invariant: the masked text has the length of the text, and every character that was not markup is where it was.
"""

from __future__ import annotations

import re

# Each pattern opens with the literal that is looked for first: such searches cost next to nothing.
_ADDRESSES = (
    ("://", re.compile(r"://[^\s<>\"]{1,500}")),
    ("www.", re.compile(r"www\.[^\s<>\"]{1,500}")),
    (":\\", re.compile(r":\\[^\s\"<>|*?]{0,300}")),
    ("\\\\", re.compile(r"\\\\[\w.\-]{1,40}\\[^\s\"<>|*?]{0,300}")),
    ("./", re.compile(r"\./(?<!\w\./)[^\s<>\"]{1,300}")),
    ("~/", re.compile(r"~/(?<!\w~/)[^\s<>\"]{1,300}")),
)
_TAG = re.compile(
    r"</?(?:a|abbr|b|big|blockquote|body|br|center|cite|code|dd|del|div|dl|dt|em|font|form|h[1-6]|head|hr|html|i|img|input|"
    r"ins|kbd|li|link|mark|meta|nobr|ol|option|p|pre|q|s|samp|script|select|small|span|strike|strong|style|sub|sup|table|"
    r"tbody|td|tfoot|th|thead|title|tr|tt|u|ul|var|wbr)(?:[\s/][^<>]{0,300})?>",
    re.IGNORECASE,
)
# Bold by the rules of Markdown: what opens is followed by a character, what closes follows one. Where a word runs into
# the opening (`Step**3** Glue`), a space or stop must follow the closing, or `x**2 + y**2` would be read as bold.
_BOLD = re.compile(
    r"\*\*(?=[^\s*])(?:(?<![\w*)\]]\*\*)([^*\n]{1,300})(?<=\S)\*\*(?!\*)|"
    r"(?<=[\w)\]]\*\*)([^*\n]{1,300})(?<=\S)\*\*(?![^\s.,;:!?]))"
)
# A letter in italics is a variable, unless the stars stand between factors (`2*x*3`).
_ITALIC_STARS = re.compile(r"\*(?:(?<![*\w]\*)([A-Za-z])\*(?!\*)|(?<!\*\*)([A-Za-z])\*(?![*\w]))")
_ITALIC_LINES = re.compile(r"_(?<!\w_)([A-Za-z])_(?!\w)")


def _hide(match: re.Match[str]) -> str:
    return "_" * len(match[0])


def _blank_tag(match: re.Match[str]) -> str:
    """Spaces; a superscript tag leaves a caret: what it raises is an exponent wherever a caret would make it one."""
    return "^".ljust(len(match[0])) if match[0] == "<sup>" else " " * len(match[0])


def _blank_bold(match: re.Match[str]) -> str:
    return f"  {match[1] or match[2]}  "


def _blank_italic(match: re.Match[str]) -> str:
    return f" {match[match.lastindex or 0]} "


def mask_markup(text: str) -> str:
    """`text` with addresses and paths as underscores, and with spaces for tags and for the marks of bold and italic type."""
    for literal, pattern in _ADDRESSES:
        if literal in text:
            text = pattern.sub(_hide, text)
    if "<" in text:
        text = _TAG.sub(_blank_tag, text)
    if "*" in text:
        text = _ITALIC_STARS.sub(_blank_italic, _BOLD.sub(_blank_bold, text))
    if "_" in text:
        text = _ITALIC_LINES.sub(_blank_italic, text)
    return text
