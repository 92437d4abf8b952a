package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
	"time"
)

// chatTemplate is a template and the names that it mentions.
type chatTemplate struct {
	*template.Template
	source string
	front  string
	setup  setup
	today  *time.Time
	names  map[string]bool
}

func parseTemplate(source string) (*chatTemplate, error) {
	t := &chatTemplate{source: source, today: new(time.Time), names: map[string]bool{}}
	functions := template.FuncMap{
		"json":          func(v any) string { return marshal(v) },
		"currentDate":   func(...string) string { return t.today.Format("2006-01-02") },
		"yesterdayDate": func(...string) string { return t.today.AddDate(0, 0, -1).Format("2006-01-02") },
		"toTypeScriptType": func(v any) string {
			switch property := v.(type) {
			case ToolProperty:
				return property.ToTypeScriptType()
			case *ToolProperty:
				if property != nil {
					return property.ToTypeScriptType()
				}
			}
			return "any"
		},
	}
	parsed, err := template.New("").Option("missingkey=zero").Funcs(functions).Parse(source)
	if err != nil {
		return nil, err
	}
	t.Template = parsed
	for _, associated := range parsed.Templates() {
		for _, node := range associated.Root.Nodes {
			if err := t.mention(node); err != nil {
				return nil, err
			}
		}
	}
	if !t.names["messages"] && !t.names["response"] {
		field := &parse.FieldNode{NodeType: parse.NodeField, Ident: []string{"Response"}}
		parsed.Root.Nodes = append(parsed.Root.Nodes, &parse.ActionNode{
			NodeType: parse.NodeAction,
			Pipe: &parse.PipeNode{
				NodeType: parse.NodePipe,
				Cmds:     []*parse.CommandNode{{NodeType: parse.NodeCommand, Args: []parse.Node{field}}},
			},
		})
	}
	return t, nil
}

// mention gathers the names of fields and variables that Ollama sees: not those in
// the chain behind a parenthesis.
func (t *chatTemplate) mention(node parse.Node) error {
	var names []string
	switch n := node.(type) {
	case *parse.ListNode:
		if n == nil {
			return nil
		}
		for _, child := range n.Nodes {
			if err := t.mention(child); err != nil {
				return err
			}
		}
	case *parse.TemplateNode:
		if n.Pipe == nil {
			return errors.New("undefined template specified")
		}
		return t.mention(n.Pipe)
	case *parse.ActionNode:
		return t.mention(n.Pipe)
	case *parse.IfNode:
		return t.mentionBranch(&n.BranchNode)
	case *parse.RangeNode:
		return t.mentionBranch(&n.BranchNode)
	case *parse.WithNode:
		return t.mentionBranch(&n.BranchNode)
	case *parse.PipeNode:
		for _, command := range n.Cmds {
			for _, argument := range command.Args {
				if err := t.mention(argument); err != nil {
					return err
				}
			}
		}
	case *parse.FieldNode:
		names = n.Ident
	case *parse.VariableNode:
		names = n.Ident
	}
	for _, name := range names {
		t.names[strings.ToLower(name)] = true
	}
	return nil
}

func (t *chatTemplate) mentionBranch(n *parse.BranchNode) error {
	for _, node := range []parse.Node{n.Pipe, n.List, n.ElseList} {
		if err := t.mention(node); err != nil {
			return err
		}
	}
	return nil
}

func (t *chatTemplate) execute(v *values, now string) (text string, err error) {
	// A panic in Ollama ends the request with an internal error.
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
		}
	}()
	if len(now) < 10 {
		return "", fmt.Errorf("%q is no time", now)
	}
	today, err := time.Parse("2006-01-02", now[:10])
	if err != nil {
		return "", err
	}
	*t.today = today
	var b strings.Builder
	system, messages := collate(v.messages)
	if t.names["messages"] {
		err = t.Template.Execute(&b, map[string]any{
			"System":     system,
			"Messages":   visibleMessages(messages),
			"Tools":      visibleTools(v.tools),
			"Response":   "",
			"Think":      v.think.on,
			"ThinkLevel": v.think.level,
			"IsThinkSet": v.think.isSet,
		})
	} else {
		err = t.executeLegacy(&b, messages, v)
	}
	return b.String(), err
}

