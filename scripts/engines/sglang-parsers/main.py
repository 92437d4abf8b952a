"""The parsers of SGLang, which read a model's reasoning and its calls of tools, over Rolecall's engine
protocol. They are SGLang's own classes. The rest of SGLang is not there: `modules.txt` names the modules
that are, and all others are stand-ins.

The parsers are called as `entrypoints/openai/serving_chat.py` does. SGLang finds out itself which
parsers belong to many templates (`--tool-call-parser auto`).
"""

import importlib.metadata
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import stand_ins
from parsers import Calls, message, serve

OTHERS = {"PIL", "fastapi", "numpy", "openai_harmony", "torch", "transformers", "xgrammar"}
stand_ins.install(os.path.join(HERE, "modules.txt"), OTHERS)

from sglang.srt.entrypoints.openai.protocol import ChatCompletionRequest
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.parser import template_detection as detection
from sglang.srt.parser.reasoning_parser import ReasoningParser
from sglang.srt.parser.response_template import (
    ResponseTemplateReasoningDetector,
    validate_response_template_for_serving,
)

# What SGLang's documentation names for families that `auto` does not know. The first mark that a
# template has decides.
TOOL_PARSERS = [
    ("<｜tool▁calls▁begin｜>", "deepseekv3"),
    ("[TOOL_CALLS]", "mistral"),
    ("'FunctionCall'", "hermes"),
    ('"FunctionCall"', "hermes"),
    ("<tool_call>", "qwen"),
    ("<|python_tag|>", "llama3"),
    ('"parameters": ', "llama3"),
]


class SGLang:
    name = "sglang-parsers"
    version = importlib.metadata.version("sglang")
    components = {"orjson": importlib.metadata.version("orjson")}
    tool_call_parsers = FunctionCallParser.ToolCallParserEnum
    reasoning_parsers = ReasoningParser.DetectorMap

    def choose(self, tokenizer):
        source = tokenizer.chat_template
        forced, config = detection.detect_reasoning_pattern(source)
        tools = detection.detect_tool_call_parser(source, tokenizer, config, forced)
        if tools is None:
            tools = next((name for mark, name in TOOL_PARSERS if mark in source), None)
        if tools == "llama3" and "<|start_header_id|>" not in source:
            tools = None
        reasoning = detection.detect_reasoning_parser(source, tokenizer, config, forced)
        return {"tool_calls": tools, "reasoning": reasoning}

    def for_response_template(self, template):
        fields = validate_response_template_for_serving(template).fields
        return {
            "tool_calls": "response_template" if "tool_calls" in fields else None,
            "reasoning": "response_template" if "thinking" in fields else None,
        }

    def read(self, chosen, tokenizer, request):
        asked = ChatCompletionRequest(
            messages=[{"role": "user", "content": ""}],
            model="model",
            tools=request["tools"] or None,
            chat_template_kwargs=request.get("variables") or None,
        )
        prefix = request["prefix"] if "response_template" in chosen.values() else ""
        with_tools = bool(chosen["tool_calls"] and asked.tools)
        reader = None
        if chosen["reasoning"]:
            reader = ReasoningParser(
                model_type=chosen["reasoning"],
                stream_reasoning=request.get("chunks") is not None,
                force_reasoning=self.must_think(chosen["reasoning"], tokenizer, asked),
                request=asked,
                tokenizer=tokenizer,
                tool_call_parser_active=with_tools,
                prefix=prefix,
            )
        caller = None
        if with_tools:
            caller = FunctionCallParser(
                asked.tools,
                chosen["tool_calls"],
                tokenizer=tokenizer,
                tool_choice=asked.tool_choice,
                prefix=prefix,
            )
        if request.get("chunks") is not None:
            return self.read_stream(reader, caller, request["chunks"])
        reasoning, content, calls = None, request["text"], []
        if reader:
            reasoning, content = reader.parse_non_stream(content)
        if caller and not self.has_answered(reader) and caller.has_tool_call(content):
            before = content
            try:
                content, found = caller.parse_non_stream(content)
                calls = [(call.name, call.parameters) for call in found]
            except Exception:
                # The server logs this, and passes the text on.
                content = before
        return message(reasoning, content, calls)

    def has_answered(self, reader):
        """Whether a response template says that the text before is the answer."""
        detector = reader and reader.detector
        is_template = isinstance(detector, ResponseTemplateReasoningDetector)
        return is_template and detector.answer_started

    def must_think(self, parser, tokenizer, asked):
        """Whether the server takes the beginning for reasoning: what `_get_reasoning_from_request`
        says."""
        forced, config = detection.detect_reasoning_pattern(tokenizer.chat_template)
        variables = asked.chat_template_kwargs or {}
        if forced:
            return True
        if config is None:
            reader = ReasoningParser(model_type=parser, tokenizer=tokenizer)
            mode = reader.detector.reasoning_default
            if mode in ("thinking", "enable_thinking"):
                return variables.get(mode) is not False
            if mode in ("explicit_thinking", "explicit_enable_thinking"):
                return variables.get(mode.replace("explicit_", "")) is True
            return mode == "always"
        if config.toggle_param is None or config.default_enabled is None:
            return False
        setting = variables.get(config.toggle_param)
        return setting is not False if config.default_enabled else setting is True

    def read_stream(self, reader, caller, chunks):
        reasoning, content, calls = "", "", Calls()

        def feed(text, is_last):
            nonlocal content
            if not caller or self.has_answered(reader):
                content += text
                return
            parts = [caller.parse_stream_chunk(text)]
            if is_last:
                parts.append(caller.parse_stream_end())
            for normal, found in parts:
                content += normal or ""
                for call in found:
                    calls.add(call.tool_index, call.name, call.parameters)

        for at, chunk in enumerate(chunks):
            is_last = at + 1 == len(chunks)
            if reader:
                parts = [reader.parse_stream_chunk(chunk)]
                if is_last:
                    parts.append(reader.parse_stream_end())
                reasoning += "".join(part or "" for part, _ in parts)
                chunk = "".join(part or "" for _, part in parts)
            feed(chunk, is_last)
        return message(reasoning, content, calls.all())


serve(SGLang())
