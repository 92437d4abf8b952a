"""Starts the server of llama.cpp that the package xllamacpp has, with the options of llama-server.

So the package can take the place of a `llama-server` program. It knows the options that Rolecall
uses, and a few more that change how answers are read. It runs until it is ended.
"""

import argparse
import signal
import sys

import xllamacpp

REASONING_FORMATS = {
    "none": xllamacpp.common_reasoning_format.COMMON_REASONING_FORMAT_NONE,
    "auto": xllamacpp.common_reasoning_format.COMMON_REASONING_FORMAT_AUTO,
    "deepseek": xllamacpp.common_reasoning_format.COMMON_REASONING_FORMAT_DEEPSEEK,
    "deepseek-legacy": xllamacpp.common_reasoning_format.COMMON_REASONING_FORMAT_DEEPSEEK_LEGACY,
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="llama-server", allow_abbrev=False)
    add = parser.add_argument
    add("--version", action="version", version=f"xllamacpp {xllamacpp.__version__}")
    add("-m", "--model", required=True)
    add("--host", default="127.0.0.1")
    add("--port", type=int, default=8080)
    add("-c", "--ctx-size", type=int, default=4096)
    add("-np", "--parallel", type=int, default=1)
    add("-t", "--threads", type=int, default=1)
    template = parser.add_mutually_exclusive_group()
    template.add_argument("--chat-template")
    template.add_argument("--chat-template-file")
    add("--jinja", action=argparse.BooleanOptionalAction, default=True)
    add("--reasoning-format", choices=REASONING_FORMATS)
    add("--skip-chat-parsing", action="store_true")
    add("-lv", "--verbosity", type=int)
    return parser.parse_args()


def parameters(wanted: argparse.Namespace) -> xllamacpp.CommonParams:
    chosen = xllamacpp.CommonParams()
    chosen.model.path = wanted.model
    chosen.hostnames = [wanted.host]
    chosen.port = wanted.port
    chosen.n_ctx = wanted.ctx_size
    chosen.n_parallel = wanted.parallel
    chosen.n_gpu_layers = 0
    chosen.cpuparams.n_threads = wanted.threads
    chosen.cpuparams_batch.n_threads = wanted.threads
    chosen.use_jinja = wanted.jinja
    chosen.warmup = False
    if wanted.chat_template is not None:
        chosen.chat_template = wanted.chat_template
    if wanted.chat_template_file is not None:
        # newline="": the template stays as it is, byte by byte.
        with open(wanted.chat_template_file, encoding="utf-8", newline="") as file:
            chosen.chat_template = file.read()
    if wanted.reasoning_format is not None:
        chosen.reasoning_format = REASONING_FORMATS[wanted.reasoning_format]
    chosen.force_pure_content_parser = wanted.skip_chat_parsing
    if wanted.verbosity is not None:
        chosen.verbosity = wanted.verbosity
    return chosen


def main() -> None:
    try:
        server = xllamacpp.Server(parameters(arguments()))
    except (OSError, RuntimeError) as failure:
        sys.exit(f"llama-server: {failure}")
    print(f"server is listening on {server.listening_address}", file=sys.stderr, flush=True)
    while True:
        signal.pause()


main()
