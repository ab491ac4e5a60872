package sqlio_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"runtime"
	"sync"
	"testing"

	"bide.invalid/bide"
	"bide.invalid/bide/sqlio"
)

// golang/go#74831, CVE-2025-47907: a query was canceled while its row was scanned; the connection went to another
// query, whose row was read into the same buffer, and the first got a mixture of both.

// A slowWord copies its row in two halves, and waits between them.
type slowWord struct {
	text   string
	halved chan bool // told when the first half is copied
	goOn   chan bool
}

func (w *slowWord) Scan(v any) error {
	b := v.([]byte)
	w.text = string(b[:len(b)/2])
	w.halved <- true
	<-w.goOn
	w.text += string(b[len(b)/2:])
	return nil
}

func TestReportGo74831(t *testing.T) {
	s := &store{query: func(_ context.Context, word string) (driver.Rows, error) { return &rows{n: 1, word: word}, nil }}
	db := s.pool()
	w := &slowWord{halved: make(chan bool), goOn: make(chan bool)}
	ctx := bide.Open(context.Background())
	defer ctx.Close(nil)
	var first, second string
	var over sync.WaitGroup
	over.Go(func() {
		scan := func(r *sql.Rows) (string, error) { err := r.Scan(w); return w.text, err }
		for word, err := range sqlio.Query(ctx, db, scan, "aaaa") {
			if first += word; err != nil && err != ctx.Cause() {
				t.Errorf("the canceled query: %v", err)
			}
		}
	})
	<-w.halved
	ctx.Cancel(nil)
	over.Go(func() {
		scan := func(r *sql.Rows) (word string, err error) { err = r.Scan(&word); return word, err }
		for word, err := range sqlio.Query(context.Background(), db, scan, "bbbb") {
			if second += word; err != nil {
				t.Error(err)
			}
		}
	})
	for db.Stats().WaitCount == 0 && db.Stats().InUse > 0 { // the other waits for the connection
		runtime.Gosched()
	}
	for range 1000 { // in which the cancellation would give it away
		runtime.Gosched()
	}
	w.goOn <- true
	over.Wait()
	if first != "aaaa" || second != "bbbb" {
		t.Errorf("the canceled query got %q, the other %q", first, second)
	}
	s.clean(t, db)
}