// executeLegacy renders turn by turn: for templates that know one system text, one
// prompt and one response.
func (t *chatTemplate) executeLegacy(b *strings.Builder, messages []*message, v *values) error {
	var system, prompt, response string
	root := func() map[string]any {
		return map[string]any{
			"System":     system,
			"Prompt":     prompt,
			"Response":   response,
			"Think":      v.think.on,
			"ThinkLevel": v.think.level,
			"IsThinkSet": v.think.isSet,
		}
	}
	for _, m := range messages {
		full := m.Role == "system" && prompt+response != "" || m.Role == "user" && response != ""
		if full {
			if err := t.Template.Execute(b, root()); err != nil {
				return err
			}
			system, prompt, response = "", "", ""
		}
		switch m.Role {
		case "system":
			system = m.Content
		case "user":
			prompt = m.Content
		case "assistant":
			response = m.Content
		}
	}
	cut := cutter{}
	tree := &parse.Tree{Root: cut.list(t.Template.Root.CopyList())}
	return template.Must(template.New("").AddParseTree("", tree)).Execute(b, root())
}

// cutter deletes everything behind the first field named Response.
type cutter struct{ done bool }

func (c *cutter) list(list *parse.ListNode) *parse.ListNode {
	if c.done {
		// Ollama asserts the type of a node that it has already removed.
		panic("interface conversion: parse.Node is nil, not *parse.ListNode")
	}
	var kept []parse.Node
	for _, node := range list.Nodes {
		if c.keeps(node) {
			kept = append(kept, node)
		}
	}
	list.Nodes = kept
	return list
}

func (c *cutter) keeps(node parse.Node) bool {
	if field, ok := node.(*parse.FieldNode); ok && slices.Contains(field.Ident, "Response") {
		c.done = true
		return true
	}
	if c.done {
		return false
	}
	switch n := node.(type) {
	case *parse.IfNode:
		c.branch(&n.BranchNode)
	case *parse.WithNode:
		c.branch(&n.BranchNode)
	case *parse.RangeNode:
		c.branch(&n.BranchNode)
	case *parse.ActionNode:
		return c.keeps(n.Pipe)
	case *parse.PipeNode:
		for _, command := range n.Cmds {
			command.Args = slices.DeleteFunc(command.Args, func(a parse.Node) bool { return !c.keeps(a) })
			if len(command.Args) == 0 {
				return false
			}
		}
	}
	return true
}

func (c *cutter) branch(n *parse.BranchNode) {
	c.list(n.List)
	if n.ElseList != nil {
		c.list(n.ElseList)
	}
}

// collate joins the system texts, and neighbouring messages of one role. Only the first of these
// keeps more than its content.
func collate(messages []message) (string, []*message) {
	var system []string
	var collated []*message
	for i := range messages {
		m := &messages[i]
		if m.Role == "system" {
			system = append(system, m.Content)
		}
		if last := len(collated) - 1; last >= 0 && m.Role != "tool" && collated[last].Role == m.Role {
			collated[last].Content += "\n\n" + m.Content
		} else {
			collated = append(collated, m)
		}
	}
	return strings.Join(system, "\n\n"), collated
}

func visibleMessages(messages []*message) []*templateMessage {
	visible := make([]*templateMessage, len(messages))
	for i, m := range messages {
		var calls []templateToolCall
		for _, call := range m.ToolCalls {
			f := call.Function
			function := templateToolCallFunction{f.Index, f.Name, f.Arguments.values}
			calls = append(calls, templateToolCall{call.ID, function})
		}
		visible[i] = &templateMessage{
			m.Role, m.Content, m.Thinking, m.Images, calls, m.ToolName, m.ToolCallID,
		}
	}
	return visible
}

func visibleTools(tools []tool) templateTools {
	if tools == nil {
		return nil
	}
	visible := make(templateTools, len(tools))
	for i, t := range tools {
		p := t.Function.Parameters
		visible[i] = templateTool{t.Type, t.Items, templateToolFunction{
			t.Function.Name, t.Function.Description, templateToolFunctionParameters{
				p.Type, p.Defs, p.Items, p.Required, p.Properties.ToMap(),
			},
		}}
	}
	return visible
}
