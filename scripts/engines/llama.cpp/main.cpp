// llama.cpp's own Jinja engine, common/jinja, from the source in the package llama-cpp-python.
//
// Set up as in `common_chat_template_direct_apply_impl` of common/chat.cpp: lexer, parser,
// `global_from_json`, runtime. llama-server changes messages before that; for example it joins a
// list of texts into one text. That belongs to the server and not to the engine.

#include "jinja/lexer.h"
#include "jinja/parser.h"
#include "jinja/runtime.h"
#include "json.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

using json = nlohmann::ordered_json;

// The parts of ggml that common/json.cpp needs; ggml itself is not built for it.
extern "C" void ggml_abort(const char * file, int line, const char * format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s:%d: ", file, line);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    abort();
}

struct chat_template {
    std::string source;
    jinja::program program;
};

static json failed(const char * stage, const std::string & message) {
    return {{"outcome", "failed"}, {"stage", stage}, {"message", message}};
}

static json load(std::map<std::string, chat_template> & templates, const json & request) {
    try {
        auto tokens = jinja::lexer().tokenize(request.at("source").get<std::string>());
        auto & loaded = templates[request.at("template")];
        loaded.program = jinja::parse_from_tokens(tokens);
        loaded.source = tokens.source;
        return {{"ok", true}};
    } catch (const std::exception & error) {
        return failed("parse", error.what());
    }
}

static std::time_t moment(const std::string & text) {
    std::tm parts = {};
    strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
    return timegm(&parts);
}

static json render(const chat_template & asked, const json & request) {
    json variables = json::object();
    for (const char * name : {"messages", "tools", "documents", "add_generation_prompt"}) {
        variables[name] = request.at(name);
    }
    for (const auto & name : request.value("undefined", json::array())) {
        variables.erase(name.get<std::string>());
    }
    variables.update(request.at("variables"));
    try {
        jinja::context context(asked.source);
        context.current_time = moment(request.at("now"));
        jinja::global_from_json(context, common_json::parse(variables.dump()), true);
        auto results = jinja::runtime(context).execute(asked.program);
        auto text = jinja::runtime::gather_string_parts(results)->as_string().str();
        json answer = {{"outcome", "rendered"}, {"text", text}};
        answer.dump(); // throws where the text is no UTF-8
        return answer;
    } catch (const std::exception & error) {
        // The engine reports a refusal with its place, and with this text before its message.
        const std::string mark = "Jinja Exception: ", message = error.what();
        auto at = message.rfind(mark);
        if (at == std::string::npos) {
            return failed("render", message);
        }
        return {{"outcome", "raised"}, {"message", message.substr(at + mark.size())}};
    }
}

int main() {
    std::map<std::string, chat_template> templates;
    for (std::string line; std::getline(std::cin, line);) {
        auto request = json::parse(line);
        auto kind = request.at("request").get<std::string>();
        if (kind == "stop") {
            break;
        }
        json answer;
        if (kind == "start") {
            // The version of the package: its llama.cpp has no version of its own.
            answer = {{"rolecall", 1}, {"engine", "llama.cpp"}, {"version", VERSION}, {"dialect", "jinja"}};
        } else {
            answer = kind == "load" ? load(templates, request) : render(templates.at(request.at("template")), request);
            answer["id"] = request.at("id");
        }
        // Messages quote the source, and cut it by bytes.
        std::cout << answer.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
    }
}
