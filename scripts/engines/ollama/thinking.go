package main

import (
	"slices"
	"strings"
	"text/template/parse"
)

// thinkingTags are the texts around the thoughts of a message: the first and the last of
// the nearest list around a field .Thinking that stands in a range over .Messages.
func (t *chatTemplate) thinkingTags() (opening, closing string) {
	walk(t.Root, nil, func(node parse.Node, around []parse.Node) {
		if !isField(node, "Thinking") {
			return
		}
		backwards := slices.Backward(around)
		isOfMessages := false
		for _, outer := range backwards {
			if loop, ok := outer.(*parse.RangeNode); ok {
				walk(loop.Pipe, nil, func(node parse.Node, _ []parse.Node) {
					isOfMessages = isOfMessages || isField(node, "Messages")
				})
				break
			}
		}
		if !isOfMessages {
			return
		}
		for _, outer := range backwards {
			if list, ok := outer.(*parse.ListNode); ok {
				if text, ok := list.Nodes[0].(*parse.TextNode); ok {
					opening = strings.TrimSpace(string(text.Text))
				}
				if text, ok := list.Nodes[len(list.Nodes)-1].(*parse.TextNode); ok {
					closing = strings.TrimSpace(string(text.Text))
				}
				break
			}
		}
	})
	return opening, closing
}

func isField(node parse.Node, name string) bool {
	field, ok := node.(*parse.FieldNode)
	return ok && field.Ident[0] == name
}

// walk visits a node and all nodes in it, each with the nodes around it. It does not look into
// chains such as (index .Messages 0).Role.
func walk(node parse.Node, around []parse.Node, visit func(parse.Node, []parse.Node)) {
	visit(node, around)
	around = append(slices.Clip(around), node)
	switch n := node.(type) {
	case *parse.ListNode:
		for _, child := range n.Nodes {
			walk(child, around, visit)
		}
	case *parse.ActionNode:
		walk(n.Pipe, around, visit)
	case *parse.TemplateNode:
		if n.Pipe != nil {
			walk(n.Pipe, around, visit)
		}
	case *parse.IfNode:
		walkBranch(&n.BranchNode, around, visit)
	case *parse.WithNode:
		walkBranch(&n.BranchNode, around, visit)
	case *parse.RangeNode:
		walkBranch(&n.BranchNode, around, visit)
	case *parse.PipeNode:
		for _, command := range n.Cmds {
			for _, argument := range command.Args {
				walk(argument, around, visit)
			}
		}
	}
}

func walkBranch(n *parse.BranchNode, around []parse.Node, visit func(parse.Node, []parse.Node)) {
	walk(n.Pipe, around, visit)
	walk(n.List, around, visit)
	if n.ElseList != nil {
		walk(n.ElseList, around, visit)
	}
}
