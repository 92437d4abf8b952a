#!/usr/bin/env python3
"""Records the classes of characters that response templates depend on, as a module of Rust.

    .references/python-transformers/bin/python scripts/record-characters.py \
        > harness/response/src/characters.rs

`regex` and Python's `str` have tables of their own, of different versions of Unicode.
"""

import sys
import unicodedata

import regex

LAST = 0x10FFFF


def ranges(belongs):
    found, start = [], None
    for code in range(LAST + 2):
        inside = code <= LAST and belongs(chr(code))
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            found.append((start, code - 1))
            start = None
    return found


def table(about, name, found):
    lines = []
    line = "   "
    for first, last in found:
        item = f" (0x{first:X}, 0x{last:X}),"
        if len(line) + len(item) > 100:
            lines.append(line)
            line = "   "
        line += item
    lines.append(line)
    body = "\n".join(lines)
    return f"/// {about}\n#[rustfmt::skip]\npub(crate) const {name}: &[(u32, u32)] = &[\n{body}\n];\n"


def of(pattern):
    compiled = regex.compile(pattern)
    return lambda character: compiled.match(character) is not None


versions = f"regex {regex.__version__} and Python's Unicode {unicodedata.unidata_version}"
print(f"""//! Classes of characters, as ranges of code points.
//!
//! `scripts/record-characters.py` records them from {versions}.

/// Whether a code point is in a table.
pub(crate) fn is_in(code: u32, table: &[(u32, u32)]) -> bool {{
    // Most characters are in the first few ranges, or in none of them.
    if code < 0x80 {{
        return table
            .iter()
            .take_while(|(first, _)| *first <= code)
            .any(|(_, last)| code <= *last);
    }}
    let after = table.partition_point(|(first, _)| *first <= code);
    after > 0 && code <= table[after - 1].1
}}
""")
print(table("What `\\\\w` matches in `regex`.".replace("\\\\", "\\"), "WORD", ranges(of(r"\w"))))
print(table("What `\\s` matches in `regex`.", "SPACE", ranges(of(r"\s"))))
print(table("What `\\d` matches in `regex`.", "DIGIT", ranges(of(r"\d"))))
print(table("What Python's `str.strip` removes.", "STRIPPED", ranges(str.isspace)))
decimals = ranges(str.isdecimal)
assert all((last - first + 1) % 10 == 0 for first, last in decimals)
assert all(int(chr(c)) == (c - first) % 10 for first, last in decimals for c in range(first, last + 1))
print(table("Digits that Python's `int` reads; each range begins with zero.", "DECIMAL", decimals), end="")
sys.stdout.flush()
