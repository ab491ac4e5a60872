// Package rows has the comparisons, a file each: what is done on every side, and what the ratio is to be. How to write
// one: see package pair.
package rows

import "bide.invalid/bide/bench/internal/pair"

// All rows: the headlines P, which have targets, then S, scale and conditions, which are shown.
var All = []pair.Row{p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16, p17, p18, p19,
	s1, s2, s3, s4, s5, s6}

func nothing() {}
