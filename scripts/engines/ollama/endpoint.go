package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// The fronts: Ollama's own chat endpoint, and the one for clients of OpenAI.
const (
	native = "ollama"
	openAI = "ollama-openai"
)

// setup is a server's knowledge of the model beside its template.
type setup struct {
	Model    string    `json:"model"`
	Family   string    `json:"family"`
	Parser   string    `json:"parser"`
	System   string    `json:"system"`
	Messages []message `json:"messages"`
}

// chatRequest is api.ChatRequest, as far as a prompt depends on it.
type chatRequest struct {
	Messages []message   `json:"messages"`
	Tools    []tool      `json:"tools,omitempty"`
	Think    *thinkValue `json:"think,omitempty"`
}

type openAIRequest struct {
	Messages  []openAIMessage `json:"messages"`
	Tools     []tool          `json:"tools"`
	Reasoning *struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
	ReasoningEffort *string `json:"reasoning_effort"`
}

// MarshalJSON writes what was read.
func (t thinkValue) MarshalJSON() ([]byte, error) {
	if t.level == "" || t.level == "medium" {
		return json.Marshal(t.on)
	}
	return json.Marshal(t.level)
}

// answer takes the steps of the chat endpoints until they have the input of a template.
func (t *chatTemplate) answer(r *request) (*values, error) {
	body, err := r.body()
	if err != nil {
		return nil, err
	}
	if t.front == openAI {
		if body, err = translate(body); err != nil {
			return nil, err
		}
	}
	var asked chatRequest
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&asked); err != nil {
		return nil, err
	}
	return t.chat(&asked)
}

// body is the body of the HTTP request: messages and tools, and all other fields beside them.
func (r *request) body() ([]byte, error) {
	body := map[string]json.RawMessage{}
	for name, value := range r.Variables {
		body[name] = value
	}
	body["messages"] = r.Messages
	delete(body, "tools")
	if len(r.Tools) > 0 {
		body["tools"] = r.Tools
	}
	return json.Marshal(body)
}

// translate turns a request to the OpenAI endpoint into one to the native endpoint.
func translate(body []byte) ([]byte, error) {
	var asked openAIRequest
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&asked); err != nil {
		return nil, err
	}
	if len(asked.Messages) == 0 {
		return nil, errors.New("[] is too short - 'messages'")
	}
	translated := chatRequest{Tools: asked.Tools}
	for _, m := range asked.Messages {
		var err error
		translated.Messages, err = mapMessage(m, translated.Messages, asked.Messages)
		if err != nil {
			return nil, err
		}
	}
	effort := ""
	if asked.Reasoning != nil {
		effort = asked.Reasoning.Effort
	} else if asked.ReasoningEffort != nil {
		effort = *asked.ReasoningEffort
	}
	think, err := thinkOfEffort(effort)
	if err != nil {
		return nil, err
	}
	if think.isSet {
		translated.Think = &thinkValue{think}
	}
	return json.Marshal(translated)
}

// chat takes the steps of the native endpoint with a request.
func (t *chatTemplate) chat(asked *chatRequest) (*values, error) {
	v := values{messages: asked.Messages, tools: asked.Tools}
	if asked.Think != nil {
		v.think = asked.Think.think
	}
	if t.canThink() {
		if asked.Think == nil {
			v.think = switched(true)
		}
	} else if v.think.on {
		return nil, fmt.Errorf("%s does not support thinking", t.name())
	}
	if len(asked.Tools) > 0 && !t.hasTools() {
		return nil, errors.New("does not support tools")
	}
	if len(asked.Messages) == 0 {
		return nil, errors.New("without messages the endpoint loads the model and renders nothing")
	}
	v.messages = append(slices.Clone(t.setup.Messages), asked.Messages...)
	if asked.Messages[0].Role != "system" && t.setup.System != "" {
		system := message{Role: "system", Content: t.setup.System}
		v.messages = append([]message{system}, v.messages...)
	}
	if t.setup.Family == "qwen3" || t.setup.Model == "deepseek-r1" {
		dropThoughts(v.messages)
	}
	parser := t.setup.Parser
	if t.speaksHarmony() {
		if v.think.level == "max" {
			v.think.level = "high"
		}
		if parser == "" {
			parser = "harmony"
		}
	}
	if parser == "harmony" {
		renameTools(v.tools)
	}
	tagImages(v.messages)
	return &v, nil
}

