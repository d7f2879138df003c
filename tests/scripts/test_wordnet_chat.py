"""wordnet_chat.py on a WordNet of six words."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import wordnet_chat

LICENCE = "  1 You may copy this.  \n  2   \n  3 Keep this notice.  \n"
NOUNS = {
    "boat": ["a small vessel; \"he rowed his boat\""],
    "light": ["electromagnetic radiation", "a source of light; a lamp"],
    "big_top": ["a circus tent"],
    "Rome": ["capital of Italy"],
    "oak": ["a deciduous tree"],
    "unused": ["a word that no tagged text uses"],
}
VERBS = {"light": ["make lighter"], "boat": ["ride in a boat"]}


def write_part(folder: Path, part: str, words: dict[str, list[str]]) -> None:
    data, index, place = LICENCE, LICENCE, 1000
    for word, glosses in words.items():
        places = []
        for gloss in glosses:
            place += 1
            places.append(f"{place:08d}")
            data += f"{place:08d} 03 n 01 {word} 0 000 | {gloss}  \n"
        # Here as in WordNet, a pointer symbol and two counts stand between the fields read.
        index += f"{word.lower()} n {len(places)} 1 @ {len(places)} 0 {' '.join(places)}  \n"
    (folder / f"data.{part}").write_text(data)
    (folder / f"index.{part}").write_text(index)


class WordnetChat(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name)
        self.wordnet = self.root / "wordnet"
        self.wordnet.mkdir()
        for part, words in {"noun": NOUNS, "verb": VERBS, "adj": {}, "adv": {}}.items():
            write_part(self.wordnet, part, words)
        tagged = ["boat", "light", "big_top", "Rome", "oak"]
        (self.wordnet / "cntlist.rev").write_text("".join(f"{word}%1:06:00:: 1 5\n" for word in tagged))

    def run_script(self, *arguments: str) -> subprocess.CompletedProcess:
        command = [sys.executable, wordnet_chat.__file__, "--wordnet", str(self.wordnet), *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    def test_a_chat_asks_for_a_word_and_gives_the_first_sense_of_each_part_of_speech(self):
        answers = {}
        for line in wordnet_chat.chats(self.wordnet):
            user, assistant = json.loads(line)["messages"]
            self.assertEqual((user["role"], assistant["role"]), ("user", "assistant"))
            answers[user["content"]] = assistant["content"]
        self.assertEqual(
            answers,
            {
                'Define "boat".': "(noun) a small vessel\n(verb) ride in a boat",
                'Define "light".': "(noun) electromagnetic radiation\n(verb) make lighter",
                'Define "oak".': "(noun) a deciduous tree",
            },
        )

    def test_no_word_is_in_both_files_and_a_second_run_gives_the_same_bytes(self):
        for out in ("a", "b"):
            self.assertEqual(self.run_script(str(self.root / out), "--train=2", "--held-out=1").returncode, 0)
        for name in ("train.jsonl", "held_out.jsonl", "LICENSE"):
            self.assertEqual((self.root / "a" / name).read_bytes(), (self.root / "b" / name).read_bytes())
        train = set((self.root / "a/train.jsonl").read_text().splitlines())
        held_out = set((self.root / "a/held_out.jsonl").read_text().splitlines())
        self.assertEqual((len(train), len(held_out), len(train & held_out)), (2, 1, 0))

    def test_the_licence_comes_along(self):
        self.assertEqual(wordnet_chat.licence(self.wordnet), "You may copy this.\n\nKeep this notice.\n")

    def test_bad_input_is_refused_in_one_line_and_leaves_nothing(self):
        cases = {
            ("--train=9",): "209 chats asked for, WordNet gives 3: lower --train or --held-out",
            ("--wordnet", str(self.root / "none")): "install wordnet-base",
        }
        for arguments, message in cases.items():
            result = self.run_script(str(self.root / "out"), *arguments)
            self.assertEqual(result.returncode, 1)
            self.assertIn(message, result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1)
        self.assertEqual(sorted(path.name for path in self.root.iterdir()), ["wordnet"])


if __name__ == "__main__":
    unittest.main()
