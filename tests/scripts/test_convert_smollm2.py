"""convert_smollm2.py on a GGUF file of one layer that the test writes."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, TokenType
from gguf.quants import quantize

import convert_smollm2
from safetensors_file import to_bfloat16

HEADS, KV_HEADS, SIZE, WIDTH, INNER = 4, 2, 8, 32, 64
TOKENS = ["<|end|>", "<|im_start|>", "<|im_end|>", "a", "b", "ab"]


def permute(rows: np.ndarray, num_heads: int) -> np.ndarray:
    """What GGUF does to q and k, element by element: row (head, half, pair) goes to (head, pair, half)."""
    result = np.empty_like(rows)
    half_size = rows.shape[0] // num_heads // 2
    for head in range(num_heads):
        for half in range(2):
            for pair in range(half_size):
                source = head * 2 * half_size + half * half_size + pair
                result[head * 2 * half_size + 2 * pair + half] = rows[source]
    return result


def model_weights() -> dict[str, np.ndarray]:
    random = np.random.default_rng(5)
    shapes = {
        "model.embed_tokens.weight": (len(TOKENS), WIDTH),
        "model.norm.weight": (WIDTH,),
        "model.layers.0.input_layernorm.weight": (WIDTH,),
        "model.layers.0.self_attn.q_proj.weight": (HEADS * SIZE, WIDTH),
        "model.layers.0.self_attn.k_proj.weight": (KV_HEADS * SIZE, WIDTH),
        "model.layers.0.self_attn.v_proj.weight": (KV_HEADS * SIZE, WIDTH),
        "model.layers.0.self_attn.o_proj.weight": (WIDTH, HEADS * SIZE),
        "model.layers.0.post_attention_layernorm.weight": (WIDTH,),
        "model.layers.0.mlp.gate_proj.weight": (INNER, WIDTH),
        "model.layers.0.mlp.up_proj.weight": (INNER, WIDTH),
        "model.layers.0.mlp.down_proj.weight": (WIDTH, INNER),
    }
    return {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


GGUF_NAMES = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "model.layers.0.input_layernorm.weight": "blk.0.attn_norm.weight",
    "model.layers.0.self_attn.q_proj.weight": "blk.0.attn_q.weight",
    "model.layers.0.self_attn.k_proj.weight": "blk.0.attn_k.weight",
    "model.layers.0.self_attn.v_proj.weight": "blk.0.attn_v.weight",
    "model.layers.0.self_attn.o_proj.weight": "blk.0.attn_output.weight",
    "model.layers.0.post_attention_layernorm.weight": "blk.0.ffn_norm.weight",
    "model.layers.0.mlp.gate_proj.weight": "blk.0.ffn_gate.weight",
    "model.layers.0.mlp.up_proj.weight": "blk.0.ffn_up.weight",
    "model.layers.0.mlp.down_proj.weight": "blk.0.ffn_down.weight",
}


def write_gguf(path: Path, weights: dict[str, np.ndarray], pre_tokenizer: str = "smollm") -> None:
    writer = GGUFWriter(path, "llama")
    writer.add_vocab_size(len(TOKENS))
    writer.add_context_length(128)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_block_count(1)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_dimension_count(SIZE)
    writer.add_rope_freq_base(100000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre_tokenizer)
    writer.add_token_list(TOKENS)
    writer.add_token_types([TokenType.CONTROL] * 3 + [TokenType.NORMAL] * 3)
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_space_prefix(False)
    writer.add_chat_template("{{ messages[0]['content'] }}")
    for name, values in weights.items():
        heads = {"q_proj": HEADS, "k_proj": KV_HEADS}.get(name.split(".")[-2])
        stored = permute(values, heads) if heads else values
        if "down_proj" in name:  # one tensor in 8 bits: 32 values share a scale
            writer.add_tensor(GGUF_NAMES[name], quantize(stored, GGMLQuantizationType.Q8_0),
                              raw_dtype=GGMLQuantizationType.Q8_0)
        else:
            writer.add_tensor(GGUF_NAMES[name], stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    tensors = {}
    for name, entry in json.loads(raw[8:start]).items():
        if name != "__metadata__":
            assert entry["dtype"] == "BF16"
            begin, end = entry["data_offsets"]
            bits = np.frombuffer(raw[start + begin : start + end], "<u2").astype("<u4") << 16
            tensors[name] = bits.view("<f4").reshape(entry["shape"])
    return tensors


class ConvertSmolLM2(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name)
        self.gguf = self.root / "model.gguf"

    def convert(self) -> subprocess.CompletedProcess:
        command = [sys.executable, convert_smollm2.__file__, str(self.root / "out"), "--gguf", str(self.gguf)]
        return subprocess.run(command, capture_output=True, text=True)

    def test_weights_come_back_under_their_names_and_in_their_order(self):
        weights = model_weights()
        write_gguf(self.gguf, weights)
        self.assertEqual(self.convert().returncode, 0)
        read = read_safetensors(self.root / "out/model.safetensors")
        self.assertEqual(sorted(read), sorted(weights))
        for name, values in weights.items():
            tolerance = 2e-2 if "down_proj" in name else 0  # the 8-bit one
            np.testing.assert_allclose(read[name], values, rtol=2**-8, atol=tolerance, err_msg=name)

    def test_the_configuration_is_the_files_own(self):
        write_gguf(self.gguf, model_weights())
        self.assertEqual(self.convert().returncode, 0)
        config = json.loads((self.root / "out/config.json").read_text())
        expected = {"vocab_size": 6, "hidden_size": WIDTH, "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS,
                    "head_dim": SIZE, "rms_norm_eps": 1e-5, "rope_theta": 100000.0, "eos_token_id": 2}
        self.assertEqual({key: config[key] for key in expected}, expected)
        tokenizer = json.loads((self.root / "out/tokenizer.json").read_text())
        self.assertEqual(tokenizer["model"]["vocab"]["ab"], 5)
        self.assertEqual(tokenizer["model"]["merges"], [["a", "b"]])
        self.assertEqual([token["content"] for token in tokenizer["added_tokens"]], TOKENS[:3])
        settings = json.loads((self.root / "out/tokenizer_config.json").read_text())
        self.assertEqual((settings["bos_token"], settings["eos_token"]), ("<|im_start|>", "<|im_end|>"))
        self.assertEqual(settings["chat_template"], "{{ messages[0]['content'] }}")

    def test_an_unknown_tokenizer_is_refused_and_leaves_nothing(self):
        write_gguf(self.gguf, model_weights(), pre_tokenizer="other")
        result = self.convert()
        self.assertEqual(result.returncode, 1)
        self.assertIn("knows the tokenizer gpt2/smollm, the file has gpt2/other", result.stderr)
        self.assertEqual(sorted(path.name for path in self.root.iterdir()), ["model.gguf"])

    def test_a_folder_that_is_there_is_not_touched(self):
        (self.root / "out").mkdir()
        result = self.convert()
        self.assertEqual(result.returncode, 1)
        self.assertIn("is already there", result.stderr)

    def test_bfloat16_rounds_to_nearest_and_ties_to_even(self):
        # 1 + 2^-8 lies between 1 and 1 + 2^-7, 1 + 3 * 2^-8 between 1 + 2^-7 and 1 + 2^-6.
        values = np.array([1.0, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, -1 - 3 * 2**-8], np.float32)
        self.assertEqual([f"{bits:04x}" for bits in to_bfloat16(values)], ["3f80", "3f80", "3f82", "3f81", "bf82"])


if __name__ == "__main__":
    unittest.main()
