// Writes what robfig/cron v3 answers, as Karpenter asks it, for the schedules and durations below.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/robfig/cron/v3"
)

// Hits after each instant of a schedule.
type hits struct {
	AfterMs int64 `json:"afterMs"`
	// Epoch milliseconds, ascending; it ends where there is no next one.
	HitsMs []int64 `json:"hitsMs"`
}

type schedule struct {
	Text   string `json:"text"`
	Parses bool   `json:"parses"`
	// Bit sets of minute, hour, day of month, month, day of week, with robfig's star bit.
	Bits    []string `json:"bits,omitempty"`
	EveryMs int64    `json:"everyMs,omitempty"`
	Next    []hits   `json:"next,omitempty"`
}

type duration struct {
	Text   string `json:"text"`
	Parses bool   `json:"parses"`
	// Text, as JSON's numbers are too coarse.
	Ns string `json:"ns,omitempty"`
}

type fixtures struct {
	Schedules []schedule `json:"schedules"`
	Durations []duration `json:"durations"`
}

const hitsPerInstant = 3

func instants() []time.Time {
	texts := []string{
		"1000-06-15T12:30:30Z",
		"1969-12-31T23:59:59.999Z",
		"1996-02-28T23:59:59Z",
		"2000-02-29T00:00:00Z",
		"2024-02-29T23:59:59.001Z",
		"2026-01-05T12:00:00Z",
		"2026-01-05T12:00:00.001Z",
		"2026-12-31T23:59:59Z",
		// The clocks of New York and Berlin change.
		"2026-03-08T06:59:59.5Z",
		"2026-03-29T00:30:00Z",
		"2026-10-25T00:59:00Z",
		"2026-11-01T05:30:00Z",
		// 2100 is no leap year: eight years from one 29 February to the next.
		"2096-03-01T00:00:00Z",
		"2098-12-31T23:59:59Z",
		"2099-01-01T00:00:00Z",
	}
	var all []time.Time
	for _, text := range texts {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			panic(err)
		}
		all = append(all, at.UTC())
	}
	return all
}

func nextHits(next func(time.Time) time.Time, after time.Time) hits {
	found := hits{AfterMs: after.UnixMilli(), HitsMs: []int64{}}
	for at := next(after); !at.IsZero() && len(found.HitsMs) < hitsPerInstant; at = next(at) {
		found.HitsMs = append(found.HitsMs, at.UnixMilli())
	}
	return found
}

func readSchedule(text string) schedule {
	parsed, err := cron.ParseStandard("TZ=UTC " + text)
	if err != nil {
		return schedule{Text: text}
	}
	read := schedule{Text: text, Parses: true}
	switch kind := parsed.(type) {
	case *cron.SpecSchedule:
		for _, bits := range []uint64{kind.Minute, kind.Hour, kind.Dom, kind.Month, kind.Dow} {
			read.Bits = append(read.Bits, strconv.FormatUint(bits, 10))
		}
	case cron.ConstantDelaySchedule:
		read.EveryMs = kind.Delay.Milliseconds()
	default:
		panic(fmt.Sprintf("%T is unknown", parsed))
	}
	for _, after := range instants() {
		read.Next = append(read.Next, nextHits(parsed.Next, after))
	}
	return read
}

func readDuration(text string) duration {
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return duration{Text: text}
	}
	return duration{Text: text, Parses: true, Ns: strconv.FormatInt(parsed.Nanoseconds(), 10)}
}

func main() {
	var all fixtures
	for _, text := range scheduleTexts {
		all.Schedules = append(all.Schedules, readSchedule(text))
	}
	for _, text := range durationTexts {
		all.Durations = append(all.Durations, readDuration(text))
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(all); err != nil {
		panic(err)
	}
}
