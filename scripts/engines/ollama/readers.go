//go:build readers

package main

import (
	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/thinking"
	"github.com/ollama/ollama/tools"
)

// ollamas are Ollama's own packages.
var ollamas = &readers{
	tags: func(t *chatTemplate) (string, string) { return thinking.InferTags(t.Template) },
	thoughts: func(opening, closing string) thoughtReader {
		return &thinking.Parser{OpeningTag: opening, ClosingTag: closing}
	},
	calls: func(t *chatTemplate, given []tool) callReader {
		named := make([]api.Tool, len(given))
		for i, one := range given {
			named[i].Function.Name = one.Function.Name
		}
		return toolReader{tools.NewParser(t.Template, named)}
	},
}

type toolReader struct{ *tools.Parser }

// Add reads a piece of the text.
func (r toolReader) Add(text string) ([]call, string) {
	found, content := r.Parser.Add(text)
	var calls []call
	for _, one := range found {
		f := one.Function
		calls = append(calls, call{f.Index, f.Name, f.Arguments.Values()})
	}
	return calls, content
}
