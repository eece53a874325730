// Prints a compose file's project as JSON, loaded by the code that docker compose itself loads it with: schema, interpolation,
// profiles and all.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	profiles := flag.String("profiles", "", "profiles to turn on, separated by commas")
	flag.Parse()
	if err := run(flag.Args(), *profiles); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(files []string, profiles string) error {
	var names []string
	if profiles != "" {
		names = strings.Split(profiles, ",")
	}
	options, err := cli.NewProjectOptions(files, cli.WithOsEnv, cli.WithEnvFiles(), cli.WithDotEnv, cli.WithDefaultProfiles(names...))
	if err != nil {
		return err
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(project)
}
