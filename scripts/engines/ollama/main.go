// Command ollama renders chat templates with Go's text/template as Ollama 0.33 does, and
// speaks Rolecall's engine protocol: one JSON object a line on standard input and output.
// It has the two chat endpoints of Ollama, too, as fronts.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
)

type request struct {
	ID        int                        `json:"id"`
	Request   string                     `json:"request"`
	Template  string                     `json:"template"`
	Source    string                     `json:"source"`
	Front     string                     `json:"front"`
	Setup     setup                      `json:"setup"`
	Now       string                     `json:"now"`
	Messages  json.RawMessage            `json:"messages"`
	Tools     json.RawMessage            `json:"tools"`
	Variables map[string]json.RawMessage `json:"variables"`

	// The fields of `parse`.
	Think  *bool    `json:"think"`
	Prefix string   `json:"prefix"`
	Text   string   `json:"text"`
	Chunks []string `json:"chunks"`
	Events bool     `json:"events"`
}

type started struct {
	Rolecall   int               `json:"rolecall"`
	Engine     string            `json:"engine"`
	Version    string            `json:"version"`
	Dialect    string            `json:"dialect"`
	Components map[string]string `json:"components"`
	Fronts     []string          `json:"fronts"`
}

type loaded struct {
	ID int  `json:"id"`
	OK bool `json:"ok"`
}

type rendered struct {
	ID      int    `json:"id"`
	Outcome string `json:"outcome"`
	Text    string `json:"text"`
}

type failed struct {
	ID      int    `json:"id"`
	Outcome string `json:"outcome"`
	Stage   string `json:"stage"`
	Message string `json:"message"`
	Line    int    `json:"line,omitempty"`
}

func main() {
	templates := map[string]*chatTemplate{}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	answers := json.NewEncoder(out)
	answers.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			return
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		var answer any
		switch r.Request {
		case "start":
			components := map[string]string{"go": strings.TrimPrefix(runtime.Version(), "go")}
			answer = started{1, "ollama", "0.33", "go", components, []string{native, openAI}}
		case "load":
			t, err := parseTemplate(r.Source)
			if err != nil {
				answer = failure(r.ID, "parse", err)
			} else {
				t.front, t.setup = r.Front, r.Setup
				templates[r.Template] = t
				answer = loaded{r.ID, true}
			}
		case "render":
			answer = render(templates[r.Template], &r)
		case "parse":
			answer = readText(templates[r.Template], &r)
		case "stop":
			return
		default:
			fmt.Fprintf(os.Stderr, "unknown request %q\n", r.Request)
			os.Exit(2)
		}
		if err := answers.Encode(answer); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		out.Flush()
	}
}

// read reads a conversation as the front of a template does.
func (t *chatTemplate) read(r *request) (*values, error) {
	switch t.front {
	case native, openAI:
		return t.answer(r)
	case "", "raw":
		return read(r)
	}
	return nil, fmt.Errorf("there is no front %q", t.front)
}

func render(t *chatTemplate, r *request) any {
	if t == nil {
		return failure(r.ID, "parse", fmt.Errorf("template %q is not loaded", r.Template))
	}
	values, err := t.read(r)
	if err != nil {
		return failure(r.ID, "input", err)
	}
	text, err := t.execute(values, r.Now)
	if err != nil {
		return failure(r.ID, "render", err)
	}
	return rendered{r.ID, "rendered", text}
}

// failure finds the line in "template: :LINE:COL: words".
func failure(id int, stage string, err error) failed {
	answer := failed{ID: id, Outcome: "failed", Stage: stage, Message: err.Error()}
	if stage != "input" {
		fmt.Sscanf(answer.Message, "template: :%d:", &answer.Line)
	}
	return answer
}
