package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// think is a request's setting for thinking.
type think struct {
	on    bool
	level string
	isSet bool
}

// values is the data that Ollama has when it executes a template.
type values struct {
	messages []message
	tools    []tool
	think
}

// eitherMessage is a message as one endpoint or the other takes it, with the reasoning by
// any name that servers have for it.
type eitherMessage struct {
	openAIMessage
	ReasoningContent string      `json:"reasoning_content"`
	Thinking         string      `json:"thinking"`
	Images           []ImageData `json:"images"`
	WrittenName      *string     `json:"tool_name"`
	ToolCalls        []struct {
		openAIToolCall
		Function struct {
			Index     int           `json:"index"`
			Name      string        `json:"name"`
			Arguments jsonArguments `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// jsonArguments is a JSON text: the string of the OpenAI endpoint, or the object of
// Ollama's own.
type jsonArguments string

func (a *jsonArguments) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		*a = jsonArguments(data)
		return nil
	}
	return json.Unmarshal(data, (*string)(a))
}

// read reads a conversation without an endpoint, by the rules of both endpoints.
func read(r *request) (*values, error) {
	var messages []eitherMessage
	if err := json.Unmarshal(r.Messages, &messages); err != nil {
		return nil, err
	}
	var v values
	if len(r.Tools) > 0 {
		if err := json.Unmarshal(r.Tools, &v.tools); err != nil {
			return nil, err
		}
	}
	if len(messages) == 0 {
		return nil, errors.New("[] is too short - 'messages'")
	}
	plain := make([]openAIMessage, len(messages))
	for i := range messages {
		plain[i] = messages[i].plain()
	}
	for i, m := range messages {
		before := len(v.messages)
		mapped, err := mapMessage(plain[i], v.messages, plain)
		if err != nil {
			return nil, err
		}
		v.messages = mapped
		m.finish(mapped, before)
	}
	think, err := readThink(r.Variables)
	if err != nil {
		return nil, err
	}
	v.think = think
	if len(v.messages) == 0 {
		return nil, errors.New("no messages are left to render")
	}
	for i := range v.messages {
		v.messages[i].Role = strings.ToLower(v.messages[i].Role)
	}
	tagImages(v.messages)
	return &v, nil
}

// plain is the message as the OpenAI endpoint takes it.
func (m *eitherMessage) plain() openAIMessage {
	p := m.openAIMessage
	if p.Reasoning == "" {
		p.Reasoning = m.ReasoningContent
	}
	if p.Reasoning == "" {
		p.Reasoning = m.Thinking
	}
	if m.ToolCalls != nil {
		p.ToolCalls = make([]openAIToolCall, len(m.ToolCalls))
		for i, call := range m.ToolCalls {
			p.ToolCalls[i] = call.openAIToolCall
			p.ToolCalls[i].Function.Name = call.Function.Name
			p.ToolCalls[i].Function.Arguments = string(call.Function.Arguments)
		}
	}
	return p
}

// finish adds the fields that the OpenAI endpoint does not know to a converted message.
func (m *eitherMessage) finish(mapped []message, before int) {
	if len(mapped) == 0 {
		return
	}
	last := &mapped[len(mapped)-1]
	_, isList := m.Content.([]any)
	if isList && len(m.ToolCalls) == 0 {
		return
	}
	for i := range last.ToolCalls {
		last.ToolCalls[i].Function.Index = m.ToolCalls[i].Function.Index
	}
	if m.WrittenName != nil {
		last.ToolName = *m.WrittenName
	}
	if !isList && len(mapped) > before {
		last.Images = m.Images
	}
}

// tagImages puts a mark into the content for each image: in place of an [img], or in front.
func tagImages(messages []message) {
	media := 0
	for i := range messages {
		m := &messages[i]
		prefix := ""
		for range m.Images {
			tag := fmt.Sprintf("[img-%d]", media)
			media++
			if strings.Contains(m.Content, "[img]") {
				m.Content = strings.Replace(m.Content, "[img]", tag, 1)
			} else {
				prefix += tag
			}
		}
		m.Content = prefix + m.Content
	}
}

// readThink reads `think` as Ollama's own endpoint does, `reasoning_effort` as the
// OpenAI endpoint does, and a boolean `enable_thinking` like a boolean `think`.
func readThink(variables map[string]json.RawMessage) (think, error) {
	given := func(name string) (json.RawMessage, bool) {
		raw, ok := variables[name]
		return raw, ok && string(raw) != "null"
	}
	if raw, ok := given("think"); ok {
		var value thinkValue
		err := json.Unmarshal(raw, &value)
		return value.think, err
	}
	if raw, ok := given("reasoning_effort"); ok {
		var effort string
		if err := json.Unmarshal(raw, &effort); err != nil {
			return think{}, err
		}
		return thinkOfEffort(effort)
	}
	if raw, ok := given("enable_thinking"); ok {
		var on bool
		if json.Unmarshal(raw, &on) == nil {
			return switched(on), nil
		}
	}
	return think{}, nil
}

// thinkValue is api.ThinkValue: a boolean or a level.
type thinkValue struct{ think }

func (t *thinkValue) UnmarshalJSON(data []byte) error {
	var on bool
	if json.Unmarshal(data, &on) == nil {
		t.think = switched(on)
		return nil
	}
	var level string
	if json.Unmarshal(data, &level) != nil {
		return errors.New(`think must be a boolean or string ("high", "medium", "low", "max", true, or false)`)
	}
	switch level {
	case "high", "medium", "low", "max":
		t.think = think{true, level, true}
		return nil
	}
	return fmt.Errorf(`invalid think value: %q (must be "high", "medium", "low", "max", true, or false)`, level)
}

func thinkOfEffort(effort string) (think, error) {
	switch effort {
	case "":
		return think{}, nil
	case "none":
		return switched(false), nil
	case "minimal":
		return think{true, "low", true}, nil
	case "low", "medium", "high", "max":
		return think{true, effort, true}, nil
	case "xhigh", "ultra":
		return think{true, "max", true}, nil
	}
	return think{}, fmt.Errorf(`invalid reasoning value: %q (must be "minimal", "low", "medium", "high", "xhigh", "ultra", "max", or "none")`, effort)
}

func switched(on bool) think {
	if on {
		return think{true, "medium", true}
	}
	return think{isSet: true}
}
