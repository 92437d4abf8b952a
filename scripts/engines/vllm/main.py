"""vLLM as an application, over Rolecall's engine protocol: it gets requests as clients of
`/v1/chat/completions` write them, and answers with the prompts that its renderer makes of them, or with
its refusals.

All of this is vLLM's own code: the request's model, `OnlineRenderer.render_chat`, the content format, and
`safe_apply_chat_template` with a transformers that this vLLM allows. Neither the engine nor tokens are
here: `modules.txt` names the modules that are needed, and all others are stand-ins.
"""

import asyncio
import importlib.metadata
import logging
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


class Logger(logging.Logger):
    """vLLM's logger can say a thing once."""

    def warning_once(self, *words, **options):
        pass

    debug_once = info_once = warning_once


class NoParser:
    """A parser of calls, so that requests may have tools. It changes nothing of them."""

    tool_parser_cls = object
    reasoning_parser_cls = None
    always_adjust_request = False

    def __init__(self, *arguments, **named):
        pass

    def set_prompt_token_ids(self, tokens):
        pass

    def adjust_request(self, request):
        return request


def refuse(message, *details):
    raise Refused(message)


class Media:
    """Media are not fetched: a prompt has only their places."""

    def __init__(self, *arguments, **named):
        self.fetch_image = self.fetch_audio = self.fetch_video = lambda *_, **named: None

    @staticmethod
    def create_processor(config):
        def validate_num_items(kind, count):
            if kind not in config.media:
                raise ValueError(f"{config.model} is not a multimodal model")

        return SimpleNamespace(info=SimpleNamespace(validate_num_items=validate_num_items))

    @staticmethod
    def get_placeholder_str(kind, count):
        return None


stand_ins.install(
    os.path.join(HERE, "modules.txt"),
    {"mistral_common", "torch", "xgrammar"},
    MEDIA_CONNECTOR_REGISTRY=SimpleNamespace(load=Media),
    MULTIMODAL_REGISTRY=Media,
    MediaDecodedBudget=object,
    MediaRequestDownloadBudget=object,
    ParserManager=SimpleNamespace(get_parser=lambda **options: NoParser),
    create_error_response=refuse,
    get_model_cls=lambda config: Media,
    get_video_processor_cls_name=lambda config: None,
    extract_prompt_components=lambda config, prompt: SimpleNamespace(token_ids=None),
    init_logger=Logger,
    merge_media_io_kwargs=lambda defaults, given: given,
    parse_dec_only_prompt=lambda prompt: {"prompt": prompt},
    random_uuid=lambda: "0",
)

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.renderers.hf import HfRenderer
from vllm.renderers.online_renderer import OnlineRenderer


class Renderer(HfRenderer):
    """vLLM's renderer for models of transformers. It does not cut the prompt into tokens."""

    use_unified_vision_chunk = False

    def __init__(self, model_config, tokenizer):
        self.model_config = model_config
        self.tokenizer = tokenizer

    def get_tokenizer(self):
        return self.tokenizer

    async def render_chat_async(self, conversations, params, *rest, **named):
        conversation, prompt = self.render_messages(conversations[0], params)
        return [conversation], [prompt]


class VLLM(TransformersServer):
    name = "vllm"
    version = importlib.metadata.version("vllm")
    components = {"jinja2": jinja2.__version__, "transformers": transformers.__version__}

    def load(self, number, templates, tokens, media):
        check(templates)
        owner = Tokenizer.of(templates, tokens)
        # vLLM keeps what it has found out about a template under this name.
        owner.name_or_path = f"model-{number}"
        config = SimpleNamespace(
            media=media,
            is_multimodal_model=True,
            hf_config=SimpleNamespace(model_type="llama"),
            multimodal_config=None,
            enable_prompt_embeds=False,
            max_model_len=1,
            model="model",
            tokenizer="model",
            revision=None,
            tokenizer_revision=None,
            code_revision=None,
            trust_remote_code=False,
            allowed_local_media_path="",
            allowed_media_domains=None,
        )
        return OnlineRenderer(
            config,
            Renderer(config, owner),
            request_logger=None,
            chat_template=None,
            chat_template_content_format="auto",
            enable_auto_tools=True,
            tool_parser="any",
        )

    def prompt(self, renderer, request):
        asked = ChatCompletionRequest(**request)
        _, prompts = asyncio.run(renderer.render_chat(asked))
        return prompts[0]["prompt"]


stand_ins.seal()
serve(VLLM())
