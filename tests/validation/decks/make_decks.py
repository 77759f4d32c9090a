#!/usr/bin/env python3
"""Writes the decks of this folder.

    make_decks.py             writes them here
    make_decks.py FOLDER      writes them there
    make_decks.py --check     compares with those that are here; ends with 1 where one differs

The decks are kept beside this script, so that they can be run without it; a test compares the two.
"""

import pathlib
import sys

import closed_form
import published


def main(arguments):
    here = pathlib.Path(__file__).resolve().parent
    check = "--check" in arguments
    folders = [a for a in arguments if not a.startswith("-")]
    folder = pathlib.Path(folders[0]) if folders else here
    texts = {name: deck.text() for source in (published, closed_form) for name, deck in source.decks()}
    if not check:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="ascii")
        return 0
    wrong = 0
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or not same(path.read_text(encoding="ascii"), text):
            print(f"{name}: not what make_decks.py writes")
            wrong = 1
    for path in sorted(folder.glob("*.in[pc]")):
        if path.name not in texts:
            print(f"{path.name}: make_decks.py does not write it")
            wrong = 1
    return wrong


def same(text, other):
    """Equal but for the last digits of numbers, which may differ between mathematical libraries."""
    if text == other:
        return True
    a, b = (t.replace(",", " ").split() for t in (text, other))
    return len(a) == len(b) and all(x == y or close(x, y) for x, y in zip(a, b))


def close(x, y):
    try:
        return abs(float(x) - float(y)) <= 1e-8 * max(abs(float(x)), abs(float(y))) + 1e-12
    except ValueError:
        return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
