// Package api stands for Ollama's package of this name when Ollama's readers are built. It has
// what they use: the names of tools, and calls.
package api

// Tool is a tool, as far as the readers look at it.
type Tool struct {
	Function ToolFunction
}

// ToolFunction is the function of a tool.
type ToolFunction struct {
	Name string
}

// ToolCall is a call that was read.
type ToolCall struct {
	Function ToolCallFunction
}

// ToolCallFunction is the function that a call calls. Index counts the calls of an answer.
type ToolCallFunction struct {
	Index     int
	Name      string
	Arguments ToolCallFunctionArguments
}

// ToolCallFunctionArguments are arguments. Ollama keeps the order in which they are set, and its
// reader sets them in the order of a Go map: any.
type ToolCallFunctionArguments struct {
	values map[string]any
}

// NewToolCallFunctionArguments makes arguments without members.
func NewToolCallFunctionArguments() ToolCallFunctionArguments {
	return ToolCallFunctionArguments{values: map[string]any{}}
}

// Set sets an argument.
func (a *ToolCallFunctionArguments) Set(key string, value any) {
	a.values[key] = value
}

// Values are the arguments.
func (a ToolCallFunctionArguments) Values() map[string]any {
	return a.values
}
