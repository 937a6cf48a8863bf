"""Markup that is no notation (addresses, paths, HTML tags, Markdown bold), blanked before the recommended rules look.

The invariant: the masked text has the length of the text, and every character that was not markup is where it was.
"""

from __future__ import annotations

import re

_ADDRESS = re.compile(
    r"(?:\b[a-z]{2,6}://|\bwww\.)[^\s<>\"]{1,500}|(?<![\w.])(?:\.{1,2}|~)/[^\s<>\"]{1,300}|\b[A-Za-z]:\\[^\s\"<>|*?]{0,300}|\\\\[\w.\-]{1,40}\\[^\s\"<>|*?]{0,300}"
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
    r"(?<![\w*)\]])\*\*(?=[^\s*])([^*\n]{1,300})(?<=\S)\*\*(?!\*)|(?<=[\w)\]])\*\*(?=[^\s*])([^*\n]{1,300})(?<=\S)\*\*(?![^\s.,;:!?])"
)
# A letter in italics is a variable, unless the stars stand between factors (`2*x*3`).
_ITALIC_LETTER = re.compile(r"(?<![*\w])\*([A-Za-z])\*(?!\*)|(?<!\*)\*([A-Za-z])\*(?![*\w])|(?<!\w)_([A-Za-z])_(?!\w)")
_HIDDEN = "_"


def _blank_tag(match: re.Match[str]) -> str:
    """Spaces; a superscript tag leaves a caret: what it raises is an exponent wherever a caret would make it one."""
    return "^".ljust(len(match[0])) if match[0] == "<sup>" else " " * len(match[0])


def _blank_bold(match: re.Match[str]) -> str:
    return f"  {match[1] or match[2]}  "


def _blank_italic(match: re.Match[str]) -> str:
    return f" {match[1] or match[2] or match[3]} "


def mask_markup(text: str) -> str:
    """`text` with addresses and paths as underscores, and with spaces for tags and for the marks of bold and italic type."""
    if "://" in text or "www." in text or "\\" in text or "./" in text or "~/" in text:
        text = _ADDRESS.sub(lambda match: _HIDDEN * len(match[0]), text)
    if "<" in text:
        text = _TAG.sub(_blank_tag, text)
    if "**" in text:
        text = _BOLD.sub(_blank_bold, text)
    if "*" in text or "_" in text:
        text = _ITALIC_LETTER.sub(_blank_italic, text)
    return text
