// This file goes into a copy of the engine `ollama`. It puts probes into the trees of templates, and
// writes what each render reaches into the file that the variable COVER_LOG names.
// `scripts/cover-reference.py` makes the copy, in which the engine calls these functions.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
)

type reached struct {
	Sites [][]any `json:"sites"`
	Hits  [][]any `json:"hits"`
}

type turns struct{ site, count int }

// coverage is the recorder of a template's renders. Each render begins with none.
type coverage struct {
	source string
	probed *template.Template
	sites  [][]any
	ran    bool
	hits   map[int]map[string]bool
	loops  []*turns
}

var coverages = map[*chatTemplate]*coverage{}

func (c *coverage) hit(site int, way string) {
	c.ran = true
	if c.hits[site] == nil {
		c.hits[site] = map[string]bool{}
	}
	c.hits[site][way] = true
}

func (c *coverage) settle() {
	if last := c.loops[len(c.loops)-1]; last.count < 2 {
		c.hit(last.site, []string{"empty", "once"}[last.count])
	}
}

func (c *coverage) leaveInner(site int) {
	for c.loops[len(c.loops)-1].site != site {
		c.settle()
		c.loops = c.loops[:len(c.loops)-1]
	}
}

func (c *coverage) functions() template.FuncMap {
	silent := func(report func(int)) func(int) string {
		return func(site int) string { report(site); return "" }
	}
	return template.FuncMap{
		"coverReach": silent(func(site int) { c.hit(site, "reached") }),
		"coverTrue":  silent(func(site int) { c.hit(site, "true") }),
		"coverFalse": silent(func(site int) { c.hit(site, "false") }),
		"coverLoop":  silent(func(site int) { c.loops = append(c.loops, &turns{site, 0}) }),
		"coverTurn": silent(func(site int) {
			c.leaveInner(site)
			last := c.loops[len(c.loops)-1]
			if last.count++; last.count > 1 {
				c.hit(site, "several")
			}
		}),
		"coverElse": silent(func(site int) { c.leaveInner(site); c.settle() }),
		"coverEnd": silent(func(site int) {
			c.leaveInner(site)
			c.settle()
			c.loops = c.loops[:len(c.loops)-1]
		}),
		"coverDecide": func(site int, value reflect.Value) reflect.Value {
			truth, _ := template.IsTrue(unwrapped(value))
			c.hit(site, map[bool]string{true: "true", false: "false"}[truth])
			return value
		},
	}
}

// unwrapped is the value as `and` and `or` look at it.
func unwrapped(value reflect.Value) any {
	if !value.IsValid() {
		return nil
	}
	return value.Interface()
}

func (c *coverage) site(kind string, at parse.Pos) int {
	line := 1 + strings.Count(c.source[:at], "\n")
	c.sites = append(c.sites, []any{kind, line})
	return len(c.sites) - 1
}

func callOf(name string, site int, arguments ...parse.Node) *parse.PipeNode {
	function := parse.NewIdentifier(name)
	number := &parse.NumberNode{NodeType: parse.NodeNumber, IsInt: true, IsUint: true, IsFloat: true, Int64: int64(site), Text: fmt.Sprint(site)}
	command := &parse.CommandNode{NodeType: parse.NodeCommand, Args: append([]parse.Node{function, number}, arguments...)}
	return &parse.PipeNode{NodeType: parse.NodePipe, Cmds: []*parse.CommandNode{command}}
}

func probe(name string, site int) parse.Node {
	return &parse.ActionNode{NodeType: parse.NodeAction, Pipe: callOf(name, site)}
}

// list puts probes into a list, and others before it.
func (c *coverage) list(list *parse.ListNode, before ...parse.Node) *parse.ListNode {
	if list == nil {
		return &parse.ListNode{NodeType: parse.NodeList, Nodes: before}
	}
	nodes := before
	for _, node := range list.Nodes {
		switch n := node.(type) {
		case *parse.ActionNode:
			// Ollama's own action has no place.
			if n.Pos > 0 {
				nodes = append(nodes, probe("coverReach", c.site("statement", n.Pos)))
				c.pipe(n.Pipe)
			}
		case *parse.IfNode:
			c.branch(&n.BranchNode)
		case *parse.WithNode:
			c.branch(&n.BranchNode)
		case *parse.RangeNode:
			nodes = append(nodes, c.loop(&n.BranchNode, node)...)
			continue
		case *parse.TemplateNode:
			nodes = append(nodes, probe("coverReach", c.site("statement", n.Pos)))
			c.pipe(n.Pipe)
		case *parse.BreakNode:
			nodes = append(nodes, probe("coverReach", c.site("statement", n.Pos)))
		case *parse.ContinueNode:
			nodes = append(nodes, probe("coverReach", c.site("statement", n.Pos)))
		}
		nodes = append(nodes, node)
	}
	list.Nodes = nodes
	return list
}

