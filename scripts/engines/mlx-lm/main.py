"""mlx-lm as an application, over Rolecall's engine protocol: its server gets requests as clients of
`/v1/chat/completions` write them, and answers with the prompts that it makes of them, or with its refusals.

All of this is mlx-lm's own code: the handler of requests, `ResponseGenerator._tokenize` and the wrapper of
tokenizers, with a transformers that this mlx-lm allows. Only MLX is not here, which computes answers.
"""

import io
import importlib.metadata
import json
import logging
import os
import re
import sys
from types import SimpleNamespace

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import jinja2
import stand_ins
import transformers
from serving import Refused, serve
from serving_transformers import Tokenizer, TransformersServer, check

stand_ins.install(os.path.join(HERE, "modules.txt"), {"mlx"})

from mlx_lm import server as mlx_server
from mlx_lm.tokenizer_utils import TokenizerWrapper


def unfetched(*arguments, **named):
    raise Refused("media are not fetched here")


mlx_server.urlopen = unfetched
# The server logs each refusal. It shall not look like a fault of this program.
logging.disable()


class Characters(Tokenizer):
    """A tokenizer whose tokens are characters. It has those tokens that its template writes: a name between
    `<` and `>`, in one piece."""

    @property
    def eos_token_id(self):
        return self.eos_token

    def get_vocab(self):
        templates = self.chat_template
        sources = [templates] if isinstance(templates, str) else templates.values()
        return {token: token for source in sources for token in re.findall(r"<[^<>\s]+>", source)}

    def encode(self, text, **options):
        return list(text)

    def decode(self, tokens, **options):
        return "".join(tokens)

    def __call__(self, text, **options):
        return {"input_ids": self.encode(text)}


class Prompt(BaseException):
    """The server has made the prompt; no answer is wanted."""


class Generator(mlx_server.ResponseGenerator):
    """The part of the server that makes a prompt and then an answer. It stops at the prompt."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.failure = None
        settings = {"chat_template_args": {}, "allowed_origins": [], "num_draft_tokens": 3}
        sampling = {"max_tokens": 512, "temp": 0.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0}
        arguments = SimpleNamespace(**settings, **sampling)
        self.model_provider = SimpleNamespace(processor=None, cli_args=arguments)

    @property
    def cli_args(self):
        return self.model_provider.cli_args

    def generate(self, request, arguments, progress_callback=None):
        try:
            tokens, *_ = self._tokenize(self.tokenizer, request, arguments)
        except Exception as error:
            self.failure = error
            raise
        raise Prompt("".join(tokens))


class Handler(mlx_server.APIHandler):
    """The handler of a request that did not come over the network."""

    def __init__(self, generator, body):
        self.response_generator = generator
        self.path = "/v1/chat/completions"
        self.headers = {"Content-Length": str(len(body))}
        self.rfile, self.wfile = io.BytesIO(body), io.BytesIO()
        self.created = 0

    def send_response(self, *arguments):
        pass

    send_header = end_headers = send_response


class MlxLm(TransformersServer):
    name = "mlx-lm"
    version = importlib.metadata.version("mlx-lm")
    components = {"jinja2": jinja2.__version__, "transformers": transformers.__version__}

    def load(self, number, templates, tokens, media):
        check(templates)
        return TokenizerWrapper(Characters.of(templates, tokens), lambda tokenizer: None)

    def prompt(self, wrapper, request):
        generator = Generator(wrapper)
        handler = Handler(generator, json.dumps(request).encode())
        try:
            handler.do_POST()
        except Prompt as prompt:
            return str(prompt)
        if generator.failure is not None:
            raise generator.failure
        raise Refused(json.loads(handler.wfile.getvalue())["error"])


stand_ins.seal()
serve(MlxLm())
