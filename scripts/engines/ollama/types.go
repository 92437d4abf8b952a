package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// The types of Ollama's API, as far as templates can tell them apart.

type message struct {
	Role       string      `json:"role"`
	Content    string      `json:"content"`
	Thinking   string      `json:"thinking,omitempty"`
	Images     []ImageData `json:"images,omitempty"`
	ToolCalls  []toolCall  `json:"tool_calls,omitempty"`
	ToolName   string      `json:"tool_name,omitempty"`
	ToolCallID string      `json:"tool_call_id,omitempty"`
}

// UnmarshalJSON makes the role lower-case.
func (m *message) UnmarshalJSON(data []byte) error {
	type Alias message
	var read Alias
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	*m = message(read)
	m.Role = strings.ToLower(m.Role)
	return nil
}

// ImageData is api.ImageData.
type ImageData []byte

type toolCall struct {
	ID       string           `json:"id,omitempty"`
	Function toolCallFunction `json:"function"`
}

type toolCallFunction struct {
	Index     int       `json:"index"`
	Name      string    `json:"name"`
	Arguments arguments `json:"arguments"`
}

// arguments are the arguments of a call: nil if they are missing or null. Missing and null
// arguments are written differently.
type arguments struct {
	values map[string]any
	isRead bool
}

// UnmarshalJSON takes an object or null.
func (a *arguments) UnmarshalJSON(data []byte) error {
	a.isRead = true
	return json.Unmarshal(data, &a.values)
}

// MarshalJSON writes null only if null was read.
func (a arguments) MarshalJSON() ([]byte, error) {
	if a.values == nil && !a.isRead {
		return []byte("{}"), nil
	}
	return json.Marshal(a.values)
}

type tool struct {
	Type     string       `json:"type"`
	Items    any          `json:"items,omitempty"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Parameters  toolParameters `json:"parameters"`
}

type toolParameters struct {
	Type       string             `json:"type"`
	Defs       any                `json:"$defs,omitempty"`
	Items      any                `json:"items,omitempty"`
	Required   []string           `json:"required,omitempty"`
	Properties *ToolPropertiesMap `json:"properties"`
}

// ToolPropertiesMap is api.ToolPropertiesMap: properties in the order in which they
// were written.
type ToolPropertiesMap struct {
	keys   []string
	values map[string]ToolProperty
}

// Len is the number of properties.
func (m *ToolPropertiesMap) Len() int {
	if m == nil {
		return 0
	}
	return len(m.keys)
}

// ToMap is the properties without their order.
func (m *ToolPropertiesMap) ToMap() map[string]ToolProperty {
	if m == nil || m.values == nil {
		return nil
	}
	return m.values
}

// UnmarshalJSON keeps the order of the keys.
func (m *ToolPropertiesMap) UnmarshalJSON(data []byte) error {
	m.values = map[string]ToolProperty{}
	return eachMember(data, func(key string, value json.RawMessage) error {
		var property ToolProperty
		if err := json.Unmarshal(value, &property); err != nil {
			return err
		}
		if _, seen := m.values[key]; !seen {
			m.keys = append(m.keys, key)
		}
		m.values[key] = property
		return nil
	})
}

// MarshalJSON writes the properties in their order.
func (m ToolPropertiesMap) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, key := range m.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(key)
		value, err := json.Marshal(m.values[key])
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func eachMember(data []byte, visit func(string, json.RawMessage) error) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return errors.New("Value looks like object, but can't find closing '}' symbol")
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		if err := visit(key.(string), value); err != nil {
			return err
		}
	}
	return nil
}

// PropertyType is api.PropertyType: one type or several.
type PropertyType []string

// UnmarshalJSON takes a string or a list of strings.
func (t *PropertyType) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = PropertyType{one}
		return nil
	}
	var many []string
	if err := json.Unmarshal(data, &many); err != nil {
		return err
	}
	*t = many
	return nil
}

// MarshalJSON writes a single type without its list.
func (t PropertyType) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// String writes several types as Go writes a slice.
func (t PropertyType) String() string {
	switch len(t) {
	case 0:
		return ""
	case 1:
		return t[0]
	}
	return fmt.Sprint([]string(t))
}

// ToolProperty is api.ToolProperty.
type ToolProperty struct {
	AnyOf       []ToolProperty     `json:"anyOf,omitempty"`
	Type        PropertyType       `json:"type,omitempty"`
	Items       any                `json:"items,omitempty"`
	Description string             `json:"description,omitempty"`
	Enum        []any              `json:"enum,omitempty"`
	Properties  *ToolPropertiesMap `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
}

var typeScript = map[string]string{
	"string": "string", "number": "number", "integer": "number", "boolean": "boolean",
	"array": "any[]", "object": "Record<string, any>", "null": "null",
}

// ToTypeScriptType names the property's type as TypeScript does.
func (p ToolProperty) ToTypeScriptType() string {
	var names []string
	for _, one := range p.AnyOf {
		names = append(names, one.ToTypeScriptType())
	}
	if len(names) == 0 {
		for _, one := range p.Type {
			name, known := typeScript[one]
			if !known {
				name = "any"
			}
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "any"
	}
	return strings.Join(names, " | ")
}

// The types that a template sees: as above, but plain maps in place of ordered ones,
// and String methods where Ollama has them.

type templateMessage struct {
	Role       string
	Content    string
	Thinking   string
	Images     []ImageData
	ToolCalls  []templateToolCall
	ToolName   string
	ToolCallID string
}

type templateToolCall struct {
	ID       string
	Function templateToolCallFunction
}

type templateToolCallFunction struct {
	Index     int
	Name      string
	Arguments templateArgs
}

type templateArgs map[string]any

func (a templateArgs) String() string {
	if a == nil {
		return "{}"
	}
	return marshal(a)
}

type templateTools []templateTool

func (t templateTools) String() string { return marshal(t) }

type templateTool struct {
	Type     string               `json:"type"`
	Items    any                  `json:"items,omitempty"`
	Function templateToolFunction `json:"function"`
}

func (t templateTool) String() string { return marshal(t) }

type templateToolFunction struct {
	Name        string                         `json:"name"`
	Description string                         `json:"description"`
	Parameters  templateToolFunctionParameters `json:"parameters"`
}

type templateToolFunctionParameters struct {
	Type       string             `json:"type"`
	Defs       any                `json:"$defs,omitempty"`
	Items      any                `json:"items,omitempty"`
	Required   []string           `json:"required,omitempty"`
	Properties templateProperties `json:"properties"`
}

type templateProperties map[string]ToolProperty

func (p templateProperties) String() string {
	if p == nil {
		return "{}"
	}
	return marshal(p)
}

func marshal(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}
