#!/usr/bin/env python3
"""Says in a few lines what a run of the demo did, where its files are and what to try next.

    demo_summary.py RUN

Reads what any run leaves behind (docs/run_directory.md): events/g*.jsonl.
"""

import json
import sys
from pathlib import Path


def events(run: Path) -> list[dict]:
    lines = []
    for file in sorted((run / "events").glob("g*.jsonl")):
        lines += [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return lines


def held_out_loss(run: Path, when: str) -> float:
    for event in events(run):
        if event["event"] == "evaluation" and event["when"] == when:
            return event["loss"]
    sys.exit(f"demo_summary: {run}/events has no evaluation {when} training")


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("demo_summary: give the run's folder, such as runs/demo")
    run = Path(sys.argv[1])
    before, after = held_out_loss(run, "before"), held_out_loss(run, "after")
    print(f"""
What happened  SmolLM2-135M learnt to answer as a dictionary does, on two workers that each held
               half of it. Loss on words that it never saw: {before:.3f} before, {after:.3f} after.
Files          {run}/model    the fine-tuned model, a Hugging Face folder
               {run}/metrics  a line per step; {run}/events: what happened when
Try next       build/default/bin/lockstep train examples/demo.yaml name=longer train.steps=100
               build/default/bin/lockstep train examples/tiny.yaml    (seconds)
               your own model and text: README.md, "Fine-tune your own model\"""")


if __name__ == "__main__":
    main()
