#!/usr/bin/env python3
"""Makes examples/tiny: a model small enough to train in seconds, its tokenizer, and text.

    make_tiny.py OUT

The text is 400 of WordNet's definitions. The tokenizer is a byte-level BPE of 512 tokens learnt
from it; the model's folder has no weights (the recipe says `model.init: random`). The result is
kept in the repository; this script, which wants the PyPI package `tokenizers` (made with 0.22.2),
is how to change it.
"""

import argparse
import json
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from wordnet_chat import PARTS, common_words, licence, senses, shuffled

WORDNET = Path("/usr/share/wordnet")
NUM_DOCUMENTS = 400
VOCABULARY = 512
SPECIAL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
CHAT_TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
MODEL = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "hidden_act": "silu",
    "max_position_embeddings": 256,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "initializer_range": 0.02,
    "tie_word_embeddings": True,
    "bos_token_id": 0,
    "eos_token_id": 0,
    "pad_token_id": 0,
    "torch_dtype": "float32",
}


def documents() -> list[str]:
    by_part = {name: senses(WORDNET, part) for part, name in PARTS.items()}
    result = []
    for word in shuffled(common_words(WORDNET)):
        result += [f"{word} ({part}): {first[word]}" for part, first in by_part.items() if word in first]
    return result[:NUM_DOCUMENTS]


def byte_level_bpe(texts: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=VOCABULARY,
            special_tokens=SPECIAL_TOKENS,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    return tokenizer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="folder to make or refresh: examples/tiny")
    out = parser.parse_args().out
    model = out / "model"
    model.mkdir(parents=True, exist_ok=True)

    texts = documents()
    (out / "text.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    (out / "LICENSE-text").write_text(licence(WORDNET), encoding="utf-8")
    (model / "config.json").write_text(json.dumps(MODEL, indent=2) + "\n")
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": SPECIAL_TOKENS[0],
        "eos_token": SPECIAL_TOKENS[0],
        "pad_token": SPECIAL_TOKENS[0],
        "clean_up_tokenization_spaces": False,
        "chat_template": CHAT_TEMPLATE,
    }
    (model / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n")
    byte_level_bpe(texts).save(str(model / "tokenizer.json"))


if __name__ == "__main__":
    main()
