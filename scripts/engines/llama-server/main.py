"""The server of llama.cpp as an application, over Rolecall's engine protocol: it gets requests as clients of
`/v1/chat/completions` write them, and answers with the prompts that it makes of them, or with its refusals.

It is the real server, which the package xllamacpp has; its endpoint `/apply-template` does the same work
without an answer. Each template has a server with a model that is as small as possible and knows the two
tokens that llama.cpp gives to templates. It does not add them to a prompt on its own.

Without the library of clock.c, prompts have the date of today.
"""

import ctypes
import datetime
import importlib.metadata
import json
import os
import struct
import sys
import tempfile
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import xllamacpp
from serving import Refused, Server, serve

WIDTH = 32
# The types of values in a GGUF file, and of tokens.
U32, I32, F32, BOOL, TEXT, LIST = 4, 5, 6, 7, 8, 9
NORMAL, CONTROL, UNUSED = 1, 3, 5
# llama.cpp puts this before the message of a refusal by the template.
RAISED = "Jinja Exception: "


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def listed(kind, items):
    return struct.pack("<IQ", kind, len(items)) + b"".join(items)


def byte_signs():
    """The characters that stand for bytes in GPT-2's vocabulary."""
    others = iter(range(256, 512))
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


def model(templates, bos, eos):
    """A GGUF file of a model without weights. A token that the template does not know is empty: llama.cpp
    would take another one for it."""
    special = [(token or f"<|{name}|>", CONTROL if token else UNUSED) for name, token in (("bos", bos), ("eos", eos))]
    tokens = special + [(sign, NORMAL) for sign in byte_signs()]
    number = "<I"
    fields = [("general.architecture", TEXT, text("llama"))]
    for name, value in (
        ("llama.context_length", 512),
        ("llama.embedding_length", WIDTH),
        ("llama.block_count", 1),
        ("llama.feed_forward_length", WIDTH),
        ("llama.attention.head_count", 1),
        ("llama.vocab_size", len(tokens)),
        ("tokenizer.ggml.bos_token_id", 0),
        ("tokenizer.ggml.eos_token_id", 1),
    ):
        fields.append((name, U32, struct.pack(number, value)))
    fields += [
        ("llama.attention.layer_norm_rms_epsilon", F32, struct.pack("<f", 1e-6)),
        ("tokenizer.ggml.model", TEXT, text("gpt2")),
        ("tokenizer.ggml.pre", TEXT, text("gpt-2")),
        ("tokenizer.ggml.tokens", LIST, listed(TEXT, [text(token) for token, _ in tokens])),
        ("tokenizer.ggml.token_type", LIST, listed(I32, [struct.pack("<i", kind) for _, kind in tokens])),
        ("tokenizer.ggml.merges", LIST, listed(TEXT, [])),
        ("tokenizer.ggml.add_bos_token", BOOL, b"\0"),
    ]
    for name, source in templates.items():
        suffix = "" if name == "default" else f".{name}"
        fields.append((f"tokenizer.chat_template{suffix}", TEXT, text(source)))
    layer = ["attn_norm", "ffn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"]
    tensors = [("token_embd", [WIDTH, len(tokens)]), ("output", [WIDTH, len(tokens)]), ("output_norm", [WIDTH])]
    tensors += [(f"blk.0.{name}", [WIDTH] * (1 if name.endswith("norm") else 2)) for name in layer]
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(fields))
    head += b"".join(text(name) + struct.pack(number, kind) + value for name, kind, value in fields)
    place = 0
    for name, sides in tensors:
        shape = struct.pack(f"<I{len(sides)}Q", len(sides), *sides)
        head += text(f"{name}.weight") + shape + struct.pack("<IQ", 0, place)
        size = 4
        for side in sides:
            size *= side
        place += size
    return head + bytes(-len(head) % 32) + bytes(place)


class LlamaServer(Server):
    name = "llama-server"
    version = importlib.metadata.version("xllamacpp")
    components = {}

    def __init__(self):
        try:
            self.shown = ctypes.c_longlong.in_dll(ctypes.CDLL(None), "shown")
        except ValueError:
            self.shown = None

    def set_clock(self, moment):
        self.moment = int(moment.replace(tzinfo=datetime.timezone.utc).timestamp())

    def stand_still(self, moment):
        """Sets the clock of the whole program. It has to go on between requests: threads that wait for a
        time wait in vain for one that does not come."""
        if self.shown is not None:
            self.shown.value = moment

    def load(self, number, templates, tokens, media):
        if isinstance(templates, str):
            templates = {"default": templates}
        with tempfile.NamedTemporaryFile(suffix=".gguf") as file:
            file.write(model(templates, tokens.get("bos_token"), tokens.get("eos_token")))
            file.flush()
            wanted = xllamacpp.CommonParams()
            wanted.model.path = file.name
            wanted.hostnames = ["127.0.0.1"]
            wanted.port = 0
            wanted.n_ctx = 64
            wanted.n_parallel = 1
            wanted.n_gpu_layers = 0
            wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = 1
            wanted.use_jinja = True
            wanted.warmup = False
            wanted.verbosity = -1
            try:
                return xllamacpp.Server(wanted)
            except RuntimeError:
                return None

    def prompt(self, server, request):
        if server is None:
            raise Refused("the server does not start with this template")
        kind = {"Content-Type": "application/json"}
        body = json.dumps(request).encode()
        asked = urllib.request.Request(f"{server.listening_address}/apply-template", body, kind)
        self.stand_still(self.moment)
        try:
            with urllib.request.urlopen(asked) as answer:
                return json.load(answer)["prompt"]
        except urllib.error.HTTPError as error:
            raise Refused(json.load(error)["error"]["message"]) from None
        finally:
            self.stand_still(-1)

    def failure(self, error):
        said = str(error)
        if RAISED in said:
            return {"outcome": "raised", "message": said[said.rindex(RAISED) + len(RAISED) :]}
        # Errors of its template engine quote the template.
        stage = "render" if "\nError: " in said or "While executing" in said else "input"
        return {"outcome": "failed", "stage": stage, "message": said}


serve(LlamaServer())
