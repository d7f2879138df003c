#!/usr/bin/env python3
"""Writes the values that tests/models compares with: those of Hugging Face transformers, in float32.

    model_reference.py OUT [--smollm2 FOLDER]

OUT receives, for each small random model, a Hugging Face folder and beside it reference.safetensors
with `tokens`, `logits` and the gradient of the loss (sum over predicted tokens) for every parameter,
named `grad.<parameter>`. With --smollm2, a converted SmolLM2-135M-Instruct, also smollm2.safetensors:
`tokens`, `logits` [positions, every LOGIT_STRIDE-th entry], `positions`, and for every parameter, in
ascending order of names, the gradient's norm, largest absolute value and SAMPLES evenly spaced elements.

Needs transformers 5 and torch with its Python dependencies; the tests need none of it. The same
versions give the same files. Made with transformers 5.24.0 and torch 2.13.0 on CPU.
"""

import argparse
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, LlamaConfig, Qwen2Config, Qwen3Config

LOGIT_STRIDE = 16
SAMPLES = 16
TEXT = (
    "A lighthouse is a tower that sends out light to guide ships at night. "
    "In 1823 Augustin Fresnel made its lens from rings of glass, so that one lamp could be seen for 20 miles."
)

# Awkward sizes on purpose: 3 query heads a key head, widths that are no powers of two.
SMALL = dict(
    vocab_size=37, hidden_size=24, intermediate_size=20, num_hidden_layers=2, num_attention_heads=6,
    num_key_value_heads=2, max_position_embeddings=64, initializer_range=0.2, bos_token_id=1, eos_token_id=2,
)
RANDOM_MODELS = {
    "llama2_random": LlamaConfig(**SMALL, rms_norm_eps=1e-5, tie_word_embeddings=False),
    "qwen2_random": Qwen2Config(**SMALL, rms_norm_eps=1e-6, tie_word_embeddings=True,
                                rope_parameters={"rope_type": "default", "rope_theta": 1000000.0}),
    "qwen3_random": Qwen3Config(**SMALL, head_dim=8, rms_norm_eps=1e-6, tie_word_embeddings=True),
}


def loss_and_gradients(model, tokens):
    """Logits [T, V]; leaves the gradient of the summed loss in the parameters."""
    logits = model(tokens.unsqueeze(0)).logits[0]
    torch.nn.functional.cross_entropy(logits[:-1].float(), tokens[1:], reduction="sum").backward()
    return logits.detach()


def write_random_model(folder: Path, config) -> None:
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager", dtype=torch.float32)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            # Norms of one and biases of zero would hide a layer that leaves them out.
            if name.endswith("norm.weight") or name.endswith(".bias"):
                parameter.add_(torch.randn_like(parameter) * 0.1)
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    tokens = torch.randint(0, config.vocab_size, (19,))
    tensors = {"tokens": tokens, "logits": loss_and_gradients(model, tokens)}
    tensors |= {f"grad.{name}": p.grad.contiguous() for name, p in model.named_parameters()}
    save_file(tensors, folder / "reference.safetensors")


def write_smollm2(path: Path, folder: Path) -> None:
    from tokenizers import Tokenizer

    tokens = torch.tensor(Tokenizer.from_file(str(folder / "tokenizer.json")).encode(TEXT).ids)
    model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32)
    logits = loss_and_gradients(model, tokens)
    positions = torch.tensor([0, 1, len(tokens) // 2, len(tokens) - 1])
    gradients = [p.grad.flatten() for _, p in sorted(model.named_parameters())]
    samples = [g[torch.arange(SAMPLES) * (g.numel() // SAMPLES)] for g in gradients]
    save_file(
        {
            "tokens": tokens,
            "positions": positions,
            "logits": logits[positions, ::LOGIT_STRIDE].contiguous(),
            "gradient_norms": torch.stack([g.norm() for g in gradients]),
            "gradient_largest": torch.stack([g.abs().max() for g in gradients]),
            "gradient_samples": torch.stack(samples),
        },
        path,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--smollm2", type=Path, metavar="FOLDER")
    arguments = parser.parse_args()
    for name, config in RANDOM_MODELS.items():
        write_random_model(arguments.out / name, config)
    if arguments.smollm2:
        write_smollm2(arguments.out / "smollm2.safetensors", arguments.smollm2)


if __name__ == "__main__":
    main()
