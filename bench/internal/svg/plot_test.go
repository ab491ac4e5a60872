package svg

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

func sample() Plot {
	return Plot{
		Title: "Cost & <time>",
		X:     Axis{"timers pending", []Tick{{0, "0"}, {1, "10k"}, {2, "1M"}}},
		Y:     Axis{"time (ns)", []Tick{{1, "1"}, {10, "10"}, {100, "100"}}},
		Series: []Series{
			{"ours", true, []Point{{0, 1}, {1, 10}, {2, 100}}},
			{"theirs", false, []Point{{0, 99}, {1, 99}, {2, 99}}},
			{"below", false, []Point{{0, 0}, {2, -1}}},
		},
	}
}

func TestDraw(t *testing.T) {
	got := sample().Draw()
	if !bytes.Equal(got, sample().Draw()) {
		t.Error("two drawings differ")
	}
	for dec := xml.NewDecoder(bytes.NewReader(got)); ; {
		if _, err := dec.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		"Cost &amp; &lt;time&gt;", ">timers pending<", ">time (ns)<", ">10k<", "prefers-color-scheme: dark",
		`<path class="line ours c0" d="M78 384L324 214L570 44"/>`,      // from corner to corner
		`<path class="line other c2" d="M78 384L570 384"/>`,            // what lies below is at the bottom
		`<path class="line other c1" d="M78 44.7L324 44.7L570 44.7"/>`, // nearly at the top
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestApart(t *testing.T) {
	const floor = height - bottom
	labels := []label{{y: floor, text: "c"}, {y: 100, text: "a"}, {y: floor, text: "d"}, {y: 101, text: "b"}}
	apart(labels)
	want := []label{{y: 100, text: "a"}, {y: 115, text: "b"}, {y: floor - between, text: "c"}, {y: floor, text: "d"}}
	for i := range want {
		if labels[i] != want[i] {
			t.Errorf("label %d is %v, want %v", i, labels[i], want[i])
		}
	}
}
