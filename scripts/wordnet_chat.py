#!/usr/bin/env python3
"""Turns WordNet's definitions into chats for fine-tuning: "Define X." and its definition.

    wordnet_chat.py OUT [--train 6000] [--held-out 200] [--wordnet FOLDER]

OUT receives train.jsonl and held_out.jsonl, a chat a line, and WordNet's licence. Asked are single
words that WordNet's tagged texts use; the answer gives the first sense of each part of speech:

    {"messages": [{"role": "user", "content": "Define \\"lantern\\"."},
                  {"role": "assistant", "content": "(noun) light in a transparent protective case"}]}

No word is in both files. The choice and the order depend on the words alone: the same WordNet
gives the same bytes.
"""

import argparse
import hashlib
import json
import shutil
import sys
from pathlib import Path

PARTS = {"noun": "noun", "verb": "verb", "adj": "adjective", "adv": "adverb"}
LICENCE_INDENT = "  "  # licence lines, at the head of each database file, start with two blanks


def common_words(folder: Path) -> set[str]:
    """Lower-case single words with a sense that WordNet's tagged texts use."""
    lines = (folder / "cntlist.rev").read_text(encoding="utf-8").splitlines()
    lemmas = {line.split("%", 1)[0] for line in lines}
    return {lemma for lemma in lemmas if lemma.isascii() and lemma.isalpha() and lemma.islower() and len(lemma) > 2}


def shuffled(words: set[str]) -> list[str]:
    """In an order without meaning, which does not change when words are added."""
    return sorted(words, key=lambda word: hashlib.sha256(word.encode()).digest())


def definition(gloss: str) -> str:
    """`a tool; a device; "he used a tool"` -> `a tool; a device`: the examples are left out."""
    return gloss.split('; "', 1)[0].strip()


def senses(folder: Path, part: str) -> dict[str, str]:
    """Lemma -> definition of its most frequent sense as this part of speech."""
    glosses = {}
    for line in (folder / f"data.{part}").read_text(encoding="utf-8").splitlines():
        if not line.startswith(LICENCE_INDENT):
            fields, gloss = line.split(" | ", 1)
            glosses[fields.split(" ", 1)[0]] = definition(gloss)
    first = {}
    for line in (folder / f"index.{part}").read_text(encoding="utf-8").splitlines():
        if not line.startswith(LICENCE_INDENT):
            fields = line.split()
            num_senses = int(fields[2])
            first[fields[0]] = glosses[fields[-num_senses]]  # the line ends with a place per sense, frequent first
    return first


def chat(word: str, answers: list[str]) -> str:
    messages = [
        {"role": "user", "content": f'Define "{word}".'},
        {"role": "assistant", "content": "\n".join(answers)},
    ]
    return json.dumps({"messages": messages}, ensure_ascii=False)


def chats(folder: Path) -> list[str]:
    by_part = {name: senses(folder, part) for part, name in PARTS.items()}
    result = []
    for word in shuffled(common_words(folder)):
        answers = [f"({part}) {first[word]}" for part, first in by_part.items() if word in first]
        if answers:
            result.append(chat(word, answers))
    return result


def licence(folder: Path) -> str:
    lines = []
    for line in (folder / "data.noun").read_text(encoding="utf-8").splitlines():
        if line.startswith(LICENCE_INDENT):
            _number, _, text = line.strip().partition(" ")
            lines.append(text.strip())
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="folder to make")
    parser.add_argument("--train", type=int, default=6000, help="chats in train.jsonl")
    parser.add_argument("--held-out", type=int, default=200, help="chats in held_out.jsonl")
    parser.add_argument("--wordnet", type=Path, default=Path("/usr/share/wordnet"), help="WordNet's database files")
    arguments = parser.parse_args()
    if not (arguments.wordnet / "data.noun").exists():
        sys.exit(f"wordnet_chat: no WordNet in {arguments.wordnet}: install wordnet-base, or give --wordnet FOLDER")
    if arguments.out.exists():
        sys.exit(f"wordnet_chat: {arguments.out} is already there: remove it to make it again")
    lines = chats(arguments.wordnet)
    wanted = arguments.train + arguments.held_out
    if not 0 < wanted <= len(lines):
        sys.exit(f"wordnet_chat: {wanted} chats asked for, WordNet gives {len(lines)}: lower --train or --held-out")

    partial = arguments.out.with_name(arguments.out.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    held_out, train = lines[: arguments.held_out], lines[arguments.held_out : wanted]
    (partial / "held_out.jsonl").write_text("\n".join(held_out) + "\n", encoding="utf-8")
    (partial / "train.jsonl").write_text("\n".join(train) + "\n", encoding="utf-8")
    (partial / "LICENSE").write_text(licence(arguments.wordnet), encoding="utf-8")
    partial.rename(arguments.out)
    print(f"wrote {arguments.out}: {len(train)} chats to train on, {len(held_out)} held out")


if __name__ == "__main__":
    main()
