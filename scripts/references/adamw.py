#!/usr/bin/env python3
"""Writes tests/data/optim/adamw.json: ten steps of torch.optim.AdamW to compare with.

    python3 scripts/references/adamw.py tests/data/optim/adamw.json

Needs torch (made with 2.13.0). Inputs are dyadic fractions, so that JSON holds them exactly
and both sides start from the same bits; results are printed with 17 digits.
"""
import json
import sys

import torch

STEPS = 10
ELEMENTS = 7  # no multiple of any vector width
CASES = {
    "default": dict(lr=1e-3),
    "strong_decay": dict(lr=0.1, weight_decay=0.5),
    "no_decay": dict(lr=1e-2, weight_decay=0.0),
    "other_betas": dict(lr=3e-3, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1),
}


def dyadic(generator, scale):
    return torch.randint(-4096, 4097, (ELEMENTS,), generator=generator).double() / 4096 * scale


def run(options, dtype, start, gradients):
    parameter = start.to(dtype).clone().requires_grad_()
    optimizer = torch.optim.AdamW([parameter], foreach=False, **options)
    weights = []
    for step, gradient in enumerate(gradients):
        # The rate changes on the way, as a schedule makes it.
        optimizer.param_groups[0]["lr"] = options["lr"] * (1 - step / 16)
        parameter.grad = gradient.to(dtype)
        optimizer.step()
        weights.append(parameter.detach().double().tolist())
    return weights


def main(path):
    generator = torch.Generator().manual_seed(3)
    start = dyadic(generator, 1.0)
    # Magnitudes apart by powers of two, one gradient that is always zero.
    gradients = [dyadic(generator, 2.0 ** (-2 * step)) for step in range(STEPS)]
    for gradient in gradients:
        gradient[2] = 0
    cases = []
    for name, options in CASES.items():
        for dtype in (torch.float32, torch.float64):
            cases.append(
                {
                    "name": name,
                    "dtype": str(dtype).removeprefix("torch."),
                    "options": {
                        "lr": options["lr"],
                        "betas": options.get("betas", (0.9, 0.999)),
                        "eps": options.get("eps", 1e-8),
                        "weight_decay": options.get("weight_decay", 0.01),
                    },
                    "weights": run(options, dtype, start, gradients),
                }
            )
    with open(path, "w") as out:
        json.dump(
            {
                "made_by": "scripts/references/adamw.py, torch " + torch.__version__.split("+")[0],
                "start": start.tolist(),
                "gradients": [g.tolist() for g in gradients],
                "cases": cases,
            },
            out,
        )
        out.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
