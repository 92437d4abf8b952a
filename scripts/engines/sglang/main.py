"""SGLang as an application, over Rolecall's engine protocol: it gets requests as clients of
`/v1/chat/completions` write them, and answers with the prompts that it hands to its engine, or with its
refusals.

All of this is SGLang's own code: the request's model, `OpenAIServingChat`, `TemplateManager`, and the
transformers that this SGLang wants. Neither the engine nor tokens are here: `modules.txt` names the
modules that are needed, and all others are stand-ins.
"""

import importlib.metadata
import os
import sys
from types import SimpleNamespace

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import jinja2
import stand_ins
import transformers
from serving import Refused, serve
from serving_transformers import Tokenizer, TransformersServer, check

SETTINGS = SimpleNamespace(
    allow_auto_truncate=False,
    context_length=None,
    default_chat_template_kwargs=None,
    hf_chat_template_name=None,
    return_input_ids=False,
    return_output_ids=False,
    trust_request_chat_template=False,
)

stand_ins.install(
    os.path.join(HERE, "modules.txt"),
    {"PIL", "fastapi", "openai_harmony", "mistral_common", "torch", "xgrammar"},
    GLM_MEDIA_CONFIG_KEYS=(),
    GenerateReqInput=SimpleNamespace,
    ImageData=SimpleNamespace,
    MistralCommonException=KeyboardInterrupt,
    VideoData=SimpleNamespace,
    convert_json_schema_to_str=str,
    get_model=lambda: SETTINGS,
    get_serving=lambda: SETTINGS,
    parallel_prompt_encode=lambda tokenizer, text, options: tokenizer.encode(text, **options),
    set_request_reasoning_end_token_ids=lambda *arguments: None,
)

# These are imported as names of a package that is a stand-in.
import sglang.srt.entrypoints.openai.chat_encoding
import sglang.srt.entrypoints.openai.chat_encoding_adapters
from sglang.srt.entrypoints.openai.protocol import ChatCompletionRequest
from sglang.srt.entrypoints.openai.serving_chat import OpenAIServingChat
from sglang.srt.parser.template_manager import TemplateManager


class Characters(Tokenizer):
    """A tokenizer whose tokens are characters."""

    bos_token_id = None

    def encode(self, text, **options):
        return [ord(character) for character in text]

    def decode(self, tokens, **options):
        return "".join(map(chr, tokens))

    def get_vocab(self):
        return {}

    def __len__(self):
        return sys.maxunicode + 1


class SGLang(TransformersServer):
    name = "sglang"
    version = importlib.metadata.version("sglang")
    components = {"jinja2": jinja2.__version__, "transformers": transformers.__version__}

    def load(self, number, templates, tokens, media):
        check(templates)
        tokenizer = Characters.of(templates, tokens)
        manager = SimpleNamespace(
            config_value=lambda name: None,
            model_config=SimpleNamespace(
                get_default_sampling_params=dict,
                hf_config=SimpleNamespace(model_type="llama", architectures=["LlamaForCausalLM"]),
                is_multimodal=bool(media),
            ),
            processor=None,
            served_model_name="model",
            server_args=SimpleNamespace(return_input_ids=False),
            tokenizer=tokenizer,
        )
        templates = TemplateManager()
        templates.load_chat_template(manager, None, "model")
        return OpenAIServingChat(manager, templates)

    def prompt(self, serving, request):
        asked = ChatCompletionRequest(**request)
        # For media it keeps prompts, whatever the clock shows.
        serving._chat_template_cache.clear()
        refusal = serving._validate_request(asked)
        if refusal:
            raise Refused(refusal)
        made, _ = serving._convert_to_internal_request(asked)
        if hasattr(made, "text"):
            return made.text
        return serving.tokenizer_manager.tokenizer.decode(made.input_ids)


stand_ins.seal()
serve(SGLang())
