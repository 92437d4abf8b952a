"""The parsers of vLLM, which read a model's reasoning and its calls of tools, over Rolecall's engine
protocol. They are vLLM's own classes. The rest of vLLM is not there: `modules.txt` names the modules
that are, and all others are stand-ins.

The parsers are put together and called as `entrypoints/openai/chat_completion/serving.py` does, with
automatic choice of tools. An answer in pieces goes through `parse_delta`, with the ids of its tokens.
"""

import enum
import importlib.metadata
import logging
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import stand_ins
from parsers import Calls, Unsupported, message, serve

OTHERS = {"PIL", "mistral_common", "openai_harmony", "torch", "transformers", "xgrammar"}


class SpecialTokens(enum.Enum):
    """Tokens that the parser for Mistral has from mistral-common."""

    tool_calls = "[TOOL_CALLS]"
    args = "[ARGS]"
    begin_think = "[THINK]"
    end_think = "[/THINK]"


class Logger(logging.Logger):
    """vLLM's logger can say a thing once."""

    def warning_once(self, *words, **options):
        pass

    debug_once = info_once = warning_once


stand_ins.install(
    os.path.join(HERE, "modules.txt"),
    OTHERS,
    SpecialTokens=SpecialTokens,
    init_logger=Logger,
    random_uuid=lambda: "0",
)

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.parser import ParserManager
from vllm.reasoning import ReasoningParserManager
from vllm.tool_parsers import ToolParserManager

# They are imported now, while stand-ins may still be used.
for name in sorted(ToolParserManager.lazy_parsers):
    ToolParserManager.get_tool_parser(name)
for name in sorted(ReasoningParserManager.lazy_parsers):
    ReasoningParserManager.get_reasoning_parser(name)

# vLLM's documentation names the parsers of each family of models. A family is known by the marks in
# its template: the first of these that a template has decides.
TOOL_PARSERS = [
    ("<|channel|>", "openai"),
    ("<|START_ACTION|>", "cohere_command4"),
    ("<｜DSML｜", "deepseek_v32"),
    ("<｜tool▁calls▁begin｜>", "deepseek_v3"),
    ("<seed:tool_call>", "seed_oss"),
    ("<arg_key>", "glm45"),
    ("<start_function_call>", "functiongemma"),
    ("[TOOL_CALLS]", "mistral"),
    ("functools[", "phi4_mini_json"),
    ("<|tool_call_start|>", "lfm2"),
    ("<|tool_calls_section_begin|>", "kimi_k2"),
    ("<minimax:tool_call>", "minimax_m2"),
    ("<function=", "qwen3_coder"),
    ("<|start_of_role|>", "granite"),
    ("<tool_call>", "hermes"),
    ('"parameters": ', "llama3_json"),
]
REASONING_PARSERS = [
    ("<|channel|>", "openai_gptoss"),
    ("<|START_THINKING|>", "cohere_command4"),
    ("<seed:think>", "seed_oss"),
    ("[THINK]", "mistral"),
    ("[gMASK]", "glm45"),
    ("<｜Assistant｜>", "deepseek_r1"),
    ("<|im_start|>", "qwen3"),
]
# Those that need a mark of their own besides.
THINKING = {"deepseek_r1", "glm45", "qwen3"}


class VLLM:
    name = "vllm-parsers"
    version = importlib.metadata.version("vllm")
    components = {"regex": importlib.metadata.version("regex")}
    tool_call_parsers = ToolParserManager.lazy_parsers
    reasoning_parsers = ReasoningParserManager.lazy_parsers

    def choose(self, tokenizer):
        source = tokenizer.chat_template
        tools = next((name for mark, name in TOOL_PARSERS if mark in source), None)
        reasoning = next((name for mark, name in REASONING_PARSERS if mark in source), None)
        if tools == "llama3_json" and "<|start_header_id|>" not in source:
            tools = None
        if reasoning in THINKING and "</think>" not in source:
            reasoning = None
        return {"tool_calls": tools, "reasoning": reasoning}

    def for_response_template(self, template):
        fields = template.get("fields") or {}
        # With neither, vLLM refuses to start. It says so for a parser of calls.
        return {
            "tool_calls": "hf" if "tool_calls" in fields or "thinking" not in fields else None,
            "reasoning": "hf" if "thinking" in fields else None,
        }

    def read(self, chosen, tokenizer, request):
        if chosen["tool_calls"] == "openai":
            raise Unsupported(
                "vLLM reads this format by the ids of tokens, and openai-harmony fetches its "
                "vocabulary from the network"
            )
        asked = ChatCompletionRequest(
            messages=[],
            model="model",
            request_id="request",
            tools=request["tools"] or None,
            chat_template_kwargs=request.get("variables"),
        )
        made = ParserManager.get_parser(
            tool_parser_name=chosen["tool_calls"],
            reasoning_parser_name=chosen["reasoning"],
            enable_auto_tools=True,
            tokenizer=tokenizer,
        )
        parser = made(tokenizer, asked.tools, chat_template_kwargs=request.get("variables"))
        prompt, text = tokenizer.encode(request["prefix"]), request["text"]
        if request.get("chunks") is not None:
            return self.read_stream(parser, tokenizer, asked, prompt, request["chunks"])
        parser.set_prompt_token_ids(prompt)
        reasoning, content, calls = parser.parse(
            text,
            asked,
            enable_auto_tools=True,
            model_output_token_ids=tokenizer.encode(text),
        )
        # Without tools, the server leaves out calls.
        calls = calls if asked.tools else []
        return message(reasoning, content, [(call.name, call.arguments) for call in calls or []])

    def read_stream(self, parser, tokenizer, asked, prompt, chunks):
        reasoning, content, calls = "", "", Calls()
        for at, chunk in enumerate(chunks):
            delta = parser.parse_delta(
                chunk,
                tokenizer.encode(chunk),
                asked,
                prompt_token_ids=prompt,
                finished=at + 1 == len(chunks),
            )
            if delta is None:
                continue
            reasoning += delta.reasoning or ""
            content += delta.content or ""
            for call in delta.tool_calls or []:
                function = call.function
                calls.add(call.index, function and function.name, function and function.arguments)
        return message(reasoning, content, calls.all() if asked.tools else [])


serve(VLLM())
