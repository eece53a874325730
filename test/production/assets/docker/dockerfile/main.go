// Prints the stages of a Dockerfile as JSON, read by the parser that docker build itself reads it with.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

type stage struct {
	Name     string
	Base     string
	Commands []command
}

type command struct {
	Name  string
	Value any
}

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	parsed, err := parser.Parse(file)
	if err != nil {
		return err
	}
	stages, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		return err
	}
	var printed []stage
	for _, one := range stages {
		commands := []command{}
		for _, step := range one.Commands {
			commands = append(commands, command{Name: step.Name(), Value: step})
		}
		printed = append(printed, stage{Name: one.Name, Base: one.BaseName, Commands: commands})
	}
	return json.NewEncoder(os.Stdout).Encode(printed)
}
