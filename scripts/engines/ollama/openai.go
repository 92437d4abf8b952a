package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// openAIMessage is a message as the endpoint for clients of OpenAI takes it.
type openAIMessage struct {
	Role       string           `json:"role"`
	Content    any              `json:"content"`
	Reasoning  string           `json:"reasoning"`
	ToolCalls  []openAIToolCall `json:"tool_calls"`
	Name       string           `json:"name"`
	ToolCallID string           `json:"tool_call_id"`
}

type openAIToolCall struct {
	ID       string `json:"id"`
	Index    int    `json:"index"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func mapMessage(m openAIMessage, before []message, all []openAIMessage) ([]message, error) {
	toolName := ""
	if strings.ToLower(m.Role) == "tool" {
		toolName = m.Name
		if toolName == "" && m.ToolCallID != "" {
			toolName = calledName(all, m.ToolCallID)
		}
	}
	mapped := message{Role: m.Role, Thinking: m.Reasoning, ToolName: toolName, ToolCallID: m.ToolCallID}
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
			last.Thinking = m.Reasoning
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
		mapped[i].ID = call.ID
		mapped[i].Function.Name = call.Function.Name
		if json.Unmarshal([]byte(call.Function.Arguments), &mapped[i].Function.Arguments) != nil {
			return nil, errors.New("invalid tool call arguments")
		}
	}
	return mapped, nil
}

// calledName finds a call by its ID, and looks at the last call first.
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
