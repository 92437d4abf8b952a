//go:build !readers

package main

// ollamas are missing: there was no source of Ollama's at the set-up.
var ollamas *readers
