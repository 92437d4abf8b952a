module rolecall/engines/ollama

go 1.26