// parsers are the built-in parsers of answers, and their abilities.
var parsers = map[string]struct{ tools, thinking bool }{
	"qwen3": {true, false}, "qwen3-thinking": {true, true}, "qwen3.5": {true, true},
	"ornith": {true, true}, "qwen3-coder": {true, false}, "qwen3-vl-instruct": {true, false},
	"qwen3-vl-thinking": {true, true}, "ministral": {true, false}, "passthrough": {false, false},
	"harmony": {true, true}, "cogito": {true, true}, "deepseek3": {true, true},
	"olmo3": {true, false}, "olmo3-think": {false, true}, "nemotron-3-nano": {true, true},
	"nemotron-3.5-nano": {true, true}, "functiongemma": {true, false}, "glm-4.7": {true, true},
	"gemma4": {true, true}, "gemma4-no-thinking": {true, false}, "glm-ocr": {true, false},
	"lfm2": {true, false}, "lfm2-thinking": {true, true}, "laguna": {true, true},
	"poolside-v1": {true, true}, "cohere": {true, true}, "glimmer": {true, true},
}

// name is the model's name in requests.
func (t *chatTemplate) name() string {
	if t.setup.Model == "" {
		return "the model"
	}
	return strconv.Quote(t.setup.Model)
}

func (t *chatTemplate) hasTools() bool {
	return t.names["tools"] || parsers[t.setup.Parser].tools
}

func (t *chatTemplate) canThink() bool {
	opening, closing := t.thinkingTags()
	return opening != "" && closing != "" || parsers[t.setup.Parser].thinking || t.isOfGptOss()
}

func (t *chatTemplate) isOfGptOss() bool {
	return t.setup.Family == "gptoss" || t.setup.Family == "gpt-oss"
}

func (t *chatTemplate) speaksHarmony() bool {
	return t.isOfGptOss() && strings.Contains(t.source, "<|start|>") && strings.Contains(t.source, "<|end|>")
}

// dropThoughts drops thoughts in tags from the assistant's messages before the last message of
// the user.
func dropThoughts(messages []message) {
	last := -1
	for i := range messages {
		if messages[i].Role == "user" {
			last = i
		}
	}
	for i := range messages {
		if messages[i].Role == "assistant" && i < last {
			messages[i].Content = said(messages[i].Content)
		}
	}
}

func said(text string) string {
	trimmed := strings.TrimLeftFunc(text, unicode.IsSpace)
	thoughts, thinks := strings.CutPrefix(trimmed, "<think>")
	if !thinks {
		// A possible beginning of the tag waits for more text.
		if strings.HasPrefix("<think>", trimmed) {
			return ""
		}
		return text
	}
	thoughts = strings.TrimLeftFunc(thoughts, unicode.IsSpace)
	_, rest, _ := strings.Cut(thoughts, "</think>")
	return strings.TrimLeftFunc(rest, unicode.IsSpace)
}

// renameTools gives tools the names that they have for models that speak Harmony.
func renameTools(tools []tool) {
	taken := map[string]bool{}
	for i := range tools {
		name := &tools[i].Function.Name
		switch *name {
		case "":
			continue
		case "browser.open", "browser.search", "browser.find", "python":
		default:
			identifier := identifierOf(*name)
			*name = identifier
			for number := 2; taken[*name]; number++ {
				*name = fmt.Sprintf("%s_%d", identifier, number)
			}
		}
		taken[*name] = true
	}
}

func identifierOf(name string) string {
	identifier := strings.Map(func(c rune) rune {
		switch {
		case strings.ContainsRune(" -.", c):
			return '_'
		case c == '_' || c == '$' || unicode.IsLetter(c) || unicode.IsDigit(c):
			return c
		}
		return -1
	}, name)
	if identifier == "" {
		return "unnamed"
	}
	if unicode.IsDigit(rune(identifier[0])) {
		return "_" + identifier
	}
	return identifier
}
