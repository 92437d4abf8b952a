"""Unpacks the modules of a wheel that a file names, and its metadata: `unpack.py WHEEL FILE FOLDER`."""

import sys
import zipfile

wheel, names, folder = sys.argv[1:]
with open(names, encoding="utf-8") as file:
    real = [line.strip() for line in file if not line.startswith("#")]
with zipfile.ZipFile(wheel) as archive:
    for path in archive.namelist():
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        is_named = any(
            module == name or name.endswith(".") and f"{module}.".startswith(name) for name in real
        )
        if is_named and path.endswith((".py", ".jinja")) or path.endswith(".dist-info/METADATA"):
            archive.extract(path, folder)
