// Package plots makes docs/benchmarks from the raw results that are kept there: the page, its tables and its plots,
// and the tables that guides show between two marks. The same raw results give the same bytes.
//
// A plot is a function in plots.all, most of them a trend; what README and a guide show is a function in guides.
package plots
