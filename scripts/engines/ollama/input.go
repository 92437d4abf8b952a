package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// values is what Ollama has in hand when it executes a template.
type values struct {
	messages   []message
	tools      []tool
	think      bool
	thinkLevel string
	isThinkSet bool
}

// openAIMessage is a message as the OpenAI endpoint takes it, and what other servers
// call the reasoning.
type openAIMessage struct {
	Role             string           `json:"role"`
	Content          any              `json:"content"`
	Reasoning        string           `json:"reasoning"`
	ReasoningContent string           `json:"reasoning_content"`
	Thinking         string           `json:"thinking"`
	ToolCalls        []openAIToolCall `json:"tool_calls"`
	Name             string           `json:"name"`
	ToolCallID       string           `json:"tool_call_id"`
}

type openAIToolCall struct {
	ID       string `json:"id"`
	Index    int    `json:"index"`
	Type     string `json:"type"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// arguments is a JSON text: the string of the OpenAI endpoint, or the object of
// Ollama's own.
type arguments string

func (a *arguments) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		*a = arguments(data)
		return nil
	}
	return json.Unmarshal(data, (*string)(a))
}

func (a arguments) parse() (map[string]any, error) {
	invalid := errors.New("invalid tool call arguments")
	if strings.TrimSpace(string(a)) == "null" {
		return nil, nil
	}
	if !json.Valid([]byte(a)) {
		return nil, invalid
	}
	parsed := map[string]any{}
	if err := json.Unmarshal([]byte(a), &parsed); err != nil {
		return nil, invalid
	}
	return parsed, nil
}

func read(r *request) (*values, error) {
	var messages []openAIMessage
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
	for _, m := range messages {
		mapped, err := mapMessage(m, v.messages, messages)
		if err != nil {
			return nil, err
		}
		v.messages = mapped
	}
	if err := v.readThink(r.Variables); err != nil {
		return nil, err
	}
	if len(v.messages) == 0 {
		return nil, errors.New("no messages are left to render")
	}
	// The endpoint hands its request on as JSON: empty lists become absent, roles
	// lower-case.
	if len(v.tools) == 0 {
		v.tools = nil
	} else {
		text, err := json.Marshal(v.tools)
		if err != nil {
			return nil, err
		}
		v.tools = nil
		if err := json.Unmarshal(text, &v.tools); err != nil {
			return nil, err
		}
	}
	media := 0
	for i := range v.messages {
		m := &v.messages[i]
		m.Role = strings.ToLower(m.Role)
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
	return &v, nil
}

func mapMessage(m openAIMessage, before []message, all []openAIMessage) ([]message, error) {
	toolName := ""
	if strings.ToLower(m.Role) == "tool" {
		toolName = m.Name
		if toolName == "" && m.ToolCallID != "" {
			toolName = calledName(all, m.ToolCallID)
		}
	}
	thinking := m.Reasoning
	if thinking == "" {
		thinking = m.ReasoningContent
	}
	if thinking == "" {
		thinking = m.Thinking
	}
	mapped := message{Role: m.Role, Thinking: thinking, ToolName: toolName, ToolCallID: m.ToolCallID}
	switch content := m.Content.(type) {
	case string:
		calls, err := mapCalls(m.ToolCalls)
		if err != nil {
			return nil, err
		}
		mapped.Content = content
		mapped.ToolCalls = calls
		return append(before, mapped), nil
	case []any:
		for _, part := range content {
			one, err := mapPart(m.Role, part)
			if err != nil {
				return nil, err
			}
			before = append(before, one)
		}
		if len(before) > 0 && len(m.ToolCalls) > 0 {
			calls, err := mapCalls(m.ToolCalls)
			if err != nil {
				return nil, err
			}
			last := &before[len(before)-1]
			last.ToolCalls = calls
			last.ToolName = toolName
			last.ToolCallID = m.ToolCallID
			last.Thinking = thinking
		}
		return before, nil
	default:
		if m.ToolCalls == nil {
			return nil, fmt.Errorf("invalid message content type: %T", content)
		}
		calls, err := mapCalls(m.ToolCalls)
		if err != nil {
			return nil, err
		}
		mapped.ToolName = ""
		mapped.ToolCalls = calls
		return append(before, mapped), nil
	}
}

func mapPart(role string, part any) (message, error) {
	invalid := errors.New("invalid message format")
	data, ok := part.(map[string]any)
	if !ok {
		return message{}, invalid
	}
	switch data["type"] {
	case "text":
		text, ok := data["text"].(string)
		if !ok {
			return message{}, invalid
		}
		return message{Role: role, Content: text}, nil
	case "image_url":
		url, ok := data["image_url"].(string)
		if object, isObject := data["image_url"].(map[string]any); isObject {
			url, ok = object["url"].(string)
		}
		if !ok {
			return message{}, invalid
		}
		image, err := decodeImage(url)
		return message{Role: role, Images: []ImageData{image}}, err
	case "input_audio":
		object, ok := data["input_audio"].(map[string]any)
		if !ok {
			return message{}, errors.New("invalid input_audio format")
		}
		text, ok := object["data"].(string)
		if !ok {
			return message{}, errors.New("invalid input_audio format: missing data")
		}
		audio, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return message{}, fmt.Errorf("invalid input_audio base64 data: %w", err)
		}
		return message{Role: role, Images: []ImageData{audio}}, nil
	}
	return message{}, invalid
}

func decodeImage(url string) (ImageData, error) {
	if strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://") {
		return nil, errors.New("image URLs are not currently supported, please use base64 encoded data instead")
	}
	for _, kind := range []string{"", "image/jpeg", "image/jpg", "image/png", "image/webp"} {
		if text, ok := strings.CutPrefix(url, "data:"+kind+";base64,"); ok {
			if image, err := base64.StdEncoding.DecodeString(text); err == nil {
				return image, nil
			}
			break
		}
	}
	return nil, errors.New("invalid image input")
}

func mapCalls(calls []openAIToolCall) ([]toolCall, error) {
	mapped := make([]toolCall, len(calls))
	for i, call := range calls {
		parsed, err := call.Function.Arguments.parse()
		if err != nil {
			return nil, err
		}
		mapped[i] = toolCall{call.ID, call.Function.Name, parsed}
	}
	return mapped, nil
}

// calledName looks a call up by its ID, the last one first.
func calledName(messages []openAIMessage, id string) string {
	for i := len(messages) - 1; i >= 0; i-- {
		for _, call := range messages[i].ToolCalls {
			if call.ID == id {
				return call.Function.Name
			}
		}
	}
	return ""
}

// readThink reads `think` as Ollama's own endpoint does, `reasoning_effort` as the
// OpenAI endpoint does, and a boolean `enable_thinking` like a boolean `think`.
func (v *values) readThink(variables map[string]json.RawMessage) error {
	given := func(name string) (json.RawMessage, bool) {
		raw, ok := variables[name]
		return raw, ok && string(raw) != "null"
	}
	if raw, ok := given("think"); ok {
		var on bool
		if json.Unmarshal(raw, &on) == nil {
			v.setThink(on)
			return nil
		}
		var level string
		if json.Unmarshal(raw, &level) != nil {
			return errors.New(`think must be a boolean or string ("high", "medium", "low", "max", true, or false)`)
		}
		switch level {
		case "high", "medium", "low", "max":
			v.think, v.thinkLevel, v.isThinkSet = true, level, true
			return nil
		}
		return fmt.Errorf(`invalid think value: %q (must be "high", "medium", "low", "max", true, or false)`, level)
	}
	if raw, ok := given("reasoning_effort"); ok {
		var effort string
		if err := json.Unmarshal(raw, &effort); err != nil {
			return err
		}
		switch effort {
		case "":
		case "none":
			v.setThink(false)
		case "minimal":
			v.think, v.thinkLevel, v.isThinkSet = true, "low", true
		case "low", "medium", "high", "max":
			v.think, v.thinkLevel, v.isThinkSet = true, effort, true
		case "xhigh", "ultra":
			v.think, v.thinkLevel, v.isThinkSet = true, "max", true
		default:
			return fmt.Errorf("invalid reasoning value: %q", effort)
		}
		return nil
	}
	if raw, ok := given("enable_thinking"); ok {
		var on bool
		if json.Unmarshal(raw, &on) == nil {
			v.setThink(on)
		}
	}
	return nil
}

func (v *values) setThink(on bool) {
	v.think, v.isThinkSet = on, true
	if on {
		v.thinkLevel = "medium"
	}
}
