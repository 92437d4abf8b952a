package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// The request `parse`: the text of an answer, read as the chat endpoint of server/routes.go reads
// it. The readers of thoughts and calls are Ollama's own, if they were there at the set-up.

// call is a call that was read.
type call struct {
	Index     int            `json:"index"`
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}

// thoughtReader is thinking.Parser.
type thoughtReader interface {
	AddContent(text string) (thinking, rest string)
}

// callReader is tools.Parser.
type callReader interface {
	Add(text string) (calls []call, content string)
	Content() string
	Tag() string
}

// readers are Ollama's packages thinking and tools.
type readers struct {
	tags     func(t *chatTemplate) (opening, closing string)
	thoughts func(opening, closing string) thoughtReader
	calls    func(t *chatTemplate, tools []tool) callReader
}

type readMessage struct {
	Role      string     `json:"role"`
	Content   string     `json:"content,omitempty"`
	Thinking  string     `json:"thinking,omitempty"`
	ToolCalls []readCall `json:"tool_calls,omitempty"`
}

type readCall struct {
	Function call `json:"function"`
}

type event struct {
	Content  string    `json:"content,omitempty"`
	Thinking string    `json:"thinking,omitempty"`
	Call     *readCall `json:"call,omitempty"`
}

type answerTags struct {
	Calls    string   `json:"calls"`
	Thinking []string `json:"thinking"`
}

type readAnswer struct {
	ID      int         `json:"id"`
	Outcome string      `json:"outcome"`
	Message readMessage `json:"message"`
	Events  [][]event   `json:"events,omitempty"`
	Tags    answerTags  `json:"tags"`
}

func readText(t *chatTemplate, r *request) any {
	if t == nil {
		return failure(r.ID, "parse", fmt.Errorf("template %q is not loaded", r.Template))
	}
	if ollamas == nil {
		return failure(r.ID, "parse", errors.New("built without Ollama's readers of answers: "+
			"OLLAMA_SOURCE=… scripts/setup-references ollama builds them in"))
	}
	var tools []tool
	if len(r.Tools) > 0 {
		if err := json.Unmarshal(r.Tools, &tools); err != nil {
			return failure(r.ID, "input", err)
		}
	}
	chunks := r.Chunks
	if chunks == nil {
		chunks = []string{r.Text}
	}
	reading, tags := t.reading(tools, r.Think, r.Prefix)
	events := [][]event{}
	for _, chunk := range chunks {
		events = append(events, reading.add(chunk, false))
	}
	events = append(events, reading.add("", true))
	answer := readAnswer{ID: r.ID, Outcome: "read", Message: reading.message, Tags: tags}
	if r.Events {
		answer.Events = events
	}
	return answer
}

// reading is an answer while it comes in.
type reading struct {
	thoughts thoughtReader
	calls    callReader
	message  readMessage
}

// reading prepares what the endpoint prepares before the model writes.
func (t *chatTemplate) reading(tools []tool, think *bool, prompt string) (*reading, answerTags) {
	r := reading{message: readMessage{Role: "assistant"}}
	opening, closing := ollamas.tags(t)
	tags := answerTags{ollamas.calls(t, tools).Tag(), []string{opening, closing}}
	canThink := opening != "" && closing != ""
	if canThink && (think == nil || *think) {
		r.thoughts = ollamas.thoughts(opening, closing)
		if strings.HasSuffix(strings.TrimSpace(prompt), opening) {
			r.thoughts.AddContent(opening)
		}
	}
	if len(tools) > 0 {
		r.calls = ollamas.calls(t, tools)
	}
	return &r, tags
}

// add reads a piece of the text, or the end, and returns what the endpoint sends.
func (r *reading) add(text string, done bool) []event {
	thinking := ""
	if r.thoughts != nil {
		thinking, text = r.thoughts.AddContent(text)
		if thinking == "" && text == "" && !done {
			return []event{}
		}
	}
	if r.calls == nil {
		return r.send(thinking, text, nil)
	}
	calls, content := r.calls.Add(text)
	switch {
	case content != "":
		// The endpoint drops calls that come together with content.
		return r.send(thinking, content, nil)
	case len(calls) > 0:
		return r.send(thinking, "", calls)
	case thinking != "":
		// The endpoint sends the text behind the thoughts, and the reader of calls has it too.
		return r.send(thinking, text, nil)
	case done:
		return r.send("", r.calls.Content(), nil)
	}
	return []event{}
}

func (r *reading) send(thinking, content string, calls []call) []event {
	sent := []event{}
	if thinking != "" {
		r.message.Thinking += thinking
		sent = append(sent, event{Thinking: thinking})
	}
	if content != "" {
		r.message.Content += content
		sent = append(sent, event{Content: content})
	}
	for _, called := range calls {
		read := readCall{called}
		r.message.ToolCalls = append(r.message.ToolCalls, read)
		sent = append(sent, event{Call: &read})
	}
	return sent
}
