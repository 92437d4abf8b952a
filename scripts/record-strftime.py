#!/usr/bin/env python3
"""Records the results of CPython's strftime, for harness/core/src/clock.rs.

    TZ=UTC python3 scripts/record-strftime.py > harness/tests/data/strftime.json

The recorded table is from CPython 3.11 on Linux with glibc in the C locale.
"""

import datetime
import json

MOMENTS = ["2026-01-02T03:04:05", "2024-02-29T23:59:59", "1999-12-31T12:00:00"]
PLAIN = ["%" + conversion for conversion in "aAbBcCdDeFgGhHIjklmMnpPrRStTuUVwWxXyYsfzZ%OqQ+L"]
FLAGGED = """%-d %_d %0e %^a %#b %10Y %-I %-m %05d %^B %-f %3f %_H %-j %-y %#p %-z %Ey %Od %OH
    %EY %^p %#Z %-H:%-M %_m|%_I %-% %E""".split()
SENTENCES = ["%", "100%", "%é", "%Y-%m-%d", "%d %b %Y", "%B %d, %Y", "%A, %d %B %Y, %H:%M"]

rows = []
for text in MOMENTS:
    moment = datetime.datetime.fromisoformat(text)
    rows += [[text + "Z", spec, moment.strftime(spec)] for spec in PLAIN + FLAGGED + SENTENCES]
print("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]")
