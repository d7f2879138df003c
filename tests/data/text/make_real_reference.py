#!/usr/bin/env python3
"""Writes real_reference.json: what transformers makes of texts and chats with real tokenizers.

    pip install transformers==5.24.0 jinja2==3.1.6
    scripts/fetch_tokenizers && make assets
    python tests/data/text/make_real_reference.py
"""
import json
import os
import pathlib

import transformers

HERE = pathlib.Path(__file__).parent
CACHE = pathlib.Path(os.environ.get("LOCKSTEP_CACHE", pathlib.Path.home() / ".cache/lockstep"))
FOLDERS = {
    "qwen3": "tokenizers/qwen3",
    "llama3": "tokenizers/llama3",
    "llama3_1": "tokenizers/llama3_1",
    "smollm2": "models/SmolLM2-135M-Instruct",
}

TEXTS = [
    "", " ", "\n\n  \n", "The Rhine is 1,233 km long (765 mi)...", "I'LL say: don’t!", "naïve Việt Nam é é",
    "東京タワー ก็ไม่ \u200d\U0001f469\u200d\U0001f52c", "def f(x):\n\treturn  x**2  # 10^16 == 10000000000000000\n",
    "<|im_start|>user\nhi<|im_end|><|eot_id|><|endoftext|>", "\r\n\t\v a\u00a0b\u2028c", "1234567890 ١٢٣ ½ Ⅷ",
]
ASK = {"role": "user", "content": "name a river.  "}
SAY = {"role": "assistant", "content": "\n\nthe rhine — «Rhein».\n"}
TOOLS = [{"type": "function", "function": {"name": "level", "description": "water > 2 m & < 5 m, 'now'", "parameters": {
    "type": "object", "properties": {"zone": {"type": "string"}, "depth": {"type": "number", "default": 1.0}}}}}]
CALL = {"role": "assistant", "content": "", "tool_calls": [
    {"type": "function", "function": {"name": "level", "arguments": {"zone": "köln", "depth": 2.50}}}]}
CHATS = {
    "one turn": ([ASK, SAY], None),
    "two turns": ([ASK, SAY, {"role": "user", "content": "and\nnow?"}, {"role": "assistant", "content": "the elbe."}], None),
    "system": ([{"role": "system", "content": "be brief."}, ASK, SAY], None),
    "empty system": ([{"role": "system", "content": ""}, ASK, SAY], None),
    "reasoning": ([ASK, {"role": "assistant", "content": "<think>\nrivers...\n</think>\n\nthe rhine."}, ASK,
                   {"role": "assistant", "reasoning_content": "another?", "content": "the elbe."}], None),
    "tools": ([ASK, CALL, {"role": "tool", "content": "{\"m\": 2.5}"}, SAY], TOOLS),
}


def main():
    reference = {"made_with": f"transformers {transformers.__version__}", "texts": TEXTS,
                 "chats": {name: {"messages": messages, "tools": tools} for name, (messages, tools) in CHATS.items()},
                 "tokenizers": {}}
    for name, folder in FOLDERS.items():
        tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(CACHE / folder)
        reference["tokenizers"][name] = {
            "folder": folder,
            "texts": [tokenizer(text).input_ids for text in TEXTS],
            "decoded": [tokenizer.decode(tokenizer(text).input_ids, skip_special_tokens=True) for text in TEXTS],
            "chats": {chat: tokenizer.apply_chat_template(messages, tools=tools, tokenize=True, return_dict=False)
                      for chat, (messages, tools) in CHATS.items()},
            "prompts": {chat: tokenizer.apply_chat_template(messages[:1], tools=tools, tokenize=False, add_generation_prompt=True)
                        for chat, (messages, tools) in CHATS.items()},
            "vocab_size": max(tokenizer.get_vocab().values()) + 1,
            "bos": tokenizer.bos_token_id, "eos": tokenizer.eos_token_id, "pad": tokenizer.pad_token_id,
        }
    tokenizers = ",\n".join(f"{json.dumps(name)}: {json.dumps(made, ensure_ascii=False)}"
                            for name, made in reference.pop("tokenizers").items())
    text = json.dumps(reference, ensure_ascii=False)[:-1] + ',\n"tokenizers": {\n' + tokenizers + "\n}}\n"
    (HERE / "real_reference.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