func (c *coverage) branch(n *parse.BranchNode) {
	// A literal cannot go both ways.
	if isLiteral(n.Pipe) {
		n.List = c.list(n.List)
		if n.ElseList != nil {
			n.ElseList = c.list(n.ElseList)
		}
		return
	}
	site := c.site("condition", n.Pos)
	c.pipe(n.Pipe)
	n.List = c.list(n.List, probe("coverTrue", site))
	n.ElseList = c.list(n.ElseList, probe("coverFalse", site))
}

func (c *coverage) loop(n *parse.BranchNode, node parse.Node) []parse.Node {
	if isNumber(n.Pipe) {
		c.pipe(n.Pipe)
		n.List = c.list(n.List)
		if n.ElseList != nil {
			n.ElseList = c.list(n.ElseList)
		}
		return []parse.Node{node}
	}
	site := c.site("loop", n.Pos)
	c.pipe(n.Pipe)
	n.List = c.list(n.List, probe("coverTurn", site))
	if n.ElseList != nil {
		n.ElseList = c.list(n.ElseList, probe("coverElse", site))
	}
	return []parse.Node{probe("coverLoop", site), node, probe("coverEnd", site)}
}

func isLiteral(pipe *parse.PipeNode) bool {
	if len(pipe.Cmds) != 1 || len(pipe.Cmds[0].Args) != 1 {
		return false
	}
	return pipe.Cmds[0].Args[0].Type() == parse.NodeBool
}

func isNumber(pipe *parse.PipeNode) bool {
	if len(pipe.Cmds) != 1 || len(pipe.Cmds[0].Args) != 1 {
		return false
	}
	return pipe.Cmds[0].Args[0].Type() == parse.NodeNumber
}

func isLogical(command *parse.CommandNode) bool {
	function, ok := command.Args[0].(*parse.IdentifierNode)
	return ok && (function.Ident == "and" || function.Ident == "or")
}

func isOperand(node parse.Node) bool {
	switch n := node.(type) {
	case *parse.StringNode, *parse.NumberNode, *parse.BoolNode, *parse.NilNode:
		return false
	case *parse.PipeNode:
		return len(n.Cmds) != 1 || !isLogical(n.Cmds[0])
	}
	return true
}

func (c *coverage) pipe(pipe *parse.PipeNode) {
	if pipe == nil {
		return
	}
	for _, command := range pipe.Cmds {
		logical := isLogical(command)
		for i, argument := range command.Args {
			if logical && i > 0 && isOperand(argument) {
				site := c.site("operand", argument.Position())
				c.expression(argument)
				command.Args[i] = callOf("coverDecide", site, argument)
			} else {
				c.expression(argument)
			}
		}
	}
}

func (c *coverage) expression(node parse.Node) {
	switch n := node.(type) {
	case *parse.PipeNode:
		c.pipe(n)
	case *parse.ChainNode:
		c.expression(n.Node)
	}
}

func coveredTemplate(source string) (*chatTemplate, error) {
	t, err := parseTemplate(source)
	if err != nil {
		return nil, err
	}
	// Ollama looks at the tree to find out what the model can do, so the one with probes is another.
	probed, err := parseTemplate(source)
	if err != nil {
		return nil, err
	}
	probed.today = t.today
	c := &coverage{source: source, probed: probed.Template}
	coverages[t] = c
	probed.Funcs(c.functions())
	c.list(probed.Root)
	named := probed.Templates()
	slices.SortFunc(named, func(a, b *template.Template) int { return strings.Compare(a.Name(), b.Name()) })
	for _, one := range named {
		if one.Name() != "" && one.Root != nil {
			// The body's own place is not known: the definition is before it.
			site := len(c.sites)
			c.sites = append(c.sites, []any{"macro", nil})
			c.list(one.Root, probe("coverReach", site))
		}
	}
	return t, nil
}

// probed is the template with probes.
func (t *chatTemplate) probed() *template.Template {
	return coverages[t].probed
}

// bare is the template of the last turn, which has none of Ollama's functions.
func (t *chatTemplate) bare() *template.Template {
	return template.New("").Funcs(coverages[t].functions())
}

func renderCovered(t *chatTemplate, r *request) any {
	c := coverages[t]
	if c == nil {
		return render(t, r)
	}
	c.hits, c.loops, c.ran = map[int]map[string]bool{}, nil, false
	answer := render(t, r)
	line := reached{Sites: c.sites, Hits: [][]any{}}
	for site, ways := range c.hits {
		for way := range ways {
			line.Hits = append(line.Hits, []any{site, way})
		}
	}
	if failure, ok := answer.(failed); ok && failure.Stage == "input" {
		write("null")
		return answer
	}
	text, _ := json.Marshal(line)
	write(string(text))
	return answer
}

func write(line string) {
	log, err := os.OpenFile(os.Getenv("COVER_LOG"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(log, line)
	log.Close()
}
